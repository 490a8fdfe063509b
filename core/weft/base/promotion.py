"""Type promotion: the dtype of an operation on operands of several dtypes.
Also: implicit conversion.

Arrays promote as the array API standard says; where it leaves a mix open, as PyTorch does: an
integer with a float gives that float unwidened, two float formats of which neither holds the other
give the least one that holds both, uint64 with a signed integer gives float32. Python scalars are
weak: they change the kind (bool < int < float < complex) and never the width. What is stored as an
image counts as the floats that are read from it.

Each dtype knows its *uppers*, the dtypes that a mix with it may become. A mix becomes the lowest
dtype that all its parts have as an upper, so neither order nor grouping of the parts matters.

Source: Python array API standard, section "Type Promotion Rules".
"""

from __future__ import annotations

import functools

from weft.base.dtype import DType, ImageDType, dtypes
from weft.base.errors import DTypeError

_SIGNED = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_UNSIGNED = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
_FLOAT_UPPERS: dict[DType, frozenset[DType]] = {
    dtypes.fp8e4m3: frozenset(dtypes.floats) - {dtypes.fp8e5m2},
    dtypes.fp8e5m2: frozenset(dtypes.floats) - {dtypes.fp8e4m3},
    dtypes.float16: frozenset((dtypes.float16, dtypes.float32, dtypes.float64)),
    dtypes.bfloat16: frozenset((dtypes.bfloat16, dtypes.float32, dtypes.float64)),
    dtypes.float32: frozenset((dtypes.float32, dtypes.float64)),
    dtypes.float64: frozenset((dtypes.float64,)),
}


def _build_uppers() -> dict[DType, frozenset[DType]]:
    floats = frozenset(dtypes.floats)
    uppers: dict[DType, frozenset[DType]] = {dtypes.bool: frozenset(dtypes.all), **_FLOAT_UPPERS}
    for place, dtype in enumerate(_SIGNED):
        uppers[dtype] = floats.union(_SIGNED[place:])
    uppers[dtypes.bool] |= frozenset(dtypes.complexes)
    for place, dtype in enumerate(_UNSIGNED):
        # An unsigned integer fits the signed ones that are wider, not the one of its own width.
        uppers[dtype] = floats.union(_UNSIGNED[place:], _SIGNED[place + 1 :])
    for dtype in dtypes.ints:
        uppers[dtype] |= frozenset(dtypes.complexes)
    for dtype in dtypes.floats:  # both parts hold the float
        wide = {dtypes.complex128} if dtype is dtypes.float64 else set(dtypes.complexes)
        uppers[dtype] = uppers[dtype] | wide
    uppers[dtypes.complex64] = frozenset(dtypes.complexes)
    uppers[dtypes.complex128] = frozenset((dtypes.complex128,))
    return uppers


_UPPERS = _build_uppers()


def read_as(dtype: DType) -> DType:
    """The dtype that values of `dtype` are computed with: of an image its base, else itself."""
    return dtype.base if isinstance(dtype, ImageDType) else dtype


def _uppers(dtype: DType) -> frozenset[DType]:
    try:
        return _UPPERS[read_as(dtype)]
    except KeyError:
        raise DTypeError(
            f"{dtype!r} does not promote",
            asked=f"the promotion of {dtype!r}",
            because="only scalar dtypes that hold a number do",
            try_=f"{dtype.scalar()!r}" if dtype.scalar() in _UPPERS else None,
        ) from None


@functools.cache
def least_upper_dtype(*given: DType) -> DType:
    """The dtype of a mix of arrays of the given dtypes; the order does not matter.

    DTypeError for void, vectors and pointers (unless all are the same) and for no dtype at all.
    """
    kinds = {read_as(dtype) for dtype in given}
    if len(kinds) == 1:
        return kinds.pop()
    if not kinds:
        raise DTypeError("no dtypes to promote", asked="least_upper_dtype()")
    common = functools.reduce(frozenset[DType].intersection, map(_uppers, kinds))
    least = min(common, key=lambda dtype: dtype.priority)
    if dtypes.is_float(least) and not any(dtypes.is_float(dtype) for dtype in kinds):
        # Signed integers with uint64: no integer holds both, and the narrowest float would lose
        # nearly all of it.
        return dtypes.float32
    return least


def least_upper_float(dtype: DType) -> DType:
    """The dtype in which a function of real numbers answers: a float is kept, others default."""
    return read_as(dtype) if dtypes.is_float(dtype) else dtypes.default_float


@functools.cache
def can_safe_cast(source: DType, target: DType) -> bool:
    """True where every value of `source`, infinities and NaN included, is a value of `target`."""
    if source is target or source is dtypes.bool:
        return source is target or target in _UPPERS
    if source not in _UPPERS or target not in _UPPERS or dtypes.is_bool(target):
        return False
    if dtypes.is_int(source):
        if dtypes.is_int(target):
            return target.min <= source.min and source.max <= target.max
        # A float holds every integer of up to mantissa + 1 binary digits.
        digits = source.bitsize - (0 if dtypes.is_unsigned(source) else 1)
        return digits <= dtypes.finfo(dtypes.real_dtype(target)).mantissa_bits + 1
    if dtypes.is_complex(source):
        return target in _UPPERS[source]
    return dtypes.real_dtype(target) in _FLOAT_UPPERS[source]


def sum_dtype(dtype: DType) -> DType:
    """The dtype of a sum or a product of elements of `dtype`, as in NumPy.

    bool and signed integers -> int64; unsigned ones -> uint64; others stay as they are.
    """
    if dtypes.is_float(dtype) or dtypes.is_complex(dtype):
        return read_as(dtype)
    return dtypes.uint64 if dtypes.is_unsigned(dtype) else dtypes.int64


def sum_acc_dtype(dtype: DType) -> DType:
    """The accumulator dtype of products of matrices, means and windows, which give another dtype.

    bool, int8, int16 -> int32; uint8, uint16 -> uint32; half, bfloat16 and fp8 -> float32; the
    others accumulate in themselves.
    """
    if dtypes.is_float(dtype):
        return least_upper_dtype(dtype, dtypes.float32)
    if dtypes.is_unsigned(dtype):
        return least_upper_dtype(dtype, dtypes.uint32)
    return least_upper_dtype(dtype, dtypes.int32)


def promote_with_scalar(dtype: DType, scalar: object) -> DType:
    """The dtype of an array of `dtype` mixed with a Python bool, int, float or complex.

    The scalar is weak: it wins only where it is of a higher kind, and then with the dtype that
    `dtypes.from_py` gives it. DTypeError for anything that is not a Python number.
    """
    if isinstance(scalar, bool):
        _uppers(dtype)
        return read_as(dtype)
    if isinstance(scalar, int):
        return dtypes.from_py(scalar) if dtypes.is_bool(dtype) else least_upper_dtype(dtype)
    if dtypes.is_complex(dtype) and isinstance(scalar, (float, complex)):
        return dtype
    if isinstance(scalar, float):
        return least_upper_float(dtype)
    if isinstance(scalar, complex):
        return dtypes.complex_dtype(dtype)
    raise DTypeError(
        f"a {type(scalar).__name__} is not a Python number",
        asked=f"{dtype!r} with {scalar!r}",
        because="only bool, int, float and complex are weak scalars",
    )
