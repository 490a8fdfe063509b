"""Page table: which pages of a cache are free, and which hold tokens that prompts share.

A page is known by its tokens and by the page before it, so equal beginnings of prompts are found
page by page. Pages that nobody uses keep their tokens until they are needed, the oldest first.

Source: W. Kwon et al., "Efficient Memory Management for Large Language Model Serving with
PagedAttention" (2023); prefix caching as in L. Zheng et al., "SGLang" (2024).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

_Key = tuple[int, tuple[int, ...]]


class PageTable:
    """The pages 1 to `pages` - 1 of `size` tokens each; page 0 is never given away."""

    def __init__(self, pages: int, size: int) -> None:
        self.size, self.pages = size, pages
        self._free = list(range(pages - 1, 0, -1))
        self._users = [0] * pages
        self._keys: dict[int, _Key] = {}
        self._known: dict[_Key, int] = {}
        self._unused: OrderedDict[int, None] = OrderedDict()

    @property
    def available(self) -> int:
        """How many pages can be taken."""
        return len(self._free) + len(self._unused)

    @property
    def used(self) -> int:
        """How many pages are in use."""
        return self.pages - 1 - self.available

    def shared(self, tokens: Sequence[int]) -> list[int]:
        """Take the known pages that hold the beginning of `tokens`, all full."""
        found: list[int] = []
        before = 0
        for begin in range(0, len(tokens) - self.size + 1, self.size):
            page = self._known.get((before, tuple(tokens[begin : begin + self.size])))
            if page is None:
                break
            self._take(page)
            found.append(page)
            before = page
        return found

    def take(self) -> int | None:
        """A page without tokens, or None where none is left."""
        if self._free:
            page = self._free.pop()
        elif self._unused:
            page, _ = self._unused.popitem(last=False)
            self._forget(page)
        else:
            return None
        self._users[page] = 1
        return page

    def publish(self, pages: Sequence[int], tokens: Sequence[int]) -> None:
        """Let others share the last of these pages, which hold all of `tokens`."""
        page, before = pages[-1], pages[-2] if len(pages) > 1 else 0
        key = (before, tuple(tokens[-self.size :]))
        if key not in self._known and page not in self._keys:
            self._known[key], self._keys[page] = page, key

    def release(self, pages: Sequence[int]) -> None:
        """Give pages back; those whose tokens are known stay so until they are needed."""
        for page in reversed(pages):  # the end of a prompt is forgotten before its beginning
            self._users[page] -= 1
            if self._users[page]:
                continue
            if page in self._keys:
                self._unused[page] = None
            else:
                self._free.append(page)

    def _take(self, page: int) -> None:
        self._unused.pop(page, None)
        self._users[page] += 1

    def _forget(self, page: int) -> None:
        """Drop the tokens of a page, and what is known to come after it."""
        waiting = [page]
        while waiting:
            dropped = waiting.pop()
            key = self._keys.pop(dropped, None)
            if key is not None:
                self._known.pop(key, None)
            later = [each for (before, _), each in self._known.items() if before == dropped]
            waiting += later
            for each in later:
                if each in self._unused:
                    del self._unused[each]
                    self._free.append(each)
