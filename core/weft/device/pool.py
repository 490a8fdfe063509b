"""Memory pool: reuse of freed allocations of the same size.
Also: caching allocator.

A large allocation also serves a buffer that is a little smaller, as a window. Memory in use and
memory kept for reuse together are not much more than the peak use.

Persistent memory is never pooled.

Source: PyTorch, CUDACachingAllocator.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Hashable
from itertools import repeat
from typing import Any, TypeAlias

from weft.base.errors import ArgumentError, CapabilityError, OutOfMemory, WeftError
from weft.base.locks import lock
from weft.base.text import human_size
from weft.device.parts import NO_HINTS, Allocator, BufferHints
from weft.device.usage import usage

KEEP_AT_LEAST = 256 << 20
"""The bytes that a pool may keep in any case."""
KEEP_BEYOND_PEAK = 4
"""Used and kept bytes together are at most 1 + 1/4 of the peak use."""
WINDOWS_FROM = 64 << 10
"""The bytes from which an allocation may serve a smaller buffer as a window."""
WASTE = 4
"""A window leaves less than 1/4 of its allocation unused."""

Returned: TypeAlias = tuple[Any, int, BufferHints, str | None]
"""Freed memory: the handle, bytes, hints, and the device that counts it as resident."""
_POP = deque[Returned].pop


class Pool:
    """The memory pool of one device: keeps freed allocations for reuse, and drops the oldest first.

    :param allocator: allocates memory if no kept allocation fits.
    :param enabled: False: keep nothing (for persistent memory).
    :param max_allocation: the largest allocation that the device declares.
    :param windows: whether a smaller buffer may get a window of a kept allocation.
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
        self._kept_bytes = 0
        self._used = 0
        self._peak = 0
        # Free handles by number, oldest first, and the numbers of each size and kind.
        self._free: dict[int, tuple[Any, int, Hashable]] = {}
        self._by_kind: dict[Hashable, list[int]] = {}
        self._next = 0
        self._sizes: list[int] = []  # of kept allocations without hints, large enough for windows
        # Windows that are in use, by identity: the whole allocation and its size.
        self._wholes: dict[int, tuple[Any, int]] = {}
        # The garbage collector may free a buffer at any time, also during `acquire`. The memory is
        # queued here until the holder of the lock processes it. Ctrl-C may interrupt after any
        # call. Free memory is therefore in this queue or in `_free` at every moment, and the other
        # tables are rebuilt from `_free`.
        # The fourth item is the device string of memory that counts as resident.
        self.returned: deque[Returned] = deque()
        self._lock = lock()
        self._tries = map(self._lock.acquire, repeat(False))  # each takes it, or does not wait
        # the memory that was returned last, without a call of a Python function
        self.newest = map(_POP, repeat(self.returned))
        usage.pools.add(self)

    @property
    def used_bytes(self) -> int:
        """Bytes of the handles that were acquired and not released."""
        self.process_returned()
        return self._used

    @property
    def kept_bytes(self) -> int:
        """Bytes that are kept for reuse."""
        self.process_returned()
        return self._kept_bytes

    @property
    def peak_bytes(self) -> int:
        """The most that was in use at once."""
        return self._peak

    @peak_bytes.setter
    def peak_bytes(self, nbytes: int) -> None:
        self._peak = nbytes

    def process_returned(self) -> None:
        """Process the memory that freed buffers returned."""
        if self.returned:
            self._try_process_queue()

    def acquire(self, nbytes: int, hints: BufferHints) -> Any:
        """A handle of exactly ``nbytes``.

        :raises OutOfMemory: if the device has no memory even after all kept memory was freed.
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
        handle = None
        try:
            with self._lock:
                if self.returned:
                    self._process_queue()
                kind = nbytes if hints is NO_HINTS else _reuse_key(nbytes, hints)
                if self._by_kind.get(kind):
                    handle = self._kept(kind)
                elif (whole := self._slightly_larger(kind)) is not None:
                    handle = self._window(whole, nbytes)
                else:
                    self._drop_for(nbytes)
                    handle = self._allocate(nbytes, hints)
                self._used += nbytes
                if self._used > self._peak:
                    self._peak = self._used
        except BaseException:
            if handle is not None:  # no other reference exists
                self.returned.append((handle, nbytes, hints, None))
            self._rebuild_tables()
            raise
        return handle

    def release(self, handle: Any, nbytes: int, hints: BufferHints) -> None:
        """Keep a handle for reuse, or free it. May be called from a destructor."""
        self.returned.append((handle, nbytes, hints, None))
        self._try_process_queue()

    def _try_process_queue(self) -> None:
        """Process returned memory, unless another thread is doing it."""
        mine = False
        try:
            # iteration calls no Python function: Ctrl-C cannot separate the lock from `mine`
            for mine in self._tries:
                if mine:
                    self._process_queue()
                break
        except BaseException:
            if mine:
                self._lock.release()
                self._rebuild_tables()
            raise
        if mine:
            self._lock.release()

    def drop(self) -> int:
        """Free all kept memory; returns its bytes."""
        try:
            with self._lock:
                self._process_queue()
                return self._drop_all()
        except BaseException:
            self._rebuild_tables()
            raise

    def _process_queue(self) -> None:
        while self.returned:
            handle, nbytes, hints, resident = self.returned[0]
            whole, size, window = handle, nbytes, 0
            if self._wholes and (window := id(handle)) in self._wholes:
                whole, size = self._wholes[window]
            number = self._next
            kind = size if hints is NO_HINTS else _reuse_key(size, hints)
            # no function is called from here until the item leaves the queue
            if self.enabled:
                self._free[number] = (whole, size, kind)
            if window in self._wholes:
                del self._wholes[window]
            self._next = number + 1
            self._used -= nbytes
            if resident is not None:
                usage._resident -= nbytes
                usage._by_device[resident] -= nbytes
            del self.returned[0]
            if not self.enabled:
                self.allocator.free(whole, size)
                continue
            self._by_kind.setdefault(kind, []).append(number)
            self._keep(size)
            if self._allows_windows(kind):
                insort(self._sizes, size)
            self._drop_for(0)

    def _rebuild_tables(self) -> None:
        """Rebuild the tables from the free memory after an interrupted update."""
        by_kind: dict[Hashable, list[int]] = {}
        sizes: list[int] = []
        kept = 0
        with self._lock:
            for number, (_, nbytes, kind) in self._free.items():
                by_kind.setdefault(kind, []).append(number)
                kept += nbytes
                if self._allows_windows(kind):
                    sizes.append(nbytes)
            self._by_kind, self._sizes = by_kind, sorted(sizes)
            self._keep(kept - self._kept_bytes)

    def _drop_for(self, nbytes: int) -> None:
        """Free the oldest kept memory beyond the limit, before `nbytes` are allocated."""
        if self._kept_bytes <= KEEP_AT_LEAST:
            return
        peak = max(self._peak, self._used + nbytes)
        limit = max(KEEP_AT_LEAST, peak + peak // KEEP_BEYOND_PEAK - self._used - nbytes)
        while self._kept_bytes > limit:
            self._drop_oldest()

    def _kept(self, kind: Hashable) -> Any:
        """Remove and return the kept allocation of a kind that was returned last."""
        number = self._by_kind[kind][-1]
        handle, nbytes, _ = self._free[number]
        self._forget(number, nbytes, kind)
        del self._free[number]
        return handle

    # ---- windows of larger allocations ----------------------------------------------------------

    def _allows_windows(self, kind: Hashable) -> bool:
        """Whether memory may serve as a window of a larger allocation."""
        return self.windows and isinstance(kind, int) and kind >= WINDOWS_FROM

    def _slightly_larger(self, kind: Hashable) -> int | None:
        """The size of the smallest kept allocation that may serve as a window."""
        if not self._sizes or not self._allows_windows(kind):
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
            window = id(handle)
        except CapabilityError:  # the allocator has no windows, although its device declares them
            self.windows = False
            self.allocator.free(whole, size)
            return self._allocate(nbytes, NO_HINTS)
        except BaseException:
            self._used += size
            self.returned.append((whole, size, NO_HINTS, None))
            raise
        self._wholes[window] = (whole, size)
        return handle

    def _drop_all(self) -> int:
        dropped = self._kept_bytes
        while self._free:
            self._drop_oldest()
        return dropped

    def _allocate(self, nbytes: int, hints: BufferHints) -> Any:
        try:
            return self._allocate_once(nbytes, hints)
        except OutOfMemory:
            if not self._drop_all():
                raise
        return self._allocate_once(nbytes, hints)

    def _allocate_once(self, nbytes: int, hints: BufferHints) -> Any:
        """Call the allocator; a MemoryError becomes an OutOfMemory that names the allocator."""
        try:
            return self.allocator.allocate(nbytes, hints)
        except WeftError:
            raise
        except MemoryError as error:  # Python's own, from an allocator written in Python
            raise OutOfMemory(
                "there is no memory left",
                asked=human_size(nbytes),
                because=f"{type(self.allocator).__name__} raised MemoryError",
                try_="free tensors that are no longer needed, or work in smaller pieces",
            ) from error

    def _drop_oldest(self) -> None:
        number = next(iter(self._free))
        handle, nbytes, kind = self._free[number]
        self._forget(number, nbytes, kind)
        del self._free[number]
        self.allocator.free(handle, nbytes)

    def _forget(self, number: int, nbytes: int, kind: Hashable) -> None:
        numbers = self._by_kind[kind]
        if numbers[-1] == number:
            del numbers[-1]
        else:
            numbers.remove(number)
        if not numbers:
            del self._by_kind[kind]
        self._keep(-nbytes)
        if self._allows_windows(kind):
            del self._sizes[bisect_left(self._sizes, nbytes)]

    def _keep(self, nbytes: int) -> None:
        self._kept_bytes += nbytes
        usage.keep(nbytes)


def _reuse_key(nbytes: int, hints: BufferHints) -> Hashable:
    """The key of memory that may be reused for each other: usually its size."""
    return nbytes if hints is NO_HINTS else (nbytes, hints)
