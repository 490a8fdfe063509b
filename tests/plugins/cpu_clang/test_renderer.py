"""Every operation on every dtype, scalar and vector, against what `weft.uop` says it means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.scalars import to_bits, truncate
from weft.uop import GroupOp, Ops, UOp, exec_alu

NUMBERS = [d for d in dtypes.all if d not in (dtypes.fp8e4m3, dtypes.fp8e5m2)]
UNARY_FLOAT = [Ops.SQRT, Ops.RECIP, Ops.NEG, Ops.TRUNC]
BINARY_FLOAT = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.MAX]
BINARY_INT = [
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.MAX, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL,
    Ops.SHR,
]  # fmt: skip
BINARY_BOOL = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.AND, Ops.OR, Ops.XOR]
COMPARISONS = [Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ]


def binary_ops(dtype):
    if dtypes.is_bool(dtype):
        return BINARY_BOOL + COMPARISONS
    return (BINARY_FLOAT if dtypes.is_float(dtype) else BINARY_INT) + COMPARISONS


def supported(bench, dtype):
    if dtype not in bench.device.capabilities.compute.dtypes:
        pytest.skip(f"this compiler has no {dtype!r}")


def same(found, wanted, dtype):
    if dtypes.is_float(dtype) and math.isnan(wanted):
        return math.isnan(found)
    return to_bits(found, dtype) == to_bits(wanted, dtype)


def check(found, wanted, dtype, inputs, what):
    wrong = [(row, f, w) for row, f, w in zip(zip(*inputs), found, wanted) if not same(f, w, dtype)]
    assert not wrong, f"{what}: (inputs, found, wanted) {wrong[:5]}"


@pytest.mark.parametrize("rules", [True, False], ids=["ruled", "bare"])
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda d: d.name)
def test_binary(bench, values_of, dtype, lanes, rules):
    supported(bench, dtype)
    some = values_of(dtype)
    left, right = zip(*[(a, b) for a in some for b in some])
    shift = [abs(int(b)) % dtype.bitsize for b in right] if dtypes.is_int(dtype) else right
    ops = binary_ops(dtype)

    def build(a, b, c):
        return [a.alu(op, c if op in (Ops.SHL, Ops.SHR) else b) for op in ops]

    results = bench.elementwise(
        [(dtype, left), (dtype, right), (dtype, shift)], build, lanes, rules
    )
    for op, found in zip(ops, results):
        out = dtypes.bool if op in GroupOp.Comparison else dtype
        second = shift if op in (Ops.SHL, Ops.SHR) else right
        wanted = [exec_alu(op, out, pair) for pair in zip(left, second)]
        check(found, wanted, out, (left, second), f"{op.name} {dtype!r}")


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda d: d.name)
def test_unary_and_where(bench, values_of, dtype, lanes):
    supported(bench, dtype)
    some = values_of(dtype)
    ops = UNARY_FLOAT if dtypes.is_float(dtype) else [Ops.NEG]
    flags = [i % 3 == 0 for i in range(len(some))]
    other = some[::-1]

    def build(x, flag, y):
        chosen = flag.alu(Ops.WHERE, x, y)
        return [*(x.alu(op) for op in ops), chosen, x.alu(Ops.CMPLT, y).alu(Ops.WHERE, x, y)]

    *results, chosen, smaller = bench.elementwise(
        [(dtype, some), (dtypes.bool, flags), (dtype, other)], build, lanes
    )
    for op, found in zip(ops, results):
        wanted = [exec_alu(op, dtype, (x,)) for x in some]
        check(found, wanted, dtype, (some,), f"{op.name} {dtype!r}")
    check(chosen, [x if f else y for f, x, y in zip(flags, some, other)], dtype, (some,), "WHERE")
    check(smaller, [x if x < y else y for x, y in zip(some, other)], dtype, (some,), "WHERE <")


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("source", NUMBERS, ids=lambda d: d.name)
def test_cast(bench, values_of, source, lanes):
    supported(bench, source)
    some = values_of(source)
    if source in (
        dtypes.int64,
        dtypes.uint64,
    ):  # halfway between narrow floats, and a little beyond
        some = [*some, (1 << 62) + (1 << 54) + 1, (1 << 62) + (1 << 54), (1 << 62) + (1 << 54) - 1]
    if source is dtypes.float64:
        tie = 1 + 2.0**-11
        some = [
            *some,
            tie,
            tie + 2.0**-40,
            tie - 2.0**-40,
            -tie - 2.0**-50,
            -2147483648.5,
            2.0**-30,
        ]
    known = bench.device.capabilities.compute.dtypes
    targets = [d for d in NUMBERS if d is not source and d in known]
    results = bench.elementwise(
        [(source, some)], lambda x: [x.cast(t.vec(lanes)) for t in targets], lanes
    )
    for target, found in zip(targets, results):
        wanted = [truncate(x, target) for x in some]
        check(found, wanted, target, (some,), f"{source!r} -> {target!r}")


@pytest.mark.parametrize("lanes", [1, 4])
def test_bitcast(bench, values_of, lanes):
    pairs = [
        (dtypes.float32, dtypes.int32), (dtypes.uint32, dtypes.float32),
        (dtypes.float64, dtypes.uint64), (dtypes.int64, dtypes.float64),
        (dtypes.int8, dtypes.uint8), (dtypes.bool, dtypes.uint8),
    ]  # fmt: skip
    for source, target in pairs:
        some = values_of(source)
        (found,) = bench.elementwise(
            [(source, some)], lambda x: [x.bitcast(target.vec(lanes))], lanes
        )
        bits = [to_bits(x, source) for x in some]
        assert [to_bits(x, target) for x in found] == bits or dtypes.is_float(target)
        nans = [math.isnan(x) for x in found] if dtypes.is_float(target) else []
        kept = [to_bits(x, target) == b or n for x, b, n in zip(found, bits, nans)]
        assert all(kept)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=lambda d: d.name)
def test_multiply_add_rounds_once(bench, dtype):
    if Ops.MULACC not in bench.renderer.native_ops:
        pytest.skip("this processor does not fuse")
    a, c = 1 + dtypes.finfo(dtype).eps, -1 - 2 * dtypes.finfo(dtype).eps
    for lanes in (1, 4):
        (found,) = bench.elementwise(
            [(dtype, [a] * 4), (dtype, [c] * 4)], lambda x, y: [x.alu(Ops.MULACC, x, y)], lanes
        )
        assert found == [dtypes.finfo(dtype).eps ** 2] * 4


@pytest.mark.parametrize("lanes", [1, 8])
def test_multiply_add_of_other_dtypes(bench, lanes):
    if Ops.MULACC not in bench.renderer.native_ops:
        pytest.skip("this processor does not fuse")
    for dtype in (dtypes.float16, dtypes.int8, dtypes.int32, dtypes.uint64):
        if dtype not in bench.device.capabilities.compute.dtypes:
            continue
        columns = [[3, 100, 7, 20], [5, 90, -2, 3], [1, 77, 3, 4]]
        if dtype is dtypes.uint64:
            columns[1] = [5, 90, 2, 3]
        inputs = [(dtype, [truncate(x, dtype) for x in column]) for column in columns]
        (found,) = bench.elementwise(inputs, lambda a, b, c: [a.alu(Ops.MULACC, b, c)], lanes)
        assert found == [truncate(a * b + c, dtype) for a, b, c in zip(*(i[1] for i in inputs))]


@pytest.mark.parametrize("lanes", [2, 3, 4, 7, 16])
def test_lanes(bench, lanes):
    """Picking, building and joining lanes, of numbers and of masks, even and odd lengths."""
    rows = 6 * lanes
    numbers = [float(i) - rows / 2 for i in range(rows)]
    last = tuple(reversed(range(lanes)))

    def build(x):
        mask = x.alu(Ops.CMPLT, x.const_like(0.0))
        scalars = [x.gep(i) for i in range(lanes)]
        lanes_of_mask = tuple(mask.gep(i) for i in range(lanes))
        return [
            x.gep(last),
            mask.gep(last),
            UOp(Ops.VECTORIZE, x.dtype, tuple(s.alu(Ops.ADD, s) for s in scalars)),
            UOp(Ops.VECTORIZE, mask.dtype, lanes_of_mask),
            UOp(Ops.CAT, x.dtype, (x.gep(0), x.gep(tuple(range(1, lanes))))),
        ]

    reverse, mask, doubled, same_mask, joined = bench.elementwise(
        [(dtypes.float32, numbers)], build, lanes, rules=False
    )
    chunks = [numbers[i : i + lanes] for i in range(0, rows, lanes)]
    assert reverse == [x for chunk in chunks for x in reversed(chunk)]
    assert mask == [x < 0 for chunk in chunks for x in reversed(chunk)]
    assert doubled == [2 * x for x in numbers]
    assert same_mask == [x < 0 for x in numbers]
    assert joined == numbers


def test_masks_of_different_widths_meet(bench):
    """A byte mask from memory, one of doubles and one of shorts in one condition."""
    flags = [bool(i & 1) for i in range(16)]
    doubles = [float(i) for i in range(16)]
    shorts = list(range(16))

    def build(flag, d, s):
        both = flag.alu(Ops.AND, d.alu(Ops.CMPLT, d.const_like(9.0)))
        three = s.alu(Ops.CMPLT, s.const_like(5)).alu(Ops.OR, both)
        nested = three.alu(Ops.WHERE, flag, both)
        return [both, three, three.alu(Ops.WHERE, d, d.alu(Ops.NEG)), three.cast(s.dtype), nested]

    both, three, chosen, number, nested = bench.elementwise(
        [(dtypes.bool, flags), (dtypes.float64, doubles), (dtypes.int16, shorts)], build, 8
    )
    wanted_both = [f and d < 9 for f, d in zip(flags, doubles)]
    wanted = [s < 5 or b for s, b in zip(shorts, wanted_both)]
    assert (both, three) == (wanted_both, wanted)
    assert chosen == [d if w else -d for d, w in zip(doubles, wanted)]
    assert number == [int(w) for w in wanted]
    assert nested == [f if w else b for w, f, b in zip(wanted, flags, wanted_both)]


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_quotients_of_lanes_are_exact(name):
    """Where rounding is nearest to going wrong: at multiples of the divisor, and next to them."""
    kind, random = np.dtype(name), np.random.default_rng(3)
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    divisors = random.integers(least, most, 1 << 14, kind, endpoint=True).astype(np.int64)
    divisors[:64] = np.tile([least, most, most - 1, 1, 2, 3, 5, 7], 8)
    divisors[divisors == 0] = 1
    multiples = random.integers(0, most // np.abs(divisors) + 1) * divisors
    multiples[:8] = least
    dividends = np.clip(multiples + random.integers(-1, 2, 1 << 14), least, most)
    a, b = dividends.astype(kind), divisors.astype(kind)
    x, y = Tensor(a, device="CPU"), Tensor(b, device="CPU")
    quotients, rests = np.divmod(dividends, divisors)
    np.testing.assert_array_equal((x // y).numpy(), quotients.astype(kind))
    np.testing.assert_array_equal((x % y).numpy(), rests.astype(kind))
    nothing = Tensor(np.zeros_like(b), device="CPU")
    assert not (x // nothing).numpy().any()
