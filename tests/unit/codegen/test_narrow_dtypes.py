"""Floats that a target lacks are the same bits as weft.base.scalars makes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.array_evaluation import evaluate_arrays
from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.base.scalars import from_bits, to_bits
from weft.codegen.decomposition.dtypes import _Narrow, decoded, encoded, run
from weft.uop import Ops, UOp

NARROW = [dtypes.half, dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2]


def argument(dtype):
    return UOp(Ops.DEFINE_VAR, dtype, (), "x")


def values_near(dtype):
    """Random floats, every value of the dtype, and the ties between neighbours."""
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << 32, 3000, dtype=np.uint32).view(np.float32)
    count = min(1 << (8 * dtype.itemsize), 1 << 16)
    step = 7 if count == 1 << 16 else 1
    own = np.array([from_bits(i, dtype) for i in range(0, count, step)], np.float32)
    finite = np.sort(own[np.isfinite(own)])
    ties = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
    scaled = rng.normal(0, 1, 2000) * 10.0 ** rng.integers(-8, 6, 2000)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 57344, 61440, 65504, 65519, 65520]
    with np.errstate(all="ignore"):
        return np.concatenate([bits, own, ties, scaled, edges]).astype(np.float32)


@pytest.mark.parametrize("dtype", NARROW)
def test_encoding_is_that_of_scalars(dtype):
    x = argument(dtypes.float)
    values = values_near(dtype)
    got = evaluate_arrays(encoded(x, dtype), {x: values})
    want = [to_bits(float(value), dtype) for value in values]
    # NaN has one pattern with either sign
    wrong = [
        (value, g, w) for value, g, w in zip(values, got.tolist(), want)
        if g != w and not math.isnan(value)
    ]  # fmt: skip
    assert not wrong[:5]
    assert all(math.isnan(from_bits(g, dtype)) for v, g in zip(values, got.tolist()) if v != v)


@pytest.mark.parametrize("dtype", NARROW)
def test_decoding_is_that_of_scalars(dtype):
    stored = dtypes.uchar if dtype.itemsize == 1 else dtypes.ushort
    kind = np.uint8 if dtype.itemsize == 1 else np.uint16
    x = argument(stored)
    bits = np.arange(1 << (8 * dtype.itemsize)).astype(kind)
    got = evaluate_arrays(decoded(x, dtype), {x: bits})
    want = np.array([from_bits(int(b), dtype) for b in bits], np.float32)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(want[got == 0]))


@pytest.mark.parametrize("dtype", NARROW)
def test_a_cast_of_float64_rounds_once(dtype):
    x = argument(dtypes.double)
    narrow = _Narrow(frozenset(NARROW), wide=True)
    near = values_near(dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        values = np.concatenate([near, near * (1 + 1e-12), near * (1 - 1e-12), [1e300]])
    values = values[~np.isnan(values)]
    got = evaluate_arrays(encoded(narrow.as_single(x), dtype), {x: values}).tolist()
    want = [to_bits(value.item(), dtype) for value in values]
    assert [(v, g, w) for v, g, w in zip(values, got, want) if g != w][:5] == []


def integers_near_ties(given):
    """Random integers of every magnitude; bfloat16's ties, exactly and one off."""
    rng = np.random.default_rng(2)
    low, high = dtypes.min(given), dtypes.max(given)
    drawn = [int(rng.integers(0, 1 << 63)) >> int(shift) for shift in rng.integers(0, 63, 2000)]
    ties = [
        (2 * int(digits) + 1 << int(shift)) + int(off)
        for digits, shift, off in zip(
            rng.integers(1 << 7, 1 << 8, 4000), rng.integers(0, 56, 4000), rng.integers(-1, 2, 4000)
        )
    ]
    found = [sign * value for value in [*drawn, *ties, low, high] for sign in (1, -1)]
    return [value for value in found if low <= value <= high]


def bits_of_integer(value, dtype):
    """The bits of the nearest number, ties to even, in integers alone."""
    digits = dtypes.finfo(dtype).mantissa_bits + 1
    size = abs(value)
    cut = max(size.bit_length() - digits, 0)
    kept, rest, half = size >> cut, size & ((1 << cut) - 1), (1 << cut) >> 1
    kept += cut > 0 and (rest > half or (rest == half and kept & 1))
    return to_bits(math.copysign(math.ldexp(kept, cut), value), dtype)


@pytest.mark.parametrize("wide", [True, False], ids=["float64", "no float64"])
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("given", [dtypes.int, dtypes.uint, dtypes.long, dtypes.ulong])
def test_a_cast_of_integers_rounds_once(dtype, given, wide):
    x = argument(given)
    narrow = _Narrow(frozenset(NARROW), wide)
    values = integers_near_ties(given)
    held = np.array(values, given.name)
    got = evaluate_arrays(encoded(narrow.as_single(x), dtype), {x: held}).tolist()
    want = [bits_of_integer(value, dtype) for value in values]
    assert [(v, g, w) for v, g, w in zip(values, got, want) if g != w][:5] == []


def test_a_kernel_of_native_dtypes_is_left_alone():
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), 0)
    zero = UOp.const(dtypes.int, 0)
    sink = UOp.sink(pointer.index(zero).store(UOp.const(dtypes.float, 1.0)))
    assert run(sink, frozenset({dtypes.float, dtypes.int})) is sink


def test_other_dtypes_are_refused_by_name():
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.double.ptr(4), (), 0)
    zero = UOp.const(dtypes.int, 0)
    sink = UOp.sink(pointer.index(zero).store(UOp.const(dtypes.double, 1.0)))
    with pytest.raises(CapabilityError) as error:
        run(sink, frozenset({dtypes.float, dtypes.int}))
    assert "double" in error.value.summary


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("other", [0.0, -0.0, 1.5])
def test_a_closed_gate_gives_the_bits_of_the_alternative(dtype, other):
    """Of -0.0 as well, which compares equal to the 0 whose bits are all clear."""
    pointer = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(4), (), 0)
    gate = UOp(Ops.DEFINE_VAR, dtypes.bool, (), "gate")
    place = UOp(Ops.INDEX, pointer.dtype, (pointer, UOp.const(dtypes.int, 0), gate))
    load = UOp(Ops.LOAD, dtype, (place, UOp.const(dtype, other)))
    computed = frozenset({dtypes.bool, dtypes.int, dtypes.float})
    sink = run(UOp.sink(pointer.index(UOp.const(dtypes.int, 1)).store(load)), computed)
    (stored,) = [node.src[1] for node in sink.toposort() if node.op is Ops.LOAD]
    assert stored.simplify().arg == to_bits(other, dtype)
