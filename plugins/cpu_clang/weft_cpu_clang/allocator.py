"""Aligned allocation: memory of this process, aligned for vectors, in huge pages where they pay.
Also: huge pages.

Source: Linux kernel documentation, admin-guide/mm/transhuge.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from weft.plugin import Allocator, BufferHints, OutOfMemory, let_through
from weft_cpu_clang.memory_limit import available_memory
from weft_cpu_clang.mmap_allocator import private

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector register."""
LARGE = 1 << 20
"""Bytes from which an allocation is mapped by itself, so that freeing it gives it back at once."""
HUGE_PAGE = 2 << 20
CHECKED = 64 << 20
"""Bytes from which the system is asked first whether it has so many: it would promise them."""


class Memory:
    """Bytes at an address; the object keeps their owner alive.

    :ivar address: of the first byte.
    :ivar window: the bytes.
    """

    __slots__ = ("address", "owner", "window")

    def __init__(self, address: int, window: memoryview, owner: Any) -> None:
        self.address = address
        self.window = window
        self.owner = owner


class ProcessAllocator(Allocator[Memory]):
    """Handles are `Memory`."""

    def allocate(self, nbytes: int, hints: BufferHints) -> Memory:
        """:raises OutOfMemory: if the system gives no more, or has no more behind what it gives."""
        if nbytes >= CHECKED:
            _check_available(nbytes)
        try:
            return _mapped(nbytes) if nbytes >= LARGE else _small(nbytes)
        except (MemoryError, OSError, OverflowError, ValueError) as error:
            let_through(error)
            raise OutOfMemory(
                "the system has no memory left",
                asked=f"{nbytes} bytes",
                because=str(error) or type(error).__name__,
                try_="free tensors that are no longer needed, or work in smaller pieces",
            ) from None

    def copy_in(self, dst: Memory, src: memoryview) -> None:
        """Plain copy."""
        dst.window[:] = src

    def copy_out(self, dst: memoryview, src: Memory) -> None:
        """Plain copy."""
        dst[:] = src.window

    def view(self, handle: Memory, offset: int, nbytes: int) -> Memory:
        """A window that keeps the whole alive."""
        return Memory(
            handle.address + offset, handle.window[offset : offset + nbytes], handle.owner
        )

    def map_host(self, handle: Memory) -> memoryview:
        """The bytes themselves."""
        return handle.window

    def wrap(self, memory: memoryview) -> Memory | None:
        """Python memory in place; None if it must not be written, since kernels might."""
        if memory.readonly or not memory.nbytes:
            return None
        return Memory(_address(memory), memory, memory)


def _address(memory: Any) -> int:
    # The view exported for a moment; what is behind it stays where it is while `memory` lives.
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _small(nbytes: int) -> Memory:
    block = bytearray(nbytes + ALIGNMENT)
    window = memoryview(block)  # pins the block: a bytearray that is looked at cannot be resized
    start = _address(block)
    skip = -start % ALIGNMENT
    return Memory(start + skip, window[skip : skip + nbytes], block)


def _mapped(nbytes: int) -> Memory:
    if nbytes < 2 * HUGE_PAGE:
        block = private(nbytes)
        return Memory(_address(block), memoryview(block), block)
    # whole huge pages, from the first that begins in the block: what is before is never touched
    block = private(-(-nbytes // HUGE_PAGE) * HUGE_PAGE + HUGE_PAGE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            block.madvise(mmap.MADV_HUGEPAGE)
        except OSError as error:
            let_through(error)
            # advice only: a kernel without huge pages refuses it
    start = _address(block)
    skip = -start % HUGE_PAGE
    return Memory(start + skip, memoryview(block)[skip : skip + nbytes], block)


def _check_available(nbytes: int) -> None:
    left = available_memory()
    if left is not None and nbytes > left:
        raise OutOfMemory(
            "the system has no memory left",
            asked=f"{nbytes} bytes",
            because=f"{left} bytes are left to this process",
            try_="free tensors that are no longer needed, or work in smaller pieces",
        )
