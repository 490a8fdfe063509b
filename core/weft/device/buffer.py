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
from weft.base.interrupts import let_through
from weft.base.text import human_size
from weft.device import registry
from weft.device.open_device import OpenDevice
from weft.device.parts import NO_HINTS, Allocator, BufferHints
from weft.device.usage import Usage, usage

if TYPE_CHECKING:
    import numpy


def host_bytes(nbytes: int) -> memoryview:
    """Fresh memory of Python's. Where there is none, devices first give back what they keep for
    reuse, which may be the host's too.

    :raises OutOfMemory: if there is none even then.
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
    """An allocation, returned to its device's pool exactly once: when the last buffer lets go.

    No function in Python runs then, since whatever a signal handler raised in it would be lost. The
    pool looks through what was returned when it is next asked; freed memory that is pooled stays
    with the pool in any case.
    """

    __slots__ = ("_give", "device", "handle")

    def __init__(self, device: OpenDevice, nbytes: int, hints: BufferHints) -> None:
        self.device = device
        try:
            self.handle = device.pool.take(nbytes, hints)
        except Exception as error:
            let_through(error)
            device.failed(f"allocating {human_size(nbytes)}", error)
        if self.handle is None:
            device.broken(f"allocating {human_size(nbytes)}", "gave None as a handle")
        returned = device.pool.returned
        # what is not pooled goes with its handle, where the allocator leaves that to Python
        kept = self.handle if device.pool.enabled else None
        self._give = partial(returned.append, (kept, nbytes, hints, None))
        if device.capabilities.memory.resident:
            usage.take(device.name, nbytes)  # from now on it is counted
            self._give = partial(returned.append, (kept, nbytes, hints, device.name))

    # looked up in the object when it dies, and called without arguments
    __del__ = property(attrgetter("_give"))  # type: ignore[assignment]


class _FreedAtOnce(_Memory):
    """The same of memory that is not pooled, and that its allocator frees."""

    __slots__ = ("hints", "nbytes", "resident")

    def __init__(self, device: OpenDevice, nbytes: int, hints: BufferHints) -> None:
        super().__init__(device, nbytes, hints)
        self.nbytes, self.hints = nbytes, hints
        self.resident = device.capabilities.memory.resident

    # Names it needs are defaults, since module globals may be gone when the interpreter shuts down.
    def __del__(self, usage: Usage = usage, is_finalizing: Any = sys.is_finalizing) -> None:
        if is_finalizing() or not hasattr(self, "resident"):
            return
        if self.resident:
            usage.give(self.device.name, self.nbytes)
        try:
            self.device.pool.give(self.handle, self.nbytes, self.hints)
        except Exception as error:  # of the allocator's `free`
            let_through(error)
            self.device.failed("giving memory back", error)


def _memory_type(device: OpenDevice) -> type[_Memory]:
    kind: type[Any] = type(device.allocator)
    leaves_it_to_python = kind.free is vars(Allocator)["free"]
    return _Memory if device.pool.enabled or leaves_it_to_python else _FreedAtOnce


class Buffer:
    """``size`` elements of ``dtype`` on a device.

    :param device: where; a device string, a DeviceId, or None for the default device.
    :param size: number of elements; 0 is allowed.
    :param dtype: of the elements.
    :param base: the buffer this is a window of; it must be on the same device.
    :param offset: where the window starts, in bytes from the start of ``base``.
    :param hints: what the memory is for.
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
        """Memory of its own on a device that is spelt in its one way, as another buffer has it: the
        arguments are not looked at."""
        if isinstance(dtype, ImageDType):
            return cls(device, size, dtype)
        made = cls.__new__(cls)
        made.device, made.size, made.dtype, made.hints = device, size, dtype, NO_HINTS
        made.base, made.offset = None, 0
        made._handle = made._memory = None
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
                "this device has no window there",
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
        """The buffer whose memory it is: itself, or the one that it is a window of."""
        return self if self.base is None else self.base

    @property
    def is_allocated(self) -> bool:
        """Whether the memory behind it exists."""
        return self._handle is not None or (self.base is not None and self.base.is_allocated)

    @property
    def handle(self) -> Any:
        """What the device's allocator calls this memory; allocates it if need be."""
        if self._handle is None:
            self.allocate()
        return self._handle

    def allocate(self) -> Buffer:
        """Make sure the memory exists; returns self.

        :raises OutOfMemory: if the device has no memory left.
        """
        if self._handle is not None:
            return self
        device = registry.open(self.device)
        if self.base is None:
            # Kernels need an address even for no elements.
            self._memory = _memory_type(device)(device, self.nbytes or 1, self.hints)
            self._handle = self._memory.handle
        elif self.offset == 0 and self.nbytes == self.base.nbytes:
            self._handle = self.base.handle
        else:
            whole = self.base.handle
            try:
                self._handle = device.allocator.view(whole, self.offset, self.nbytes)
            except Exception as error:
                let_through(error)
                device.failed(f"a window of {human_size(self.nbytes)}", error)
        return self

    def deallocate(self) -> None:
        """Free the memory now; the next use allocates again. Windows that were already
        touched keep the old memory alive."""
        self._handle = self._memory = None

    def view(self, size: int, dtype: DType, offset: int = 0) -> Buffer:
        """A window of ``size`` elements of ``dtype``, ``offset`` bytes on. Raises as the
        constructor."""
        return Buffer(self.device, size, dtype, base=self, offset=offset)

    @classmethod
    def wrap(
        cls, memory: Any, dtype: DType = dtypes.uint8, device: registry.DeviceLike | None = None
    ) -> Buffer:
        """Python memory (bytes, bytearray, memoryview, contiguous array) in place, nothing copied.

        The buffer keeps the object alive and sees changes made to it.

        :param device: where to wrap it; None: the staging device.
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
        try:
            handle = where.allocator.wrap(flat)
        except Exception as error:
            let_through(error)
            where.failed("wrapping Python's memory", error)
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
            try:
                holder.allocator.copy_in(handle, source)
            except Exception as error:
                let_through(error)
                holder.failed(f"copying {human_size(self.nbytes)} in", error)
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
            try:
                holder.allocator.copy_out(target, handle)
            except Exception as error:
                let_through(error)
                holder.failed(f"copying {human_size(self.nbytes)} out", error)
        return target

    def as_memoryview(self, *, window: bool | None = None) -> memoryview:
        """Its bytes, as a flat memoryview of format ``B``.

        :param window: True: a window onto the memory itself, CapabilityError if the device has
            none; False: a copy; None: a window where that is free of surprises (not for memory that
            others may change or cut short), else a copy. A window keeps this buffer's memory alive,
            and sees what is written later.
        """
        if not self.nbytes:
            return memoryview(bytearray())
        device = self.holder()
        if window or (window is None and not device.capabilities.memory.persistent):
            handle = self.handle
            try:
                mapped = device.allocator.map_host(handle)
            except Exception as error:
                let_through(error)
                device.failed("a window onto its memory", error)
            if mapped is not None:
                if not isinstance(mapped, memoryview) or mapped.nbytes != self.nbytes:
                    device.broken("a window onto its memory", f"gave {shown(mapped)} for {self!r}")
                return self._kept(mapped)
            if window:
                raise CapabilityError(
                    "the host cannot see this device's memory",
                    asked=f"a window onto {self!r}",
                    because=f"{type(device.allocator).__name__} maps nothing",
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
        """The device that its memory was taken from: another of the same name may be open by now,
        and would not know this handle."""
        memory = (self.base or self)._memory
        return memory.device if isinstance(memory, _Memory) else registry.open(self.device)

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
    """An array that keeps an owner alive: a bare memoryview can hold nothing."""
    import numpy

    class Keeper(numpy.ndarray):
        owner: Any

    return Keeper


def flat_memory(memory: Any) -> memoryview:
    """Any object with contiguous memory as a flat memoryview of bytes, without copying.

    :raises ArgumentError: if it has no memory, or gaps in it.
    """
    try:
        view = memoryview(memory)
    except (TypeError, ValueError, BufferError):
        view = _as_bytes(memory)
    if view.nbytes == 0:
        return memoryview(b"")
    if not view.c_contiguous:
        raise ArgumentError(
            "the memory has gaps, or is not in row-major order",
            asked=f"shape {view.shape}, strides {view.strides}",
            try_="numpy.ascontiguousarray(array)",
        )
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def _as_bytes(memory: Any) -> memoryview:
    """Arrays of dtypes that memoryview does not know (bfloat16) still give their bytes."""
    if hasattr(memory, "__array_interface__") and hasattr(memory, "view"):
        return memoryview(memory.view("uint8"))
    raise ArgumentError(
        "this object has no memory to copy",
        asked=f"a {type(memory).__name__}",
        try_="bytes, a bytearray, a memoryview or an array",
    )


def numpy_dtype(dtype: DType) -> Any:
    """The NumPy dtype of a scalar dtype, or of what an image holds. :raises DTypeError: if there is
    none."""
    import numpy

    if isinstance(dtype, ImageDType):
        dtype = dtypes.float16 if dtype.itemsize == 2 else dtypes.float32
    plain = {
        dtypes.bool: "bool", dtypes.int8: "int8", dtypes.uint8: "uint8", dtypes.int16: "int16",
        dtypes.uint16: "uint16", dtypes.int32: "int32", dtypes.uint32: "uint32",
        dtypes.int64: "int64", dtypes.uint64: "uint64", dtypes.float16: "float16",
        dtypes.float32: "float32", dtypes.float64: "float64",
    }  # fmt: skip
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
