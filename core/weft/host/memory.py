"""Host memory: memoryviews of this process, wrapped in place or newly allocated and aligned."""

from __future__ import annotations

from typing import Any

from weft.base.errors import DeviceError, OutOfMemory
from weft.base.text import human_size
from weft.device import Allocator, BufferHints

ALIGNMENT = 64
"""Bytes: one cache line, and the widest vector register there is."""


def aligned_memory(nbytes: int) -> memoryview:
    """Fresh writable bytes that start at a multiple of ALIGNMENT.

    :raises OutOfMemory: if the process can have no more.
    """
    import numpy

    try:
        block: Any = numpy.empty(nbytes + ALIGNMENT, dtype=numpy.uint8)
    except (MemoryError, ValueError):
        raise OutOfMemory(
            "the host has no memory left",
            asked=human_size(nbytes),
            because="the operating system refused it",
            try_="free tensors that are no longer needed, or work in smaller pieces",
        ) from None
    skip = -block.ctypes.data % ALIGNMENT
    return memoryview(block[skip : skip + nbytes])


class HostAllocator(Allocator[memoryview]):
    """A handle is a flat memoryview, which keeps alive what it looks at."""

    def allocate(self, nbytes: int, hints: BufferHints) -> memoryview:
        """Fresh aligned bytes. :raises OutOfMemory: if there are none."""
        return aligned_memory(nbytes)

    def wrap(self, memory: memoryview) -> memoryview:
        """Python memory is its own handle."""
        return memory

    def copy_in(self, dst: memoryview, src: memoryview) -> None:
        """:raises DeviceError: if the wrapped object is read-only."""
        if dst.readonly:
            raise DeviceError(
                "this memory is read-only",
                asked=f"writing {src.nbytes} bytes",
                because="it belongs to a Python object that cannot change, such as bytes",
                try_="copy the tensor first",
            )
        dst[:] = src

    def copy_out(self, dst: memoryview, src: memoryview) -> None:
        """Plain copy."""
        dst[:] = src

    def view(self, handle: memoryview, offset: int, nbytes: int) -> memoryview:
        """A slice, which keeps the whole alive."""
        return handle[offset : offset + nbytes]

    def map_host(self, handle: memoryview) -> memoryview:
        """The handle is the window."""
        return handle
