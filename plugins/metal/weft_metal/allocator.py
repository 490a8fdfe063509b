"""Buffers in shared storage: the host reads and writes the GPU's memory in place.

A handle is a `Slice`: a buffer object and where in it the bytes begin. A buffer that is released
while commands use it stays until they are done: command buffers retain what is encoded in them, and
graphs keep what they point at.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

from weft.plugin import Allocator, BufferHints, Device, OutOfMemory
from weft_metal.gpu import Gpu

COPY_UNIT = 4
"""Bytes: copies by the GPU begin at multiples of this, and are as long."""


class Slice(NamedTuple):
    """Some bytes of a buffer object.

    :ivar buffer: the framework's object, kept alive by this.
    :ivar offset: in bytes.
    :ivar nbytes: how many.
    """

    buffer: Any
    offset: int
    nbytes: int


class SharedAllocator(Allocator[Slice]):
    """:param device: whose memory."""

    def __init__(self, device: Gpu) -> None:
        self.device = device

    def allocate(self, nbytes: int, hints: BufferHints) -> Slice:
        """:raises OutOfMemory: if the framework gives no buffer."""
        framework, driver = self.device.framework, self.device.driver
        found = None
        if nbytes <= int(driver.maxBufferLength()):
            found = driver.newBufferWithLength_options_(
                nbytes, framework.MTLResourceStorageModeShared
            )
        if found is None:
            raise OutOfMemory(
                "Metal gives no more memory",
                asked=f"{nbytes} bytes on {self.device.id}",
                because=f"one buffer has at most {int(driver.maxBufferLength())} bytes, and "
                f"{int(driver.currentAllocatedSize())} are in use",
                try_="free tensors that are no longer needed, or work in smaller pieces",
            )
        return Slice(found, 0, nbytes)

    def copy_in(self, dst: Slice, src: memoryview) -> None:
        """Plain copy, once no kernel uses the memory."""
        self.map_host(dst)[:] = src

    def copy_out(self, dst: memoryview, src: Slice) -> None:
        """Plain copy, once all kernels are done."""
        dst[:] = self.map_host(src)

    def view(self, handle: Slice, offset: int, nbytes: int) -> Slice:
        """The same buffer from another offset."""
        return Slice(handle.buffer, handle.offset + offset, nbytes)

    def map_host(self, handle: Slice) -> memoryview:
        """The memory itself, once all kernels are done."""
        self.device.synchronize()
        whole = memoryview(handle.buffer.contents().as_buffer(handle.buffer.length())).cast("B")
        return whole[handle.offset : handle.offset + handle.nbytes]

    def wrap(self, memory: memoryview) -> Slice | None:
        """Memory of Python's in place, where it begins with a page and can be written; the rest of
        its last page comes along untouched. None for other memory, and where the framework gives a
        buffer that is elsewhere."""
        if memory.readonly or not memory.nbytes:
            return None
        address = _address(memory)
        if address % mmap.PAGESIZE:
            return None
        length = -(-memory.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        made = self.device.driver.newBufferWithBytesNoCopy_length_options_deallocator_(
            memory, length, self.device.framework.MTLResourceStorageModeShared, None
        )
        if made is None or _address(made.contents().as_buffer(length)) != address:
            return None
        return Slice(made, 0, memory.nbytes)

    def link_copy(self, dst: Slice, src: Any, source: Device, nbytes: int) -> bool:
        """Within one GPU its own copy engine does it, for whole words, which is what it takes."""
        if source is not self.device or not isinstance(src, Slice):
            return False
        if any(number % COPY_UNIT for number in (nbytes, src.offset, dst.offset)):
            return False

        def record(encoder: Any) -> None:
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                src.buffer, src.offset, dst.buffer, dst.offset, nbytes
            )

        self.device.run(record, wait=False, copies=True)
        return True


def _address(memory: memoryview) -> int:
    import ctypes  # not before it is needed: importing the plugin loads nothing native

    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
