"""Buffers and images of an OpenCL context.

Where the device shares the host's memory and says that both may use it at once (fine-grained shared
virtual memory), buffers lie in such memory and the host gets a window onto them. Elsewhere the host
has none: a mapped buffer must not be used by kernels, and a window may be held while they run.

What is to be read as a texture is an image of the driver's own layout. For the host it is bytes in
rows like everything else, in and out of which it is copied; there are no windows of it.
"""

from __future__ import annotations

import ctypes
from collections import deque
from threading import Lock
from typing import Any

from weft.plugin import (
    Allocator,
    BufferHints,
    CapabilityError,
    Device,
    DeviceError,
    ImageDType,
    OutOfMemory,
)
from weft_opencl.driver import OpenCLDevice, bindings

STAGED = 1 << 20
"""Bytes that are copied by the host first, so that it need not wait for the device."""
AT_ONCE = 32
"""Copies that are under way at most."""
EXHAUSTED = frozenset({-4, -5, -6, -61})
"""CL_MEM_OBJECT_ALLOCATION_FAILURE, OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, INVALID_BUFFER_SIZE."""


class Memory:
    """A buffer, or a window of one: drivers give no windows of windows, so the root is kept.

    :ivar buffer: the ``pyopencl.Buffer`` or ``pyopencl.Image`` that kernels are given.
    :ivar region: (width, height) in pixels of an image, None of a buffer.
    :ivar root: the allocation it lies in; itself where it is one.
    :ivar offset: in bytes, within the root.
    :ivar shared: the memory behind the root where the host sees it too, else None.
    :ivar window: the host's view of it, else None.
    """

    __slots__ = ("buffer", "offset", "region", "root", "shared", "window")

    def __init__(
        self,
        buffer: Any,
        root: Memory | None = None,
        offset: int = 0,
        shared: Any = None,
        window: memoryview | None = None,
        region: tuple[int, int] | None = None,
    ) -> None:
        self.buffer = buffer
        self.root = self if root is None else root
        self.offset = offset
        self.shared = shared
        self.window = window
        self.region = region


class BufferAllocator(Allocator[Memory]):
    """Memory of one device; copies come after what was launched on its queue.

    Small copies to it are enqueued from a copy of their bytes, and do not wait.
    """

    def __init__(self, device: OpenCLDevice) -> None:
        self.device = device
        self.cl = bindings()
        # Events of copies under way; each keeps the bytes it copies from.
        self._under_way: deque[Any] = deque()
        self._lock = Lock()

    def allocate(self, nbytes: int, hints: BufferHints) -> Memory:
        """:raises OutOfMemory: if the driver gives no more."""
        try:
            if isinstance(hints.image, ImageDType):
                return self._image(hints.image)
            return self._shared(nbytes) if self.device.facts.windows else self._plain(nbytes)
        except self.cl.Error as error:
            raise failed(error, f"{nbytes} bytes on {self.device.id}") from error

    def _plain(self, nbytes: int) -> Memory:
        flags = self.cl.mem_flags
        buffer = self.cl.Buffer(self.device.context, flags.READ_WRITE, nbytes)
        self._place(buffer)
        return Memory(buffer)

    def _image(self, dtype: ImageDType) -> Memory:
        cl = self.cl
        height, width, _ = dtype.shape
        kind = cl.channel_type.HALF_FLOAT if dtype.itemsize == 2 else cl.channel_type.FLOAT
        image = cl.create_image(
            self.device.context,
            cl.mem_flags.READ_WRITE,
            cl.ImageFormat(cl.channel_order.RGBA, kind),
            shape=(width, height),
        )
        self._place(image)
        return Memory(image, region=(width, height))

    def _place(self, memory: Any) -> None:
        """Drivers may defer an allocation until first use; a lack of memory must raise at once."""
        self.cl.enqueue_migrate_mem_objects(
            self.device.queue, [memory], self.cl.mem_migration_flags.CONTENT_UNDEFINED
        )

    def _shared(self, nbytes: int) -> Memory:
        cl = self.cl
        how = cl.svm_mem_flags.READ_WRITE | cl.svm_mem_flags.SVM_FINE_GRAIN_BUFFER
        shared = cl.SVMAllocation(self.device.context, nbytes, self.device.facts.alignment, how)
        array = (ctypes.c_ubyte * nbytes).from_address(shared.svm_ptr)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        buffer = cl.Buffer(self.device.context, flags, hostbuf=array)
        return Memory(buffer, None, 0, shared, memoryview(array).cast("B"))

    def free(self, handle: Memory, nbytes: int) -> None:
        """Shared memory is given back at once, so nothing may still be using it."""
        if handle.shared is not None:
            self.device.queue.finish()
        handle.buffer.release()
        if handle.shared is not None:
            handle.window = None
            handle.shared.release()

    def copy_in(self, dst: Memory, src: memoryview) -> None:
        """Returns when `src` may be used again."""
        if dst.window is not None:
            self.device.queue.finish()
            dst.window[:] = src
        elif src.nbytes > STAGED:
            self._copy(dst.buffer, src, dst.region)
        else:
            copied = self._copy(dst.buffer, bytes(src), dst.region, wait=False)
            self._keep(copied)

    def _keep(self, copied: Any) -> None:
        """Keep the source of a copy until the copy is done."""
        events = self._under_way
        try:
            with self._lock:
                events.append(copied)
                while events[0].command_execution_status <= 0 or len(events) > AT_ONCE:
                    events.popleft().wait()
                    if not events:
                        return
        except self.cl.Error as error:
            raise failed(error, f"a copy on {self.device.id}") from error

    def copy_out(self, dst: memoryview, src: Memory) -> None:
        """Returns when it is done."""
        if src.window is not None:
            self.device.queue.finish()
            dst[:] = src.window
        else:
            self._copy(dst, src.buffer, src.region)

    def _copy(self, to: Any, source: Any, region: tuple[int, int] | None, wait: bool = True) -> Any:
        whole = {} if region is None else {"origin": (0, 0), "region": region}
        try:
            return self.cl.enqueue_copy(self.device.queue, to, source, is_blocking=wait, **whole)
        except self.cl.Error as error:
            raise failed(error, f"a copy on {self.device.id}") from error

    def view(self, handle: Memory, offset: int, nbytes: int) -> Memory:
        """A sub-buffer; the core asks only for offsets that fit the declared alignment."""
        if handle.region is not None:
            raise CapabilityError(
                "an image has no windows", asked=f"{nbytes} bytes from byte {offset} of an image"
            )
        root, start = handle.root, handle.offset + offset
        try:
            part = root.buffer.get_sub_region(start, nbytes)
        except self.cl.Error as error:
            raise failed(error, f"{nbytes} bytes from {start} on {self.device.id}") from error
        window = None if root.window is None else root.window[start : start + nbytes]
        return Memory(part, root, start, root.shared, window)

    def map_host(self, handle: Memory) -> memoryview | None:
        """The bytes themselves where host and device share them; None elsewhere."""
        if handle.window is not None:
            self.device.queue.finish()
        return handle.window

    def link_copy(self, dst: Memory, src: Memory, source: Device, nbytes: int) -> bool:
        """Copy within one context: between allocations of one device, under any of its names."""
        if not isinstance(source, OpenCLDevice) or source.context != self.device.context:
            return False
        if dst.region is not None or src.region is not None:
            return False
        if source is not self.device:
            source.queue.finish()
        try:
            copied = self.cl.enqueue_copy(
                self.device.queue, dst.buffer, src.buffer, byte_count=nbytes
            )
            if source is not self.device:
                copied.wait()  # the other queue may write the source next
        except self.cl.Error as error:
            raise failed(error, f"a copy of {nbytes} bytes to {self.device.id}") from error
        return True


def failed(error: Any, asked: str) -> DeviceError:
    """What a driver's error is for weft."""
    if getattr(error, "code", None) in EXHAUSTED:
        return OutOfMemory(
            "the OpenCL device has no memory left",
            asked=asked,
            because=str(error),
            try_="free tensors that are no longer needed, or work in smaller pieces",
        )
    return DeviceError("the OpenCL driver refuses", asked=asked, because=str(error))
