"""Dtype table: every dtype by name, and questions about dtypes.

`dtype_classes.py` has the classes: scalars, and the vectors, pointers and images of their elements.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn, cast

from weft.base.arguments import shown
from weft.base.dtype_classes import (
    AddrSpace,
    DType,
    FloatInfo,
    ImageDType,
    IntInfo,
    PtrDType,
    any_images,
    derive,
    elements,
    image,
)
from weft.base.errors import DTypeError, OutOfRange, UnknownDType
from weft.base.settings import settings

__all__ = [
    "AddrSpace", "DType", "FloatInfo", "ImageDType", "IntInfo", "PtrDType", "any_images", "dtypes",
    "element_dtype", "to_dtype",
]  # fmt: skip


def _element(name: str, priority: int, size: int, fmt: str | None, low: Any, high: Any) -> DType:
    elements[name] = made = derive(
        DType, None, name=name, itemsize=size, bitsize=1 if name == "bool" else size * 8,
        priority=priority, fmt=fmt, count=1, min=low, max=high,
    )  # fmt: skip
    return made


def _integer(name: str, priority: int, size: int, fmt: str) -> DType:
    low = 0 if fmt.isupper() else -(1 << (8 * size - 1))
    return _element(name, priority, size, fmt, low, low + (1 << (8 * size)) - 1)


def _floating(
    name: str, priority: int, size: int, fmt: str | None, high: float = math.inf
) -> DType:
    return _element(name, priority, size, fmt, -high, high)


def _complex(name: str, priority: int, size: int) -> DType:
    return _element(name, priority, size, None, complex(-math.inf), complex(math.inf))


class _Dtypes(type):
    """The metaclass of `dtypes`: its default float follows the setting."""

    @property
    def default_float(cls) -> DType:
        """The dtype of Python floats; `settings.DEFAULT_FLOAT` names it."""
        return _by_name[settings.DEFAULT_FLOAT]

    @default_float.setter
    def default_float(cls, dtype: DType) -> None:
        settings.DEFAULT_FLOAT = dtype.name

    if not TYPE_CHECKING:
        # with a `__getattr__` Python finds names by a call, unless this is what it finds them by
        __getattribute__ = object.__getattribute__

    def __setattr__(cls, name: str, value: object) -> None:
        if name not in ("default_float", "default_int"):
            raise DTypeError("the table of dtypes is fixed", asked=f"dtypes.{name} = {value!r}")
        super().__setattr__(name, value)

    if not TYPE_CHECKING:  # a checker reports a name that is not there

        def __getattr__(cls, name: str) -> NoReturn:
            if name.startswith("_"):  # the questions that inspect and copy ask of any class
                raise AttributeError(name)
            raise _unknown(name, f"dtypes.{name}")


def is_float(dtype: DType) -> bool:
    """True for the float dtypes and their vectors, and for images of them.

    >>> dtypes.is_float(dtypes.half), dtypes.is_float(dtypes.int)
    (True, False)
    """
    try:
        return dtype._scalar in _FLOATS or dtype.__class__ is ImageDType
    except AttributeError:
        return is_float(to_dtype(dtype))


def is_int(dtype: DType) -> bool:
    """True for the integer dtypes, signed or not, and their vectors; false for bool.

    >>> dtypes.is_int(dtypes.uint8), dtypes.is_int(dtypes.bool)
    (True, False)
    """
    try:
        return dtype._scalar in _INTS
    except AttributeError:
        return is_int(to_dtype(dtype))


def is_unsigned(dtype: DType) -> bool:
    """True for the unsigned integer dtypes and their vectors.

    >>> dtypes.is_unsigned(dtypes.uint8), dtypes.is_unsigned(dtypes.int)
    (True, False)
    """
    return dtype._scalar in _UINTS


def is_complex(dtype: DType) -> bool:
    """True for the dtypes of complex numbers.

    >>> dtypes.is_complex(dtypes.complex64), dtypes.is_complex(dtypes.float)
    (True, False)
    """
    return dtype._scalar in _PARTS


def real_dtype(dtype: DType) -> DType:
    """The dtype of the real and the imaginary part; of any other dtype itself.

    >>> dtypes.real_dtype(dtypes.complex64), dtypes.real_dtype(dtypes.int32)
    (dtypes.float, dtypes.int)
    """
    return _PARTS.get(dtype, dtype)


def complex_dtype(dtype: DType) -> DType:
    """The complex dtype with parts that hold `dtype`: complex128 for float64, else complex64.

    >>> dtypes.complex_dtype(dtypes.float64)
    dtypes.complex128
    """
    if dtype in _PARTS:
        return dtype
    if not is_float(dtype):
        dtype = dtypes.default_float
    return dtypes.complex128 if dtype is dtypes.float64 else dtypes.complex64


def is_bool(dtype: DType) -> bool:
    """True for bool and its vectors.

    >>> dtypes.is_bool(dtypes.bool), dtypes.is_bool(dtypes.uint8)
    (True, False)
    """
    return dtype._scalar is dtypes.bool


def finfo(dtype: Any) -> FloatInfo:
    """Limits of a float dtype, or of what names one; DTypeError for any other.

    >>> dtypes.finfo(dtypes.half).max
    65504.0
    """
    dtype = to_dtype(dtype)
    layout = _FLOAT_LAYOUT.get(dtype.scalar())
    if layout is None:
        raise DTypeError(f"{dtype!r} is not a float dtype", asked=f"finfo({dtype!r})")
    exponent_bits, mantissa_bits, has_infinity = layout
    bias = (1 << (exponent_bits - 1)) - 1
    # Without infinities the top exponent holds numbers too, all but its last pattern, NaN.
    top = bias if has_infinity else bias + 1
    significand = 2 - 2.0 ** (-mantissa_bits) * (1 if has_infinity else 2)
    largest = math.ldexp(significand, top)
    return FloatInfo(
        bits=dtype.scalar().bitsize, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits,
        min=-largest, max=largest, eps=2.0**-mantissa_bits, smallest_normal=2.0 ** (1 - bias),
        smallest_subnormal=2.0 ** (1 - bias - mantissa_bits), bias=bias,
        has_infinity=has_infinity, dtype=dtype.scalar(),
    )  # fmt: skip


def iinfo(dtype: Any) -> IntInfo:
    """Limits of an integer dtype, or of what names one; DTypeError for any other.

    >>> dtypes.iinfo(dtypes.int8).min, dtypes.iinfo(dtypes.int8).max
    (-128, 127)
    """
    dtype = to_dtype(dtype)
    if not is_int(dtype):
        raise DTypeError(f"{dtype!r} is not an integer dtype", asked=f"iinfo({dtype!r})")
    scalar = dtype.scalar()
    return IntInfo(scalar.bitsize, int(scalar.min), int(scalar.max), scalar)


def lowest(dtype: DType) -> Any:
    """The least value of a dtype: -inf of floats that have it.

    >>> dtypes.min(dtypes.int8), dtypes.min(dtypes.float)
    (-128, -inf)
    """
    return to_dtype(dtype).min


def highest(dtype: DType) -> Any:
    """The greatest value of a dtype: inf of floats that have it.

    >>> dtypes.max(dtypes.int8), dtypes.max(dtypes.float)
    (127, inf)
    """
    return to_dtype(dtype).max


def fields() -> dict[str, DType]:
    """Every real dtype by each of its names here, so that "float32" and "float" are one.

    >>> dtypes.fields()["float32"], dtypes.fields()["half"]
    (dtypes.float, dtypes.half)
    """
    named = {name: dtype for name, dtype in _by_name.items() if hasattr(dtypes, name)}
    named = {name: dtype for name, dtype in named.items() if not is_complex(dtype)}
    del named["void"]
    return named


def from_py(value: object) -> DType:
    """The dtype of a Python bool, int or float, or of nested lists and tuples of them.

    A mix takes the highest kind in it; an empty list counts as floats. Integers are of the default
    int if it holds them all, else of int64, else of uint64.

    :raises DTypeError: for anything else.
    :raises OutOfRange: for integers that no dtype holds together.

    >>> dtypes.from_py(1), dtypes.from_py([1, 2.5])
    (dtypes.int, dtypes.float)
    >>> dtypes.from_py(2**40), dtypes.from_py(2**63)
    (dtypes.long, dtypes.ulong)
    """
    kinds: set[type] = set()
    low = high = 0
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, (list, tuple)):
            pending.extend(cast("Iterable[Any]", item))
            continue
        kind = next((kind for kind in (bool, int, float) if isinstance(item, kind)), None)
        if kind is None:
            raise DTypeError(
                f"no dtype for a {type(item).__name__}",
                asked=f"a dtype for {item!r}",
                because="only bool, int and float have one",
            )
        kinds.add(kind)
        if kind is int:
            low, high = min(low, cast(int, item)), max(high, cast(int, item))
    if float in kinds or not kinds:
        return dtypes.default_float
    return _integer_for(low, high) if int in kinds else dtypes.bool


def _integer_for(low: int, high: int) -> DType:
    """The default int, int64 or uint64: the first that holds both. OutOfRange if none does."""
    for kind in (dtypes.default_int, dtypes.int64, dtypes.uint64):
        if kind.min <= low and high <= kind.max:
            return kind
    raise OutOfRange(
        "no integer dtype holds these numbers",
        asked=f"integers from {shown(low)} to {shown(high)}",
        because=f"{dtypes.int64!r} ends at 2**63 - 1, {dtypes.uint64!r} goes from 0 to 2**64 - 1",
        try_="dtype=dtypes.float64",
    )


def as_const(value: Any, dtype: DType) -> Any:
    """`value` as the Python kind of `dtype`: bool, int or float; a tuple lane by lane.

    It is not rounded nor wrapped to what the dtype holds: `scalars.truncate` does that.

    >>> dtypes.as_const(3.7, dtypes.int), dtypes.as_const(1, dtypes.float)
    (3, 1.0)
    """
    lanes = value
    if isinstance(value, tuple):
        if len(lanes) != dtype.count:
            raise DTypeError(f"{len(lanes)} values for {dtype!r}", asked=f"{lanes!r} as {dtype!r}")
        return tuple(as_const(item, dtype.scalar()) for item in lanes)
    if is_float(dtype):
        return float(value)
    return bool(value) if is_bool(dtype) else int(value)


def to_dtype(given: Any) -> DType:
    """The dtype that `given` means.

    Takes a DType; a name, in any case ("float32", "half", "uchar", NumPy's "f4" and "single",
    "torch.float32"); the Python types bool, int, float and complex (they mean the defaults); a
    NumPy dtype or scalar type, those of ml_dtypes included; a dtype of PyTorch or JAX. DTypeError
    for the rest, and for foreign byte order.

    >>> dtypes.to_dtype("float32"), dtypes.to_dtype("half"), dtypes.to_dtype(bool)
    (dtypes.float, dtypes.half, dtypes.bool)
    >>> dtypes.to_dtype("f8"), dtypes.to_dtype("torch.bfloat16")
    (dtypes.double, dtypes.bfloat16)
    """
    if isinstance(given, DType):
        return given
    if isinstance(given, str):
        return _named(given)
    # by identity: a NumPy dtype equals the Python type of its kind
    if given is bool or given is int or given is float:
        return from_py(given())
    if given is complex:
        return complex_dtype(dtypes.default_float)
    if type(given).__name__ == "dtype" and type(given).__module__ == "torch":
        return _named(str(given))
    # a NumPy type implies that NumPy is imported; this layer never imports it
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        known: Any = given
        if isinstance(given, type):
            if issubclass(given, numpy.generic):
                # number and other abstract types have neither a name of a dtype nor one to give
                known = numpy.dtype(given) if given.__name__ in _by_name | _CODES else None
            else:
                known = getattr(given, "dtype", None)  # JAX's scalar types say it so
        if isinstance(known, numpy.dtype) and known.isnative and known.name in _by_name:
            return _by_name[known.name]
    if getattr(given, "hasobject", False):
        raise DTypeError(
            "Python objects are not elements",
            asked=f"a dtype for {given!r}",
            because="an element is a number of fixed size",
            try_='array.astype("float32"), if they are numbers',
        )
    raise UnknownDType(
        f"no dtype is called {shown(given)}",
        asked=f"a dtype for {shown(given)}",
        try_="one of " + ", ".join(d.name for d in (*dtypes.all, *dtypes.complexes)),
    )


def _named(given: str) -> DType:
    """The dtype of a name, as one may write it."""
    name = given
    for prefix in ("dtypes.", "torch.", "numpy.", "np."):
        name = name.removeprefix(prefix)
    if name[:1] in ("<", "=", "|") and sys.byteorder == "little":
        name = name[1:]
    for word in (name, name.lower()):
        found = _by_name.get(word) or _CODES.get(word)
        if found is not None:
            return found
    raise _unknown(name, given)


def element_dtype(given: Any) -> DType:
    """The dtype that `given` means, of the elements of a node: a real scalar, or an image.

    DTypeError for what `to_dtype` does not know, and for vectors, pointers and void; and for
    complex dtypes, since a complex tensor is a graph of real numbers.
    """
    dtype = to_dtype(given)
    if dtype in _PARTS:
        raise DTypeError(
            "this is not for complex numbers",
            asked=f"elements of {dtype!r}",
            because="the elements of a graph are real",
            try_="weft.complex(real, imag), or x.cast(dtype) of what was made of real numbers",
        )
    scalar = dtype.count == 1 and dtype.itemsize > 0 and dtype.base is dtype
    if scalar or (isinstance(dtype, ImageDType) and dtype.count == 1):
        return dtype
    raise DTypeError(
        "the elements of a tensor are scalars",
        asked=f"a tensor of {dtype!r}",
        because="vectors and pointers are made inside kernels",
        try_=repr(dtype.base.scalar()) if dtype.itemsize else None,
    )


def _unknown(name: str, asked: str) -> UnknownDType:
    import difflib  # only who errs needs it

    # of complex dtypes their names alone: an alias such as cfloat is close to all floats
    likely = [n for n, dtype in _by_name.items() if n == dtype.name or not is_complex(dtype)]
    close = difflib.get_close_matches(name, likely, 3, 0.5)
    return UnknownDType(
        f"no dtype is called {name!r}",
        asked=repr(asked),
        because="it is none of the names in dtypes.fields()",
        try_=" or ".join(map(repr, close))
        if close
        else "one of " + ", ".join(d.name for d in (*dtypes.all, *dtypes.complexes)),
    )


def imageh(shape: tuple[int, ...]) -> ImageDType:
    """An image of half-precision channels; `shape` is (height, width, 4).

    >>> dtypes.imageh((2, 3, 4)).itemsize
    2
    """
    return image("imageh", shape)


def imagef(shape: tuple[int, ...]) -> ImageDType:
    """An image of single-precision channels; `shape` is (height, width, 4).

    >>> dtypes.imagef((2, 3, 4)).itemsize
    4
    """
    return image("imagef", shape)


class dtypes(metaclass=_Dtypes):
    """Every dtype by name, and the questions one asks of them. Not to be instantiated."""

    void = _element("void", -1, 0, None, 0, 0)
    bool = _element("bool", 0, 1, "?", False, True)
    int8 = char = _integer("char", 1, 1, "b")
    uint8 = uchar = _integer("uchar", 2, 1, "B")
    int16 = short = _integer("short", 3, 2, "h")
    uint16 = ushort = _integer("ushort", 4, 2, "H")
    int32 = int = _integer("int", 5, 4, "i")
    uint32 = uint = _integer("uint", 6, 4, "I")
    int64 = long = _integer("long", 7, 8, "q")
    uint64 = ulong = _integer("ulong", 8, 8, "Q")
    # fp8e4m3 has no infinity: the identity element of a maximum is the least finite number
    fp8e4m3 = _floating("fp8e4m3", 9, 1, None, 448.0)
    fp8e5m2 = _floating("fp8e5m2", 10, 1, None)
    float16 = half = _floating("half", 11, 2, "e")
    bfloat16 = _floating("bfloat16", 12, 2, None)
    float32 = float = _floating("float", 13, 4, "f")
    float64 = double = _floating("double", 14, 8, "d")
    complex64 = cfloat = _complex("complex64", 15, 8)
    complex128 = cdouble = _complex("complex128", 16, 16)

    default_int: DType = int32
    floats = (fp8e4m3, fp8e5m2, float16, bfloat16, float32, float64)
    uints = (uint8, uint16, uint32, uint64)
    sints = (int8, int16, int32, int64)
    ints = (*uints, *sints)
    all = (bool, *ints, *floats)
    complexes = (complex64, complex128)

    is_float = staticmethod(is_float)
    is_int = staticmethod(is_int)
    is_unsigned = staticmethod(is_unsigned)
    is_bool = staticmethod(is_bool)
    is_complex = staticmethod(is_complex)
    real_dtype = staticmethod(real_dtype)
    complex_dtype = staticmethod(complex_dtype)
    finfo = staticmethod(finfo)
    iinfo = staticmethod(iinfo)
    min = staticmethod(lowest)
    max = staticmethod(highest)
    fields = staticmethod(fields)
    from_py = staticmethod(from_py)
    as_const = staticmethod(as_const)
    to_dtype = staticmethod(to_dtype)
    imageh = staticmethod(imageh)
    imagef = staticmethod(imagef)


for _name, _held in list(vars(dtypes).items()):
    if isinstance(_held, staticmethod):  # found by `object.__getattribute__`, which unwraps none
        type.__setattr__(dtypes, _name, _held.__func__)

# sets, since these questions are asked very often
_FLOATS, _INTS, _UINTS = map(frozenset, (dtypes.floats, dtypes.ints, dtypes.uints))

_PARTS: dict[DType, DType] = {
    dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64,
}  # fmt: skip
"""The dtype of the parts of each complex dtype."""

# Exponent bits, mantissa bits, and whether infinities exist.
_FLOAT_LAYOUT: dict[DType, tuple[int, int, bool]] = {
    dtypes.fp8e4m3: (4, 3, False),
    dtypes.fp8e5m2: (5, 2, True),
    dtypes.float16: (5, 10, True),
    dtypes.bfloat16: (8, 7, True),
    dtypes.float32: (8, 23, True),
    dtypes.float64: (11, 52, True),
}

_by_name: dict[str, DType] = {
    name: dtype
    for name, dtype in vars(dtypes).items()
    if isinstance(dtype, DType) and not name.startswith("default")
}
# As other libraries write them.
_by_name |= {"bool_": dtypes.bool, "float8_e4m3fn": dtypes.fp8e4m3, "float8_e5m2": dtypes.fp8e5m2}


# NumPy's short names and codes, and names of C types that it has beside those above.
_CODES: dict[str, DType] = {
    "b1": dtypes.bool, "?": dtypes.bool, "i1": dtypes.int8, "u1": dtypes.uint8, "i2": dtypes.int16,
    "u2": dtypes.uint16, "i4": dtypes.int32, "u4": dtypes.uint32, "i8": dtypes.int64,
    "u8": dtypes.uint64, "f2": dtypes.float16, "f4": dtypes.float32, "f8": dtypes.float64,
    "byte": dtypes.int8, "ubyte": dtypes.uint8, "intc": dtypes.int32, "uintc": dtypes.uint32,
    "longlong": dtypes.int64, "ulonglong": dtypes.uint64, "int_": dtypes.int64,
    "intp": dtypes.int64, "uintp": dtypes.uint64, "single": dtypes.float32, "e": dtypes.float16,
    "f": dtypes.float32, "d": dtypes.float64, "c8": dtypes.complex64, "c16": dtypes.complex128,
    "csingle": dtypes.complex64, "F": dtypes.complex64, "D": dtypes.complex128,
}  # fmt: skip
