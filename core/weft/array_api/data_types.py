"""The dtypes of the standard, and functions about them."""

from __future__ import annotations

import builtins
from typing import Any

from weft.array_api.array import Array, as_array
from weft.base.dtype import DType, FloatInfo, IntInfo, dtypes, to_dtype
from weft.base.errors import ArgumentError, DTypeError
from weft.base.promotion import least_upper_dtype, promote_with_scalar
from weft.tensor import Tensor

__all__ = [
    "astype", "bfloat16", "bool", "can_cast", "complex64", "complex128", "finfo", "float16",
    "float32", "float64", "iinfo",
    "int8", "int16", "int32", "int64", "isdtype", "result_type", "uint8", "uint16", "uint32",
    "uint64",
]  # fmt: skip

bool = dtypes.bool
int8, int16, int32, int64 = dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64
uint8, uint16, uint32, uint64 = dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64
float32, float64 = dtypes.float32, dtypes.float64
complex64, complex128 = dtypes.complex64, dtypes.complex128

# beyond the standard, on devices that have them
float16, bfloat16 = dtypes.float16, dtypes.bfloat16

NAMED: dict[str, DType] = {
    "bool": bool, "int8": int8, "int16": int16, "int32": int32, "int64": int64, "uint8": uint8,
    "uint16": uint16, "uint32": uint32, "uint64": uint64, "float32": float32, "float64": float64,
    "complex64": complex64, "complex128": complex128,
}  # fmt: skip
"""The dtypes of the standard by their names there."""

_NUMBERS = (builtins.bool, int, float, complex)
_SIGNED = frozenset(dtypes.sints)
_UNSIGNED = frozenset(dtypes.uints)
KINDS: dict[str, frozenset[DType]] = {
    "bool": frozenset({bool}),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED | _UNSIGNED,
    "real floating": frozenset(dtypes.floats),
    "complex floating": frozenset(dtypes.complexes),
    "numeric": _SIGNED | _UNSIGNED | frozenset(dtypes.floats) | frozenset(dtypes.complexes),
}
"""What the standard's kinds of dtypes comprise."""


def astype(x: Array, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Array:
    """x converted to `dtype`; floats toward zero to integers. With `copy` it is a new array."""
    x = as_array(x)
    kind = to_dtype(dtype)
    if device is not None:
        x = x.to(device)
    if x.dtype is kind:
        return x.clone() if copy else x
    return x.cast(kind)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether promotion may make the one of the other: `result_type(from_, to)` is `to`."""
    source = from_.dtype if isinstance(from_, Tensor) else to_dtype(from_)
    target = to_dtype(to)
    floating = KINDS["real floating"] | KINDS["complex floating"]
    if target in floating and source not in floating:
        return False
    if source is bool and target is not bool:
        return False
    return least_upper_dtype(source, target) is target


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a float dtype, of the parts of a complex dtype, or of an array's.

    :raises DTypeError: for any other.
    """
    kind = type.dtype if isinstance(type, Tensor) else to_dtype(type)
    return dtypes.finfo(dtypes.real_dtype(kind))


def iinfo(type: Any, /) -> IntInfo:
    """Limits of an integer dtype, or of an array's. :raises DTypeError: for any other."""
    return dtypes.iinfo(type.dtype if isinstance(type, Tensor) else to_dtype(type))


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is of a kind: a dtype, a kind's name, or a tuple of these.

    :raises ArgumentError: for a name that is no kind.
    """
    own = to_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(own, each) for each in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ArgumentError(
                f"there is no kind {kind!r} of dtypes",
                asked=f"isdtype({own!r}, {kind!r})",
                try_=", ".join(map(repr, KINDS)),
            )
        return own in KINDS[kind]
    return own is to_dtype(kind)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that comes out where these go in; Python numbers are weak.

    :raises ArgumentError: for nothing at all, or numbers alone.
    """
    numbers = [x for x in arrays_and_dtypes if isinstance(x, _NUMBERS)]
    rest = [x for x in arrays_and_dtypes if not isinstance(x, _NUMBERS)]
    if not rest:
        raise ArgumentError(
            "a result has the type of arrays or dtypes",
            asked=f"result_type{arrays_and_dtypes!r}",
            try_="result_type(x1, x2), of at least one array or dtype",
        )
    kinds = [x.dtype if isinstance(x, Tensor) else to_dtype(x) for x in rest]
    for kind in kinds:
        if kind is dtypes.void:
            raise DTypeError("void holds nothing", asked="result_type of void")
    common = least_upper_dtype(*kinds)
    for number in numbers:
        common = promote_with_scalar(common, number)
    return common
