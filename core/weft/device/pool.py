"""Reuse of freed allocations: what one buffer gives back, the next of the same size takes.

A large allocation is also taken by a buffer that is a little smaller, as a window of it. What is in
use and what waits for reuse is together not much more than was ever in use at once.

Only for devices whose memory is ours alone; persistent memory is never pooled.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Hashable
from typing import Any

from weft.base.errors import ArgumentError, CapabilityError, OutOfMemory
from weft.base.locks import lock
from weft.base.text import human_size
from weft.device.parts import NO_HINTS, Allocator, BufferHints
from weft.device.usage import usage

KEEP_AT_LEAST = 256 << 20
"""Bytes a pool may always keep."""
KEEP_BEYOND_PEAK = 4
"""Used and kept bytes are together at most the largest that use ever was, and a fourth of it."""
WINDOWS_FROM = 64 << 10
"""Bytes from which an allocation may be taken for something smaller."""
WASTE = 4
"""What is smaller by less than a fourth may take it."""


class Pool:
    """Allocations of one device, with those that are free kept for reuse, oldest dropped first.

    :param allocator: where memory comes from when nothing fits.
    :param enabled: False passes everything through (for persistent memory).
    :param max_allocation: what the device declares as its largest allocation.
    :param windows: whether a window of an allocation may be given for something smaller.
    """

    def __init__(
        self,
        allocator: Allocator[Any],
        enabled: bool = True,
        max_allocation: int | None = None,
        windows: bool = False,
    ) -> None:
        self.allocator = allocator
        self.enabled = enabled
        self.max_allocation = max_allocation
        self.windows = windows
        self.kept_bytes = 0
        self.used_bytes = 0
        self.peak_bytes = 0
        # Free handles by number, oldest first, and the numbers of each size and kind.
        self._free: dict[int, tuple[Any, int, Hashable]] = {}
        self._by_kind: dict[Hashable, list[int]] = {}
        self._next = 0
        self._sizes: list[int] = []  # of what is kept for any use and large enough for windows
        # Windows that are in use, by identity: the whole allocation and its size.
        self._wholes: dict[int, tuple[Any, int]] = {}
        # Buffers die whenever the garbage collector says so, even in the middle of `take`; what
        # they return then waits here until whoever holds the lock is done.
        self._returned: deque[tuple[Any, int, BufferHints]] = deque()
        self._lock = lock()

    def take(self, nbytes: int, hints: BufferHints) -> Any:
        """A handle of exactly ``nbytes``.

        :raises OutOfMemory: if the device has no room even after all kept memory was dropped.
        """
        if nbytes <= 0:
            raise ArgumentError(
                "an allocation needs at least one byte",
                asked=f"{nbytes} bytes",
                try_="a buffer without elements has no memory; do not allocate it",
            )
        if self.max_allocation is not None and nbytes > self.max_allocation:
            raise OutOfMemory(
                "one allocation is larger than this device allows",
                asked=human_size(nbytes),
                because=f"its largest allocation is {human_size(self.max_allocation)}",
                try_="split the tensor into smaller ones",
            )
        with self._lock:
            if self._returned:
                self._sort_in()
            kind = nbytes if hints is NO_HINTS else _kind(nbytes, hints)
            if self._by_kind.get(kind):
                handle = self._kept(kind)
            elif (whole := self._slightly_larger(kind)) is not None:
                handle = self._window(whole, nbytes)
            else:
                self._make_room(nbytes)
                handle = self._allocate(nbytes, hints)
            self.used_bytes += nbytes
            if self.used_bytes > self.peak_bytes:
                self.peak_bytes = self.used_bytes
            return handle

    def give(self, handle: Any, nbytes: int, hints: BufferHints) -> None:
        """Take a handle back: keep it for reuse, or free it. May be called from a destructor."""
        self._returned.append((handle, nbytes, hints))
        if self._lock.acquire(blocking=False):
            try:
                self._sort_in()
            finally:
                self._lock.release()

    def drop(self) -> int:
        """Free everything that is kept; returns how many bytes that was."""
        with self._lock:
            self._sort_in()
            return self._drop_all()

    def _sort_in(self) -> None:
        while self._returned:
            handle, nbytes, hints = self._returned.popleft()
            self.used_bytes -= nbytes
            if self._wholes:
                handle, nbytes = self._wholes.pop(id(handle), (handle, nbytes))
            if not self.enabled:
                self.allocator.free(handle, nbytes)
                continue
            number = self._next
            self._next += 1
            kind = _kind(nbytes, hints)
            self._free[number] = (handle, nbytes, kind)
            self._by_kind.setdefault(kind, []).append(number)
            self._keep(nbytes)
            if self._may_be_cut(kind):
                insort(self._sizes, nbytes)
            self._make_room(0)

    def _make_room(self, nbytes: int) -> None:
        """Drop what is kept too long, before so many bytes more are asked for."""
        if self.kept_bytes <= KEEP_AT_LEAST:
            return
        peak = max(self.peak_bytes, self.used_bytes + nbytes)
        limit = max(KEEP_AT_LEAST, peak + peak // KEEP_BEYOND_PEAK - self.used_bytes - nbytes)
        while self.kept_bytes > limit:
            self._drop_oldest()

    def _kept(self, kind: Hashable) -> Any:
        """The allocation of a kind that was returned last, which is there."""
        numbers = self._by_kind[kind]
        number = numbers.pop()
        if not numbers:
            del self._by_kind[kind]
        handle, nbytes, _ = self._free.pop(number)
        self._forget(nbytes, kind)
        return handle

    # ---- windows of what is a little larger -----------------------------------------------------

    def _may_be_cut(self, kind: Hashable) -> bool:
        return self.windows and isinstance(kind, int) and kind >= WINDOWS_FROM

    def _slightly_larger(self, kind: Hashable) -> int | None:
        """The size of the smallest kept allocation of which a window may be given."""
        if not self._sizes or not self._may_be_cut(kind):
            return None
        assert isinstance(kind, int)
        place = bisect_left(self._sizes, kind)
        if place == len(self._sizes) or kind < self._sizes[place] * (WASTE - 1) // WASTE:
            return None
        return self._sizes[place]

    def _window(self, size: int, nbytes: int) -> Any:
        whole = self._kept(size)
        try:
            handle = self.allocator.view(whole, 0, nbytes)
        except CapabilityError:  # it gives none, whatever its device declares
            self.windows = False
            self.allocator.free(whole, size)
            return self._allocate(nbytes, NO_HINTS)
        self._wholes[id(handle)] = (whole, size)
        return handle

    def _drop_all(self) -> int:
        dropped = self.kept_bytes
        while self._free:
            self._drop_oldest()
        return dropped

    def _allocate(self, nbytes: int, hints: BufferHints) -> Any:
        try:
            return self._ask(nbytes, hints)
        except OutOfMemory:
            if not self._drop_all():
                raise
        return self._ask(nbytes, hints)

    def _ask(self, nbytes: int, hints: BufferHints) -> Any:
        try:
            return self.allocator.allocate(nbytes, hints)
        except MemoryError as error:  # as Python says it, for allocators that are a line of Python
            raise OutOfMemory(
                "there is no memory left",
                asked=human_size(nbytes),
                because=f"{type(self.allocator).__name__} was refused it",
                try_="free tensors that are no longer needed, or work in smaller pieces",
            ) from error

    def _drop_oldest(self) -> None:
        number = next(iter(self._free))
        handle, nbytes, kind = self._free.pop(number)
        self._by_kind[kind].remove(number)
        if not self._by_kind[kind]:
            del self._by_kind[kind]
        self._forget(nbytes, kind)
        self.allocator.free(handle, nbytes)

    def _forget(self, nbytes: int, kind: Hashable) -> None:
        self._keep(-nbytes)
        if self._may_be_cut(kind):
            del self._sizes[bisect_left(self._sizes, nbytes)]

    def _keep(self, nbytes: int) -> None:
        self.kept_bytes += nbytes
        usage.pooled += nbytes


def _kind(nbytes: int, hints: BufferHints) -> Hashable:
    """What may be reused for what: nearly always the size says it all."""
    return nbytes if hints is NO_HINTS else (nbytes, hints)
