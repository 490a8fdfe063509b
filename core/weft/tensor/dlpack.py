"""Memory handed to other libraries and taken from them, by the protocol DLPack (to version 1.1).

In: a tensor's memory, or a producer's capsule. Out: a capsule, or a graph node over the producer's
memory. Where the host sees the memory nothing is copied.

What is shared stays as it is as long as it is shared: weft writes to a copy of it, and the memory
is handed out as read-only. What the other side writes nonetheless is seen by both.

The structures are those of dlpack.h; capsules are made and read by Python's C API, through ctypes.
"""

from __future__ import annotations

import ctypes
import operator
from functools import partial
from typing import Any, NamedTuple

from weft.base.dtype import DType, dtypes
from weft.base.errors import CapabilityError, DTypeError, ExchangeError
from weft.base.interrupts import let_through
from weft.base.sequences import prod
from weft.device import Buffer, binding
from weft.uop import UOp

CPU_DEVICE = (1, 0)
"""What the host's memory is called there."""

_HOST_KINDS = frozenset({1, 3, 11, 13})  # the host's own; pinned for one driver or another; managed
_VERSION = (1, 1)
_READ_ONLY, _IS_COPIED = 1, 2

_CODES: dict[DType, tuple[int, int]] = {
    dtypes.bool: (6, 8), dtypes.int8: (0, 8), dtypes.int16: (0, 16), dtypes.int32: (0, 32),
    dtypes.int64: (0, 64), dtypes.uint8: (1, 8), dtypes.uint16: (1, 16), dtypes.uint32: (1, 32),
    dtypes.uint64: (1, 64), dtypes.float16: (2, 16), dtypes.float32: (2, 32),
    dtypes.float64: (2, 64), dtypes.bfloat16: (4, 16), dtypes.fp8e4m3: (10, 8),
    dtypes.fp8e5m2: (12, 8), dtypes.complex64: (5, 64), dtypes.complex128: (5, 128),
}  # fmt: skip
_KINDS = {code: dtype for dtype, code in _CODES.items()}
_NEW = frozenset({dtypes.fp8e4m3, dtypes.fp8e5m2})  # named in 1.1, and by some in 1.0


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("array", _Array), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("array", _Array),
    )


_PLAIN, _PLAIN_USED = b"dltensor", b"used_dltensor"
_MARKED, _MARKED_USED = b"dltensor_versioned", b"used_dltensor_versioned"


def _from_python(name: str, result: Any, *arguments: Any) -> Any:
    """A function of Python's C API, as an object of its own."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_is_valid = _from_python("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_pointer_of = _from_python(
    "PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p
)
_set_name = _from_python("PyCapsule_SetName", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)


# ---- handing out ---------------------------------------------------------------------------------


class Memory(NamedTuple):
    """A stretch of host memory and what is in it; strides in elements."""

    window: memoryview
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    copied: bool
    node: UOp | None
    """The BUFFER whose memory this is, unless it was copied."""


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of that shape without gaps."""
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def capsule_of(memory: Memory, max_version: tuple[int, int] | None) -> Any:
    """A capsule that keeps the memory alive until its consumer gives it back.

    :raises ExchangeError: for dtypes that the consumer's version does not know.
    """
    marked = max_version is not None and tuple(max_version) >= (1, 0)
    kind = memory.dtype
    if kind not in _CODES or (kind in _NEW and not marked):
        raise ExchangeError(
            f"the consumer knows no {kind!r}",
            asked=f"__dlpack__ of {kind!r}, max_version={max_version}",
            because="DLPack has it from version 1 on" if kind in _NEW else "DLPack has no such",
            try_="x.bitcast(dtypes.uint8), or x.float()",
        )
    capsule = _numpys_capsule(_array_over(memory), marked)
    if _is_valid(id(capsule), _PLAIN):
        if kind in _NEW:
            raise ExchangeError(
                f"this NumPy hands out no {kind!r}",
                asked=f"__dlpack__ of {kind!r}, max_version={max_version}",
                because="it is made of a capsule of NumPy's, which has a version from NumPy 2.1 on",
                try_="a newer NumPy; x.bitcast(dtypes.uint8), or x.float()",
            )
        held: Any = _Managed.from_address(_pointer_of(id(capsule), _PLAIN))
    else:
        held = _Versioned.from_address(_pointer_of(id(capsule), _MARKED))
        held.major, held.minor = _VERSION
        held.flags = _IS_COPIED if memory.copied else _READ_ONLY
    held.array.dtype = _DataType(*_CODES[kind], 1)
    return capsule


def _numpys_capsule(array: Any, marked: bool) -> Any:
    """The capsule of a NumPy array, with a version if requested and supported by NumPy.

    NumPy releases the capsule in C. A callback of ctypes would lose an exception that is being
    raised at that time.
    """
    if marked:
        try:
            return array.__dlpack__(max_version=(1, 0))
        except TypeError as error:  # before NumPy 2.1
            let_through(error)
    return array.__dlpack__()


def _array_over(memory: Memory) -> Any:
    """An array of NumPy of elements of that size over the memory, which it keeps alive and
    shared."""
    import numpy

    size, nbytes = memory.dtype.itemsize, memory.window.nbytes
    kind = f"c{size}" if memory.dtype.is_complex else f"u{size}"
    if not nbytes:
        return numpy.empty(memory.shape, kind)
    held: Any = (ctypes.c_char * nbytes).from_address(_address(memory.window))
    held.owners = memory.window, None if memory.node is None else shared_with(memory.node)
    strides = [stride * size for stride in memory.strides]
    return numpy.ndarray(memory.shape, kind, held, memory.offset * size, strides)


def shared_with(node: UOp) -> UOp:
    """A second owner of a BUFFER's memory: while it lives, writes go to copies of it."""
    witness = UOp.new_buffer(node.device, node.arg, node.dtype)
    binding.share(witness, node)
    return witness


def _address(window: memoryview) -> int:
    if window.readonly:
        import numpy

        return int(numpy.frombuffer(window, dtype=numpy.uint8).ctypes.data)
    return ctypes.addressof(ctypes.c_char.from_buffer(window))


# ---- taking in -----------------------------------------------------------------------------------


class _Owner:
    """A consumed structure, returned to its producer after its last use. No Python function runs
    then: an exception of a signal handler would be lost in it."""

    __slots__ = ("_give_back", "address", "witness")

    def __init__(self, address: int, deleter: int | None) -> None:
        self.address = address
        self._give_back = partial(_Deleter(deleter), address) if deleter else object
        self.witness: UOp | None = None

    # evaluates to a callable, which Python calls without arguments
    __del__ = property(operator.attrgetter("_give_back"))  # type: ignore[assignment]


class Taken(NamedTuple):
    """A producer's memory: the bytes between its first and its last element."""

    owner: _Owner
    window: Any
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    first: int
    """Bytes from the start of the window to the first element."""
    copied: bool

    @property
    def in_order(self) -> bool:
        """Whether the elements lie row-major, without gaps, where their dtype may begin."""
        plain = all(
            s == expected or n == 1
            for n, s, expected in zip(self.shape, self.strides, row_major(self.shape))
        )
        return plain and not ctypes.addressof(self.window) % self.dtype.itemsize

    def compact(self) -> bytearray:
        """The elements row-major, copied."""
        import numpy

        size = self.dtype.itemsize
        raw = numpy.ndarray(
            (*self.shape, size), numpy.uint8, self.window, self.first,
            (*(s * size for s in self.strides), 1),
        )  # fmt: skip
        return bytearray(raw.tobytes())


def take(producer: Any, copy: bool | None) -> Taken:
    """The memory of a producer: an object with `__dlpack__`, or a capsule.

    :raises ExchangeError: if it cannot be had on the host, or not without a copy.
    :raises DTypeError: for elements that weft has no dtype for.
    """
    capsule = producer
    if hasattr(producer, "__dlpack__"):
        capsule = _asked(producer, copy)
    handle = id(capsule)
    if _is_capsule(capsule) and _is_valid(handle, _MARKED):
        versioned = _Versioned.from_address(_pointer_of(handle, _MARKED))
        if versioned.major != _VERSION[0]:
            raise ExchangeError(
                "this version of DLPack is not known",
                asked=f"an array of DLPack {versioned.major}.{versioned.minor}",
                because=f"weft knows {_VERSION[0]}.x",
            )
        _set_name(handle, _MARKED_USED)
        return _taken(versioned, bool(versioned.flags & _IS_COPIED))
    if _is_capsule(capsule) and _is_valid(handle, _PLAIN):
        managed = _Managed.from_address(_pointer_of(handle, _PLAIN))
        _set_name(handle, _PLAIN_USED)
        return _taken(managed, False)
    raise ExchangeError(
        "this is no array of DLPack, or it was consumed already",
        asked=f"from_dlpack of a {type(producer).__name__}",
        because="a capsule can be consumed once" if _is_capsule(capsule) else None,
        try_="an object that has __dlpack__, such as an array of NumPy or PyTorch",
    )


def parts_of(taken: Taken) -> Taken:
    """Complex memory as that of the interleaved parts."""
    return taken._replace(
        dtype=dtypes.real_dtype(taken.dtype), shape=(*taken.shape, 2),
        strides=(*(2 * s for s in taken.strides), 1),
    )  # fmt: skip


def _is_capsule(x: Any) -> bool:
    return type(x).__name__ == "PyCapsule"


def _asked(producer: Any, copy: bool | None) -> Any:
    """The capsule of a producer, on the host."""
    wanted: dict[str, Any] = {"max_version": _VERSION}
    if copy is not None:
        wanted["copy"] = copy
    kind = int(producer.__dlpack_device__()[0]) if hasattr(producer, "__dlpack_device__") else 1
    if kind not in _HOST_KINDS:
        wanted["dl_device"] = CPU_DEVICE
    try:
        try:
            return producer.__dlpack__(**wanted)
        except TypeError:
            if kind in _HOST_KINDS:
                return producer.__dlpack__()  # from before 1.0
            cause = "its __dlpack__ cannot move it"
    except BufferError as error:
        cause = str(error)
    raise ExchangeError(
        "this array cannot be had on the host" + (" without a copy" if copy is False else ""),
        asked=f"from_dlpack of a {type(producer).__name__}, copy={copy}",
        because=cause,
        try_="copy it to the host there first",
    ) from None


def _taken(held: Any, copied: bool) -> Taken:
    owner = _Owner(ctypes.addressof(held), held.deleter)
    array = held.array
    kind = _KINDS.get((array.dtype.code, array.dtype.bits)) if array.dtype.lanes == 1 else None
    if kind is None:
        raise DTypeError(
            "weft has no dtype for these elements",
            asked=f"from_dlpack of kind {array.dtype.code}, {array.dtype.bits} bits, "
            f"{array.dtype.lanes} lanes",
            because="numbers of less than a byte, and vectors, are none of weft's",
        )
    if array.device.kind not in _HOST_KINDS:
        raise ExchangeError(
            "the host does not see this memory",
            asked=f"from_dlpack of memory on DLPack's device kind {array.device.kind}",
            try_="copy it to the host there first",
        )
    shape = tuple(array.shape[i] for i in range(array.ndim))
    strides = row_major(shape)
    if array.ndim and array.strides:
        strides = tuple(array.strides[i] for i in range(array.ndim))
    if prod(shape) == 0:
        return Taken(owner, b"", kind, shape, row_major(shape), 0, copied)
    low = sum(min((n - 1) * s, 0) for n, s in zip(shape, strides)) * kind.itemsize
    high = sum(max((n - 1) * s, 0) for n, s in zip(shape, strides)) * kind.itemsize
    start = (array.data or 0) + array.byte_offset
    window = _window_type(high - low + kind.itemsize).from_address(start + low)
    window.owner = owner
    return Taken(owner, window, kind, shape, strides, -low, copied)


def _window_type(nbytes: int) -> Any:
    """An array of bytes that can keep something alive."""
    return type("Window", (ctypes.c_uint8 * nbytes,), {})


def node_over(taken: Taken, device: str) -> UOp | None:
    """A BUFFER on `device` over a producer's memory in place; None if the device cannot."""
    try:
        buffer = Buffer.wrap(taken.window, taken.dtype, device)
    except CapabilityError:
        return None
    node = UOp.new_buffer(device, prod(taken.shape), taken.dtype)
    binding.bind(node, buffer)
    taken.owner.witness = shared_with(node)
    return node
