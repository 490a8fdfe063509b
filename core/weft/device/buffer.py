"""Buffers: typed memory on one device, allocated on first use, freed with its last reference.

A buffer is either memory of its own or a view of another buffer, its base, which it keeps alive.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from weft.base.arguments import shown
from weft.base.dtype import DType, ImageDType, dtypes
from weft.base.errors import ArgumentError, CapabilityError, DTypeError, OutOfMemory
from weft.base.text import human_size
from weft.device import registry
from weft.device.open_device import OpenDevice
from weft.device.parts import NO_HINTS, Allocator, BufferHints
from weft.device.usage import Usage, usage

if TYPE_CHECKING:
    import numpy


def host_bytes(nbytes: int) -> memoryview:
    """New memory from Python. If there is none, the pools of all devices are freed first.

    :raises OutOfMemory: if there is still no memory.
    """
    try:
        return memoryview(bytearray(nbytes))
    except MemoryError:
        for device in registry.current().opened():
            device.release()
    try:
        return memoryview(bytearray(nbytes))
    except MemoryError as error:
        raise OutOfMemory.during(f"{human_size(nbytes)} of the host's memory", error) from None


class _Memory:
    """An allocation. Its last reference returns it to the pool of its device, exactly once.

    The destructor runs no Python function: an exception of a signal handler would be lost there.
    It appends the allocation to a queue, which the pool processes at its next call.
    """

    __slots__ = ("_return", "device", "handle")

    def __init__(self, device: OpenDevice, nbytes: int, hints: BufferHints) -> None:
        self.device = device
        if hints is NO_HINTS and device.pool.returned and self._take_newest(device, nbytes):
            return
        with device.call("allocating {}", nbytes):
            self.handle = device.pool.acquire(nbytes, hints)
        if self.handle is None:
            device.broken(f"allocating {human_size(nbytes)}", "returned None as a handle")
        returned = device.pool.returned
        # without a pool, Python frees the handle: the queue must hold no reference to it
        kept = self.handle if device.pool.enabled else None
        self._return = partial(returned.append, (kept, nbytes, hints, None))
        if device.capabilities.memory.resident:
            usage.allocated(device.name, nbytes)
            self._return = partial(returned.append, (kept, nbytes, hints, device.name))

    def _take_newest(self, device: OpenDevice, nbytes: int) -> bool:
        """Take the allocation that was returned last and is not processed yet, if it has this size.
        It stays counted as used."""
        pool = device.pool
        returned = pool.returned
        try:
            for item in pool.newest:  # no function of Python is called until the item has an owner
                try:
                    if item[1] == nbytes and item[2] is NO_HINTS and item[0] is not None:
                        self.handle = item[0]
                        self._return = partial(returned.append, item)
                        return True
                except BaseException:
                    returned.append(item)
                    raise
                returned.append(item)
                break
        except IndexError:  # another thread was faster
            pass
        return False

    # evaluates to the partial object, which Python calls without arguments
    __del__ = property(attrgetter("_return"))  # type: ignore[assignment]


class _FreedAtOnce(_Memory):
    """An allocation without a pool, which its allocator frees."""

    __slots__ = ("hints", "nbytes", "resident")

    def __init__(self, device: OpenDevice, nbytes: int, hints: BufferHints) -> None:
        super().__init__(device, nbytes, hints)
        self.nbytes, self.hints = nbytes, hints
        self.resident = device.capabilities.memory.resident

    # defaults of arguments: module globals may be deleted when the interpreter shuts down
    def __del__(self, usage: Usage = usage, is_finalizing: Any = sys.is_finalizing) -> None:
        if is_finalizing() or not hasattr(self, "resident"):
            return
        if self.resident:
            usage.freed(self.device.name, self.nbytes)
        with self.device.call("freeing memory"):
            self.device.pool.release(self.handle, self.nbytes, self.hints)


def _memory_type(device: OpenDevice) -> type[_Memory]:
    if device.pool.enabled:
        return _Memory
    kind: type[Any] = type(device.allocator)
    leaves_it_to_python = kind.free is vars(Allocator)["free"]
    return _Memory if leaves_it_to_python else _FreedAtOnce


class Buffer:
    """``size`` elements of ``dtype`` on a device.

    :param device: a device string, a DeviceId, or None for the default device.
    :param size: number of elements; 0 is allowed.
    :param dtype: of the elements.
    :param base: the buffer of which this one is a window, on the same device.
    :param offset: start of the window, in bytes from the start of ``base``.
    :param hints: the purpose of the memory.
    :raises ArgumentError: if the window reaches outside its base.
    :raises CapabilityError: if the device has no windows, or none at this offset.
    """

    __slots__ = ("__weakref__", "_handle", "_memory", "base", "device", "dtype", "hints", "offset",
                 "size")  # fmt: skip

    def __init__(
        self,
        device: registry.DeviceLike | None,
        size: int,
        dtype: DType,
        base: Buffer | None = None,
        offset: int = 0,
        hints: BufferHints = NO_HINTS,
    ) -> None:
        self.device: str = registry.canonical(device)
        self.size = size
        self.dtype = dtype
        image = isinstance(dtype, ImageDType) and hints is NO_HINTS
        self.hints = BufferHints(image=dtype) if image else hints
        self.base: Buffer | None = None
        self.offset = 0
        self._handle: Any = None
        self._memory: Any = None
        if size < 0:
            raise ArgumentError("a buffer cannot have fewer than no elements", asked=f"{size}")
        if base is not None:
            # A window of a window is a window of what owns the memory.
            self.base = base.base or base
            self.offset = base.offset + offset
            self._check_window(base, offset)
        elif offset:
            raise ArgumentError(
                "only a window of another buffer has an offset",
                asked=f"offset {offset} without a base",
                try_="buffer.view(size, dtype, offset)",
            )

    @classmethod
    def like(cls, device: str, size: int, dtype: DType) -> Buffer:
        """A buffer with memory of its own, without checks: `device` is the canonical device string
        of another buffer."""
        if isinstance(dtype, ImageDType):
            return cls(device, size, dtype)
        made = cls.__new__(cls)
        made.device, made.size, made.dtype, made.hints = device, size, dtype, NO_HINTS
        made.base, made.offset = None, 0
        made._handle = made._memory = None
        return made

    @classmethod
    def fresh(cls, device: OpenDevice, size: int, dtype: DType) -> Buffer:
        """An allocated buffer as of `like`, on an open device. The dtype is no image."""
        made = cls.__new__(cls)
        made.device, made.size, made.dtype, made.hints = device.name, size, dtype, NO_HINTS
        made.base, made.offset = None, 0
        made._memory = _memory_type(device)(device, size * dtype.itemsize or 1, NO_HINTS)
        made._handle = made._memory.handle
        return made

    def _check_window(self, base: Buffer, offset: int) -> None:
        if offset < 0 or offset + self.nbytes > base.nbytes or self.device != base.device:
            raise ArgumentError(
                "a window must lie inside its buffer",
                asked=f"{self.nbytes} bytes from {offset} on {self.device}",
                because=f"the buffer is {base!r}, {base.nbytes} bytes",
            )
        alignment = registry.capabilities(self.device).memory.alignment
        if self.offset == 0 and self.nbytes == self.base.nbytes:  # type: ignore[union-attr]
            return
        if alignment is None or self.offset % alignment:
            raise CapabilityError(
                "this device has no window at this offset",
                asked=f"{self.nbytes} bytes from byte {self.offset} on {self.device}",
                because="it has no windows at all"
                if alignment is None
                else f"its windows start at multiples of {alignment} bytes",
                try_="copy that part into a buffer of its own, .contiguous()",
            )

    # ---- memory -------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def owner(self) -> Buffer:
        """The buffer that owns the memory: itself, or its base."""
        return self if self.base is None else self.base

    @property
    def is_allocated(self) -> bool:
        """Whether its memory is allocated."""
        return self._handle is not None or (self.base is not None and self.base.is_allocated)

    @property
    def handle(self) -> Any:
        """The allocator's handle of this memory. Allocates it at first use."""
        if self._handle is None:
            self.allocate()
        return self._handle

    def allocate(self) -> Buffer:
        """Allocate the memory, unless it is allocated; returns self.

        :raises OutOfMemory: if the device has no memory left.
        """
        if self._handle is not None:
            return self
        device = registry.open(self.device)
        if self.base is None:
            # Kernels need an address also for zero elements.
            self._memory = _memory_type(device)(device, self.nbytes or 1, self.hints)
            self._handle = self._memory.handle
        elif self.offset == 0 and self.nbytes == self.base.nbytes:
            self._handle = self.base.handle
        else:
            whole = self.base.handle
            with device.call("a window of {}", self.nbytes):
                self._handle = device.allocator.view(whole, self.offset, self.nbytes)
        return self

    def deallocate(self) -> None:
        """Release the memory; the next use allocates new memory. Windows that have a handle keep
        the old memory alive."""
        self._handle = self._memory = None

    def view(self, size: int, dtype: DType, offset: int = 0) -> Buffer:
        """A window of ``size`` elements of ``dtype`` that starts at byte ``offset``. Raises as the
        constructor."""
        return Buffer(self.device, size, dtype, base=self, offset=offset)

    @classmethod
    def wrap(
        cls, memory: Any, dtype: DType = dtypes.uint8, device: registry.DeviceLike | None = None
    ) -> Buffer:
        """Python memory (bytes, bytearray, memoryview, contiguous array) as a buffer, without a
        copy.

        The buffer keeps the object alive, and shares its content.

        :param device: the device of the buffer; None: the staging device.
        :raises ArgumentError: if the memory is not contiguous, or not a whole number of elements.
        :raises CapabilityError: if the device cannot use Python's memory.
        """
        flat = flat_memory(memory)
        if flat.nbytes % dtype.itemsize:
            raise ArgumentError(
                "this memory is not a whole number of elements",
                asked=f"{flat.nbytes} bytes as {dtype}",
                because=f"one element has {dtype.itemsize} bytes",
            )
        where = registry.open(registry.staging() if device is None else device)
        with where.call("wrapping Python's memory"):
            handle = where.allocator.wrap(flat)
        if handle is None:
            raise CapabilityError(
                "this device cannot use Python's memory in place",
                asked=f"wrapping {flat.nbytes} bytes on {where.name}",
                because=f"{type(where.allocator).__name__} does not implement wrap",
                try_="wrap it on the staging device (device=None) and copy from there",
            )
        buffer = cls(where.id, flat.nbytes // dtype.itemsize, dtype)
        buffer._memory, buffer._handle = flat, handle
        return buffer

    # ---- contents -----------------------------------------------------------------------------

    def copy_in(self, data: Any) -> Buffer:
        """Fill it from Python memory of exactly its size; returns self.

        :raises ArgumentError: if the sizes differ.
        """
        source = flat_memory(data)
        self._check_length(source)
        if self.nbytes:
            handle, holder = self.handle, self.holder()
            with holder.call("copying {} in", self.nbytes):
                holder.allocator.copy_in(handle, source)
        return self

    def copy_out(self, into: Any = None) -> memoryview:
        """A copy of its bytes; in ``into``, which must be writable and of exactly its size, if
        given.

        :raises ArgumentError: if the sizes differ.
        :raises OutOfMemory: if the host has no memory for a copy.
        """
        target = host_bytes(self.nbytes) if into is None else flat_memory(into)
        self._check_length(target)
        if target.readonly and self.nbytes:
            raise ArgumentError(
                "this memory cannot be written",
                asked=f"copying {self!r} into a read-only {type(into).__name__}",
                try_="a bytearray or a writable array",
            )
        if self.nbytes:
            handle, holder = self.handle, self.holder()
            with holder.call("copying {} out", self.nbytes):
                holder.allocator.copy_out(target, handle)
        return target

    def as_memoryview(self, *, window: bool | None = None) -> memoryview:
        """Its bytes, as a flat memoryview of format ``B``.

        :param window: True: a window of the memory itself, CapabilityError if the device has none;
            False: a copy; None: a copy for persistent memory, which other processes may change or
            truncate, else a window. A window keeps this buffer's memory alive, and shows later
            writes.
        """
        if not self.nbytes:
            return memoryview(bytearray())
        device = self.holder()
        if window or (window is None and not device.capabilities.memory.persistent):
            mapped = self._mapped(device)
            if mapped is not None:
                return self._kept(mapped)
            if window:
                raise CapabilityError(
                    "the host cannot map the memory of this device",
                    asked=f"a window of {self!r}",
                    because=f"{type(device.allocator).__name__}.map_host returned None",
                    try_="copy it out",
                )
        return self.copy_out()

    def numpy(self, *, window: bool | None = None) -> numpy.ndarray:
        """Its elements as a flat array; ``window`` as in ``as_memoryview``.

        :raises DTypeError: if NumPy (with ml_dtypes, where that is installed) has no such dtype.
        """
        import numpy

        return numpy.frombuffer(self.as_memoryview(window=window), dtype=numpy_dtype(self.dtype))

    def holder(self) -> OpenDevice:
        """The device that allocated its memory. The name may belong to a newer open device, for
        which this handle is invalid."""
        memory = (self.base or self)._memory
        return memory.device if isinstance(memory, _Memory) else registry.open(self.device)

    def bytes_at(self, start: int, nbytes: int) -> bytes | None:
        """A copy of some of its bytes; None if the host cannot access the memory."""
        mapped = self._mapped(self.holder())
        return None if mapped is None else bytes(mapped[start : start + nbytes])

    def _mapped(self, device: OpenDevice) -> memoryview | None:
        """The memory itself, valid as long as this buffer lives; None if it cannot be mapped."""
        handle = self.handle
        with device.call("mapping its memory for the host"):
            mapped = device.allocator.map_host(handle)
        if mapped is not None and (
            not isinstance(mapped, memoryview) or mapped.nbytes != self.nbytes
        ):
            device.broken("mapping its memory", f"returned {shown(mapped)} for {self!r}")
        return mapped

    def _kept(self, mapped: memoryview) -> memoryview:
        import numpy

        array: Any = numpy.frombuffer(mapped, dtype=numpy.uint8).view(_keeper_type())
        array.owner = (self, self._memory, self._handle)
        return memoryview(array)

    def _check_length(self, memory: memoryview) -> None:
        if memory.nbytes != self.nbytes:
            raise ArgumentError(
                "the sizes differ",
                asked=f"copying between {memory.nbytes} bytes and {self!r}",
                because=f"the buffer has {self.nbytes} bytes",
            )

    def __repr__(self) -> str:
        return (
            f"<buf real:{self.is_allocated} device:{self.device} size:{self.size} "
            f"dtype:{self.dtype} offset:{self.offset}>"
        )


@cache
def _keeper_type() -> Any:
    """An array class that keeps an owner alive: a memoryview has no attributes."""
    import numpy

    class Keeper(numpy.ndarray):
        owner: Any

    return Keeper


def flat_memory(memory: Any) -> memoryview:
    """Any object with contiguous memory as a flat memoryview of bytes, without a copy.

    :raises ArgumentError: if the object has no memory, or its memory is not contiguous.
    """
    try:
        view = memoryview(memory)
    except (TypeError, ValueError, BufferError):
        view = _as_bytes(memory)
    if view.nbytes == 0:
        return memoryview(b"")
    if not view.c_contiguous:
        raise ArgumentError(
            "the memory is not contiguous in row-major order",
            asked=f"shape {view.shape}, strides {view.strides}",
            try_="numpy.ascontiguousarray(array)",
        )
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def _as_bytes(memory: Any) -> memoryview:
    """The bytes of an array with a dtype that memoryview does not support, such as bfloat16."""
    if hasattr(memory, "__array_interface__") and hasattr(memory, "view"):
        return memoryview(memory.view("uint8"))
    raise ArgumentError(
        "this object has no memory to copy",
        asked=f"a {type(memory).__name__}",
        try_="bytes, a bytearray, a memoryview or an array",
    )


_NUMPY_NAMES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
    "float32", "float64",
)  # fmt: skip


def numpy_dtype(dtype: DType) -> Any:
    """The NumPy dtype of a scalar dtype, or of the elements of an image.

    :raises DTypeError: if there is none.
    """
    import numpy

    if isinstance(dtype, ImageDType):
        dtype = dtypes.float16 if dtype.itemsize == 2 else dtypes.float32
    plain = {getattr(dtypes, name): name for name in _NUMPY_NAMES}
    extra = {
        dtypes.bfloat16: "bfloat16",
        dtypes.fp8e4m3: "float8_e4m3fn",
        dtypes.fp8e5m2: "float8_e5m2",
    }
    if dtype in plain:
        return numpy.dtype(plain[dtype])
    if dtype in extra:
        try:
            import ml_dtypes
        except ImportError:
            pass
        else:
            return numpy.dtype(getattr(ml_dtypes, extra[dtype]))
    raise DTypeError(
        "NumPy has no such dtype",
        asked=f"{dtype} as a NumPy array",
        because="ml_dtypes is not installed" if dtype in extra else "it is not a scalar dtype",
        try_="cast it to float32 first, or pip install ml_dtypes",
    )


def chunks(nbytes: int, chunk: int) -> Iterator[tuple[int, int]]:
    """(offset, length) of pieces of at most ``chunk`` bytes."""
    for offset in range(0, nbytes, chunk):
        yield offset, min(chunk, nbytes - offset)
