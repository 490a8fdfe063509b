"""Values as dtypes hold them: bit-exact against NumPy and ml_dtypes, and the rules for casts."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError
from weft.base.scalars import from_bits, pack, to_bits, truncate, unpack

ml_dtypes = pytest.importorskip("ml_dtypes", reason="it is what the short floats are checked with")

OTHER: dict[DType, Any] = {
    dtypes.fp8e4m3: ml_dtypes.float8_e4m3fn,
    dtypes.fp8e5m2: ml_dtypes.float8_e5m2,
    dtypes.bfloat16: ml_dtypes.bfloat16,
    dtypes.float16: numpy.float16,
    dtypes.float32: numpy.float32,
    dtypes.float64: numpy.float64,
}
SHORT = tuple(dtype for dtype in OTHER if dtype.itemsize <= 2)
UNSIGNED = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}


def identical(a: float, b: float) -> bool:
    """Equal, with 0.0 apart from -0.0, and NaN equal to NaN."""
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.parametrize("dtype", SHORT, ids=repr)
def test_every_bit_pattern_equals_the_other_library(dtype: DType) -> None:
    patterns = numpy.arange(1 << dtype.bitsize, dtype=UNSIGNED[dtype.itemsize])
    with numpy.errstate(invalid="ignore"):
        expected = patterns.view(OTHER[dtype]).astype(numpy.float64).tolist()
    got = unpack(patterns.tobytes(), dtype)
    assert all(map(identical, got, expected))
    # And each value goes back to its pattern; NaN has many patterns and goes to one.
    bits = [to_bits(value, dtype) for value in got]
    assert all(b == p for b, p, v in zip(bits, range(len(bits)), got) if v == v)


@pytest.mark.parametrize("dtype", SHORT, ids=repr)
def test_rounding_of_float32_is_bit_exact(dtype: DType) -> None:
    """Random bit patterns, random sizes, and all midpoints between neighbours with their sides."""
    random = numpy.random.default_rng(7)
    patterns = random.integers(0, 1 << 32, 3000, dtype=numpy.uint32).view(numpy.float32)
    sizes = random.standard_normal(3000) * numpy.exp2(random.integers(-30, 20, 3000))
    step = 1 if dtype.itemsize == 1 else 37
    below = numpy.arange(0, 1 << (dtype.bitsize - 1), step, dtype=UNSIGNED[dtype.itemsize])
    with numpy.errstate(invalid="ignore", over="ignore"):
        low = below.view(OTHER[dtype]).astype(numpy.float64)
        high = (below + 1).astype(below.dtype).view(OTHER[dtype]).astype(numpy.float64)
        middle = ((low + high) / 2).astype(numpy.float32)
        near = [numpy.nextafter(middle, numpy.float32(s)) for s in (-numpy.inf, numpy.inf)]
        edges = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.finfo(numpy.float32).max, 464, 465]
        values = numpy.concatenate([patterns, sizes, middle, *near, -middle, edges])
        values = values.astype(numpy.float32)
        values = values[~numpy.isnan(values)]
        expected = values.astype(OTHER[dtype]).view(UNSIGNED[dtype.itemsize]).tolist()
    got = [to_bits(value, dtype) for value in values.tolist()]
    wrong = [(v, e, g) for v, e, g in zip(values.tolist(), expected, got) if e != g]
    assert not wrong and len(got) > 5000


def test_nan_is_the_quiet_one_with_its_sign() -> None:
    for dtype, bits in (
        (dtypes.fp8e4m3, 0x7F), (dtypes.fp8e5m2, 0x7E), (dtypes.half, 0x7E00),
        (dtypes.bfloat16, 0x7FC0), (dtypes.float, 0x7FC00000),
        (dtypes.double, 0x7FF8000000000000),
    ):  # fmt: skip
        assert to_bits(math.nan, dtype) == bits
        assert to_bits(math.copysign(math.nan, -1.0), dtype) == bits | 1 << (dtype.bitsize - 1)
        assert math.isnan(truncate(math.nan, dtype)) and math.isnan(from_bits(bits, dtype))


def test_too_large_is_infinity_or_nan_where_there_is_none() -> None:
    for dtype in (dtypes.fp8e5m2, dtypes.half, dtypes.bfloat16, dtypes.float):
        assert truncate(1e300, dtype) == math.inf and truncate(-(10**400), dtype) == -math.inf
        assert truncate(math.inf, dtype) == math.inf
        assert truncate(dtypes.finfo(dtype).max, dtype) == dtypes.finfo(dtype).max
    assert truncate(10**400, dtypes.double) == math.inf
    assert truncate(464.0, dtypes.fp8e4m3) == 448.0
    for value in (465.0, 1e300, math.inf, -math.inf, 10**400):
        assert math.isnan(truncate(value, dtypes.fp8e4m3))


def nearest(value: Fraction, dtype: DType) -> float:
    """The definition, in exact arithmetic, of rounding to nearest with ties to even."""
    info = dtypes.finfo(dtype)
    exponent = 1 - info.bias
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - info.mantissa_bits)
    try:
        rounded = float(round(value / unit) * unit)
    except OverflowError:  # beyond what even a double holds
        rounded = math.copysign(math.inf, value)
    if abs(rounded) > info.max:
        return math.copysign(math.inf, rounded) if info.has_infinity else math.nan
    return rounded


@given(st.integers(-(1 << 70), 1 << 70), st.sampled_from(tuple(OTHER)))
def test_integers_are_rounded_once(value: int, dtype: DType) -> None:
    assert identical(truncate(value, dtype), nearest(Fraction(value), dtype))


def test_an_integer_just_above_a_tie_is_not_rounded_twice() -> None:
    tie = (1 << 60) + (1 << 36)  # halfway between two float32 numbers
    assert truncate(tie, dtypes.float) == 2.0**60
    assert truncate(tie + 1, dtypes.float) == 2.0**60 + 2.0**37
    assert truncate(-tie - 1, dtypes.float) == -(2.0**60) - 2.0**37


@given(st.floats(width=64) | st.floats(-1e6, 1e6) | st.floats(-1e-6, 1e-6), st.sampled_from(SHORT))
def test_doubles_are_rounded_once_and_stay_put(value: float, dtype: DType) -> None:
    got = truncate(value, dtype)
    if math.isfinite(value):
        expected = nearest(Fraction(value), dtype)
        assert got == expected or (got != got and expected != expected)
    assert identical(truncate(got, dtype), got)
    assert identical(from_bits(to_bits(got, dtype), dtype), got)


@given(st.integers(-(1 << 80), 1 << 80), st.sampled_from(dtypes.ints))
def test_integers_wrap(value: int, dtype: DType) -> None:
    got = truncate(value, dtype)
    assert dtype.min <= got <= dtype.max and (got - value) % (1 << dtype.bitsize) == 0
    assert to_bits(value, dtype) == value % (1 << dtype.bitsize)
    assert from_bits(to_bits(value, dtype), dtype) == got


INT_MIN, LONG_MIN = -(1 << 31), -(1 << 63)


@pytest.mark.parametrize(
    ("value", "char", "uchar", "int_", "uint", "long", "ulong"),
    [
        (300.7, 44, 44, 300, 300, 300, 300),
        (-300.7, -44, 212, -300, 2**32 - 300, -300, 2**64 - 300),
        (-0.9, 0, 0, 0, 0, 0, 0),
        (2.0**31, 0, 0, INT_MIN, 2**31, 2**31, 2**31),
        (2.0**40 + 5, 0, 0, INT_MIN, 5, 2**40 + 5, 2**40 + 5),
        (2.0**63, 0, 0, INT_MIN, 0, LONG_MIN, 2**63),
        (2.0**64 - 2048, 0, 0, INT_MIN, 0, LONG_MIN, 2**64 - 2048),
        (2.0**64, 0, 0, INT_MIN, 0, LONG_MIN, 2**63),
        (-(2.0**63), 0, 0, INT_MIN, 0, LONG_MIN, 2**63),
        (-1e300, 0, 0, INT_MIN, 0, LONG_MIN, 2**63),
        (math.nan, 0, 0, INT_MIN, 0, LONG_MIN, 2**63),
        (math.inf, 0, 0, INT_MIN, 0, LONG_MIN, 2**63),
    ],
)
def test_floats_go_to_integers_through_a_wide_one(
    value: float, char: int, uchar: int, int_: int, uint: int, long: int, ulong: int
) -> None:
    names = ("int8", "uint8", "int32", "uint32", "int64", "uint64")
    got = tuple(truncate(value, getattr(dtypes, name)) for name in names)
    assert got == (char, uchar, int_, uint, long, ulong)


def test_bool_is_anything_but_zero() -> None:
    for value in (1, 256, -1, 0.1, math.nan, math.inf):
        assert truncate(value, dtypes.bool) is True
    assert truncate(-0.0, dtypes.bool) is False and to_bits(2, dtypes.bool) == 1
    assert from_bits(0, dtypes.bool) is False and unpack(b"\x00\x01\x07", dtypes.bool) == [
        False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", dtypes.all, ids=repr)
def test_pack_and_unpack_are_memory(dtype: DType) -> None:
    values = [0, 1, 1, 0, 1] if dtype is dtypes.bool else [0, 1, 2, 3.5, -1]
    kept = [truncate(value, dtype) for value in values]
    data = pack(values, dtype)
    assert len(data) == 5 * dtype.itemsize and unpack(data, dtype) == kept
    assert unpack(memoryview(bytearray(data)), dtype) == kept
    joined = b"".join(to_bits(v, dtype).to_bytes(dtype.itemsize, "little") for v in values)
    assert data == joined and pack([], dtype) == b"" and unpack(b"", dtype) == []
    assert all(type(v) is type(dtypes.as_const(v, dtype)) for v in kept)


def test_numpy_scalars_are_numbers() -> None:
    for dtype in dtypes.all:
        for value in (numpy.float32(1.5), numpy.int64(-1), numpy.uint64(2**63), OTHER[SHORT[0]](2)):
            plain = int(value) if isinstance(value, numpy.integer) else float(value)
            got = truncate(value, dtype)
            assert got == truncate(plain, dtype) or got != got
            assert type(got) in (bool, int, float)


def test_non_numbers_are_refused() -> None:
    for value in ("1", None, [1], 1j):
        for dtype in dtypes.all:
            with pytest.raises(DTypeError):
                truncate(value, dtype)
    for odd in (dtypes.void, dtypes.int.vec(2), dtypes.int.ptr(1)):
        for call in (lambda d=odd: truncate(1, d), lambda d=odd: pack([1], d),
                     lambda d=odd: unpack(b"1234", d), lambda d=odd: to_bits(1, d)):  # fmt: skip
            with pytest.raises(DTypeError):
                call()
    with pytest.raises(ArgumentError):
        from_bits(256, dtypes.uint8)
    with pytest.raises(ArgumentError):
        unpack(b"123", dtypes.half)
