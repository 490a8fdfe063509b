"""Python's search for cycles, put off while graphs are made that have none."""

from __future__ import annotations

import gc
from types import TracebackType


class Uncollected:
    """No search for cycles within the `with`; as it was afterwards. They may be nested.

    Whoever makes many objects that stay, and no garbage among them, gains a tenth to a sixth.
    """

    __slots__ = ("_collecting",)

    def __enter__(self) -> None:
        self._collecting = gc.isenabled()
        gc.disable()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._collecting:
            gc.enable()
