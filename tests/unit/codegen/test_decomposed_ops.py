"""Every operation that a target lacks, made of others, means what weft.uop.evaluate says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from helpers.array_evaluation import evaluate_arrays
from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.codegen.decomposition import _Decomposer
from weft.codegen.decomposition.ops import Rules
from weft.device.capabilities import COMMON_DTYPES
from weft.uop import GroupOp, Ops, UOp, Var, exec_alu

KINDS = {
    dtypes.float: np.float32, dtypes.double: np.float64, dtypes.int: np.int32,
    dtypes.uint: np.uint32, dtypes.long: np.int64, dtypes.ulong: np.uint64, dtypes.char: np.int8,
}  # fmt: skip


def decomposed(node, *lacking):
    wanted = frozenset(lacking) | {Ops.MOD, Ops.SHL, Ops.SHR}
    rules = Rules(frozenset(GroupOp.ALU - set(lacking)), COMMON_DTYPES)
    return _Decomposer(rules, wanted).run(node)


def arguments(*kinds):
    return tuple(
        UOp(Ops.DEFINE_VAR, kind, (), Var(f"x{i}", kind.min, kind.max))
        for i, kind in enumerate(kinds)
    )


def numbers(dtype, count, seed):
    rng = np.random.default_rng(seed)
    if dtypes.is_float(dtype):
        edges = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -0.5, 2.5, 1e20]
        return np.array([*edges, *rng.normal(0, 10, count)], KINDS[dtype])
    low, high = dtype.min, dtype.max
    some = rng.integers(low, high, count, dtype=KINDS[dtype], endpoint=True)
    edges = [v for v in (0, 1, 2, 3, -1, -2, low, high, 31, 32, 64) if low <= v <= high]
    return np.concatenate([np.array(edges, KINDS[dtype]), some])


def check(op, *kinds, second=None):
    dtype = dtypes.bool if op in GroupOp.Comparison else kinds[0]
    values = arguments(*kinds)
    tree = decomposed(UOp(op, dtype, values), op)
    assert op not in {node.op for node in tree.toposort()}
    columns = [numbers(kind, 40, i) for i, kind in enumerate(kinds)]
    if second is not None:
        columns[1] = second
    grid = [g.ravel() for g in np.meshgrid(*columns)]
    got = evaluate_arrays(tree, dict(zip(values, grid)))
    with np.errstate(all="ignore"):
        want = [exec_alu(op, dtype, [v.item() for v in row]) for row in zip(*grid)]
    for g, w, row in zip(got.tolist(), want, zip(*grid)):
        same = (g != g and w != w) or (g == w and math.copysign(1, g) == math.copysign(1, w))
        assert same, (op, row, g, w)


@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.int, dtypes.uint])
def test_max(dtype):
    node = UOp(Ops.MAX, dtype, arguments(dtype, dtype))
    tree = decomposed(node, Ops.MAX)
    x, y = node.src
    a, b = (g.ravel() for g in np.meshgrid(numbers(dtype, 30, 0), numbers(dtype, 30, 1)))
    got = evaluate_arrays(tree, {x: a, y: b})
    np.testing.assert_array_equal(got, np.maximum(a, b))


@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.int, dtypes.long])
def test_negation_and_subtraction(dtype):
    check(Ops.NEG, dtype)
    check(Ops.SUB, dtype, dtype)


@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.double])
def test_division_truncation_equality(dtype):
    check(Ops.RECIP, dtype)
    check(Ops.TRUNC, dtype)
    check(Ops.CMPEQ, dtype, dtype)


@pytest.mark.parametrize("dtype", [dtypes.int, dtypes.uint, dtypes.char])
def test_remainder(dtype):
    check(Ops.MOD, dtype, dtype)


@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.double])
def test_remainder_of_floats(dtype):
    x, y = arguments(dtype, dtype)
    tree = decomposed(UOp(Ops.MOD, dtype, (x, y)))
    rng = np.random.default_rng(0)
    a = (rng.normal(0, 1, 5000) * 10.0 ** rng.integers(0, 5, 5000)).astype(KINDS[dtype])
    b = (rng.normal(0, 1, 5000) * 10.0 ** rng.integers(-2, 3, 5000)).astype(KINDS[dtype])
    if dtype is dtypes.double:  # what multiplies and adds here has 64 digits: enough for these
        b = a / rng.uniform(0.1, 1000, 5000)
    got = evaluate_arrays(tree, {x: a, y: b})
    np.testing.assert_array_equal(got, np.fmod(a, b))


@pytest.mark.parametrize("dtype", [dtypes.int, dtypes.uint, dtypes.long])
def test_integer_power(dtype):
    check(Ops.POW, dtype, dtype, second=np.array([0, 1, 2, 3, 5, 7, 31], KINDS[dtype]))


def test_integer_power_with_negative_exponents():
    check(Ops.POW, dtypes.int, dtypes.int, second=np.array([-1, -2, -3], np.int32))


@pytest.mark.parametrize("op", [Ops.SHL, Ops.SHR])
@pytest.mark.parametrize("dtype", [dtypes.int, dtypes.uint, dtypes.long, dtypes.ulong])
def test_shifts_beyond_the_width(op, dtype):
    x, n = arguments(dtype, dtype)
    tree = decomposed(UOp(op, dtype, (x, n)))
    values = numbers(dtype, 20, 0)
    low = 0 if dtypes.is_unsigned(dtype) else -1
    amounts = np.array([low + 1, low, 1, 31, 32, 33, 63, 64, 65, 127], KINDS[dtype])
    a, b = (g.ravel() for g in np.meshgrid(values, amounts))
    got = evaluate_arrays(tree, {x: a, n: b}).tolist()
    assert got == [exec_alu(op, dtype, [i, j]) for i, j in zip(a.tolist(), b.tolist())]


def test_shifts_by_a_constant_are_left_alone():
    x = arguments(dtypes.uint)[0]
    node = x << UOp.const(dtypes.uint, 13)
    assert decomposed(node) is node


@pytest.mark.parametrize("kind", [dtypes.float, dtypes.double])
@pytest.mark.parametrize("wide", [True, False])
def test_a_multiply_add_keeps_the_low_bits_of_the_product(kind, wide):
    values = arguments(kind, kind, kind)
    computed = COMMON_DTYPES - (frozenset() if wide else {dtypes.double})
    rules = Rules(frozenset(GroupOp.ALU - {Ops.MULACC}), computed | {kind})
    tree = _Decomposer(rules, frozenset({Ops.MULACC})).run(UOp(Ops.MULACC, kind, values))
    assert Ops.MULACC not in {node.op for node in tree.toposort()}
    rng = np.random.default_rng(3)
    a, b = (rng.normal(0, 1, 500).astype(KINDS[kind]) for _ in range(2))
    product = a * b
    rest = evaluate_arrays(tree, dict(zip(values, (a, b, -product))))
    rows = zip(a.tolist(), b.tolist(), product.tolist())
    exact = [float(Fraction(x) * Fraction(y) - Fraction(p)) for x, y, p in rows]
    np.testing.assert_allclose(rest, exact, rtol=1e-6)


@pytest.mark.parametrize("kind", [dtypes.float, dtypes.double])
def test_a_multiply_add_of_extremes(kind):
    values = arguments(kind, kind, kind)
    tree = decomposed(UOp(Ops.MULACC, kind, values), Ops.MULACC)
    edges = np.array([0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan], KINDS[kind])
    a, b, c = (grid.ravel() for grid in np.meshgrid(edges, edges, edges))
    got = evaluate_arrays(tree, dict(zip(values, (a, b, c))))
    with np.errstate(all="ignore"):
        want = a * b + c
    np.testing.assert_array_equal(got, want)
    numbers_ = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[numbers_]), np.signbit(want[numbers_]))


def test_threefry_is_the_published_function():
    check(Ops.THREEFRY, dtypes.ulong, dtypes.ulong)


def test_missing_operations_are_refused():
    x = arguments(dtypes.float)[0]
    with pytest.raises(CapabilityError) as error:
        decomposed(x.sqrt(), Ops.SQRT)
    assert "SQRT" in error.value.summary


def test_a_rule_may_need_rules():
    # the sine uses multiply-adds, negation and equality; none of them is left
    x = arguments(dtypes.float)[0]
    lacking = (Ops.SIN, Ops.MULACC, Ops.NEG, Ops.CMPEQ, Ops.SUB)
    tree = decomposed(x.sin(), *lacking)
    assert not {node.op for node in tree.toposort()} & set(lacking)
    values = np.linspace(-20, 20, 999, dtype=np.float32)
    np.testing.assert_allclose(evaluate_arrays(tree, {x: values}), np.sin(values), atol=2e-7)
