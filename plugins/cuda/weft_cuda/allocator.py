"""The GPU's memory: handles are addresses with their owner, copies go through pinned memory."""

from __future__ import annotations

from weft.plugin import Allocator, BufferHints, Device
from weft_cuda.driver import Context
from weft_cuda.staging import Staging


class Memory:
    """Some bytes of a GPU. A window keeps no owner: the core keeps what it is a window of."""

    __slots__ = ("address", "nbytes")

    def __init__(self, address: int, nbytes: int) -> None:
        self.address = address
        self.nbytes = nbytes


class GpuAllocator(Allocator[Memory]):
    """Handles are `Memory`.

    :param context: of the GPU.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.staging = Staging(context)

    def allocate(self, nbytes: int, hints: BufferHints) -> Memory:
        """:raises OutOfMemory: if the GPU has no memory left."""
        return Memory(self.context.allocate(nbytes), nbytes)

    def free(self, handle: Memory, nbytes: int) -> None:
        """In stream order: kernels that were launched before may still use it."""
        self.context.free(handle.address)

    def copy_in(self, dst: Memory, src: memoryview) -> None:
        """By pinned memory; the last piece may still be on its way when this returns."""
        self.staging.copy_in(dst.address, src)

    def copy_out(self, dst: memoryview, src: Memory) -> None:
        """By pinned memory, after all work so far."""
        self.staging.copy_out(dst, src.address)

    def view(self, handle: Memory, offset: int, nbytes: int) -> Memory:
        """A window."""
        return Memory(handle.address + offset, nbytes)

    def link_copy(self, dst: Memory, src: Memory, source: Device, nbytes: int) -> bool:
        """Within one GPU, or from one to another, without the host and without waiting."""
        other = getattr(source, "context", None)
        if type(other) is not type(self.context):
            return False
        return self.context.copy(dst.address, src.address, nbytes, other)
