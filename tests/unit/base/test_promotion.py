"""Promotion: against NumPy where the standard decides, by table where it leaves the mix open."""

from __future__ import annotations

import itertools
import math

import numpy
import pytest

from weft.base.dtype import DType, dtypes
from weft.base.errors import DTypeError
from weft.base.promotion import (
    can_safe_cast,
    least_upper_dtype,
    least_upper_float,
    promote_with_scalar,
    read_as,
    sum_acc_dtype,
)
from weft.base.scalars import from_bits, truncate
from weft.base.settings import settings

NUMPY = {
    dtypes.bool: "bool", dtypes.int8: "int8", dtypes.uint8: "uint8", dtypes.int16: "int16",
    dtypes.uint16: "uint16", dtypes.int32: "int32", dtypes.uint32: "uint32",
    dtypes.int64: "int64", dtypes.uint64: "uint64", dtypes.float16: "float16",
    dtypes.float32: "float32", dtypes.float64: "float64",
}  # fmt: skip
BY_NAME = {name: dtype for dtype, name in NUMPY.items()}


def same_kind_for_the_standard(a: DType, b: DType) -> bool:
    if dtypes.is_float(a) or dtypes.is_float(b):
        return dtypes.is_float(a) == dtypes.is_float(b) or dtypes.bool in (a, b)
    mixed_signs = {dtypes.is_unsigned(d) for d in (a, b) if dtypes.is_int(d)} == {True, False}
    return not (mixed_signs and dtypes.uint64 in (a, b))


@pytest.mark.parametrize("a", NUMPY, ids=repr)
def test_promotion_of_the_standard_equals_numpy(a: DType) -> None:
    compared = 0
    for b in NUMPY:
        if same_kind_for_the_standard(a, b):
            expected = numpy.promote_types(NUMPY[a], NUMPY[b]).name
            assert least_upper_dtype(a, b) is BY_NAME[expected], (a, b)
            compared += 1
    assert compared >= 4


def test_an_integer_never_widens_a_float() -> None:
    for integer, real in itertools.product(dtypes.ints, dtypes.floats):
        assert least_upper_dtype(integer, real) is real is least_upper_dtype(real, integer)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("int8", "uint64"), "float32"),
        (("uint64", "int64"), "float32"),
        (("bfloat16", "half"), "float32"),
        (("fp8e4m3", "fp8e5m2"), "half"),
        (("fp8e4m3", "bfloat16"), "bfloat16"),
        (("fp8e4m3", "fp8e5m2", "bfloat16"), "bfloat16"),
        (("uint64", "int8", "half"), "half"),
        (("uint8", "int8", "uint16"), "int32"),
        (("bool", "fp8e5m2"), "fp8e5m2"),
    ],
)
def test_open_mixes(parts: tuple[str, ...], expected: str) -> None:
    for order in itertools.permutations(parts):
        mix = least_upper_dtype(*(getattr(dtypes, name) for name in order))
        assert mix is getattr(dtypes, expected)


def test_vectors_pointers_and_void_do_not_promote() -> None:
    assert least_upper_dtype(dtypes.int.vec(2), dtypes.int.vec(2)) is dtypes.int.vec(2)
    for odd in (dtypes.int.vec(2), dtypes.int.ptr(2), dtypes.void):
        with pytest.raises(DTypeError):
            least_upper_dtype(odd, dtypes.int)
    with pytest.raises(DTypeError):
        least_upper_dtype()


def test_least_upper_float_follows_the_default() -> None:
    assert least_upper_float(dtypes.int8) is dtypes.float32
    assert least_upper_float(dtypes.half) is dtypes.half
    with settings.override(DEFAULT_FLOAT="bfloat16"):
        assert least_upper_float(dtypes.bool) is dtypes.bfloat16


def values_of(dtype: DType) -> list[bool | int | float]:
    """All values of a short dtype; of a long one those at its edges."""
    if dtype.itemsize == 1 or dtype.bitsize == 16:
        return [from_bits(bits, dtype) for bits in range(1 << dtype.bitsize)]
    if dtypes.is_int(dtype):
        return [dtype.min, dtype.min + 1, 0, 1, dtype.max - 1, dtype.max]
    info = dtypes.finfo(dtype)
    return [info.max, info.smallest_subnormal, 1 + info.eps, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("source", dtypes.all, ids=repr)
def test_a_safe_cast_is_one_that_keeps_every_value(source: DType) -> None:
    values = values_of(source)
    for target in dtypes.all:
        if dtypes.is_float(source) and not dtypes.is_float(target):
            assert not can_safe_cast(source, target)
            continue
        kept = all(
            (got := truncate(value, target)) == value or (got != got and value != value)
            for value in values
        )
        assert can_safe_cast(source, target) == (kept or source is target), target


def test_sums_accumulate_in_wider_types() -> None:
    expected = {
        "bool": "int32", "int8": "int32", "int16": "int32", "int32": "int32", "int64": "int64",
        "uint8": "uint32", "uint16": "uint32", "uint32": "uint32", "uint64": "uint64",
        "fp8e4m3": "float32", "fp8e5m2": "float32", "half": "float32", "bfloat16": "float32",
        "float32": "float32", "float64": "float64",
    }  # fmt: skip
    assert len(expected) == len(dtypes.all)
    for name, wide in expected.items():
        assert sum_acc_dtype(getattr(dtypes, name)) is getattr(dtypes, wide)


def test_python_scalars_are_weak() -> None:
    for dtype in dtypes.all:
        assert promote_with_scalar(dtype, True) is dtype
        is_bool = dtype is dtypes.bool
        assert promote_with_scalar(dtype, 1 << 30) is (dtypes.int32 if is_bool else dtype)
        assert promote_with_scalar(dtype, 1 << 40) is (dtypes.int64 if is_bool else dtype)
        expected = dtype if dtypes.is_float(dtype) else dtypes.float32
        assert promote_with_scalar(dtype, 0.5) is expected
    for odd in ("1", None, [1]):
        with pytest.raises(DTypeError):
            promote_with_scalar(dtypes.int, odd)


def test_an_image_counts_as_the_floats_read_from_it():
    image, half = dtypes.imagef((1, 2, 4)), dtypes.imageh((1, 2, 4))
    assert read_as(half) is dtypes.float32 and read_as(dtypes.int8) is dtypes.int8
    assert least_upper_dtype(image) is least_upper_dtype(image, half) is dtypes.float32
    assert least_upper_dtype(image, dtypes.int8) is dtypes.float32
    assert least_upper_dtype(image, dtypes.float64) is dtypes.float64
    assert least_upper_float(half) is sum_acc_dtype(half) is dtypes.float32
    assert all(promote_with_scalar(image, one) is dtypes.float32 for one in (True, 1, 1.0))
    assert dtypes.is_float(image) and not dtypes.is_int(image)


def test_complex_dtypes():
    small, large = dtypes.complexes
    for dtype in dtypes.all:
        wide = large if dtype is dtypes.float64 else small
        assert least_upper_dtype(dtype, small) is wide
        assert least_upper_dtype(large, dtype) is large
        assert promote_with_scalar(dtype, 1j) is wide
    assert promote_with_scalar(small, 1.5) is promote_with_scalar(small, 1j) is small
    assert can_safe_cast(dtypes.float32, small) and not can_safe_cast(dtypes.float64, small)
    assert can_safe_cast(dtypes.int16, small) and not can_safe_cast(dtypes.int32, small)
    assert can_safe_cast(small, large) and not can_safe_cast(large, small)
    assert not can_safe_cast(small, dtypes.float64)
