"""How far the formulas are from the truth, in units of the last place."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.array_evaluation import evaluate_arrays
from weft.base.dtype import dtypes
from weft.codegen.decomposition import _Decomposer
from weft.codegen.decomposition.ops import Rules
from weft.device.capabilities import COMMON_DTYPES
from weft.uop import GroupOp, Ops, UOp

LACKING = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.POW})
KINDS = {dtypes.float: np.float32, dtypes.double: np.float64}
INTEGERS = {dtypes.float: np.uint32, dtypes.double: np.uint64}
# largest finite, smallest normal and around it, neighbours of one, borders of exp2's range
SPECIAL = [
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, 0.5, 1e-45, -1e-45, 1.1754944e-38,
    1.17549421e-38, 3.4028235e38, -3.4028235e38, 128.0, 127.99999, -126.0, -149.0, -149.5, -150.0,
    -151.0, 1023.9, 1024.0, -1074.0, -1075.0, 5e-324, 16367173 * 2.0**72, 1.5707964, 3.1415927,
    6.2831855, 1e22, 2.0**120,
]  # fmt: skip


def formula(op, dtype, fused, wide=True, count=1):
    lacking = LACKING if fused else LACKING | {Ops.MULACC}
    computed = COMMON_DTYPES if wide else COMMON_DTYPES - {dtypes.double}
    arguments = [UOp(Ops.DEFINE_VAR, dtype, (), name) for name in ("x", "y")[:count]]
    rules = Rules(frozenset(GroupOp.ALU - lacking), computed)
    return _Decomposer(rules, lacking).run(UOp(op, dtype, tuple(arguments))), arguments


def distance(got, want, kind):
    """In units of the last place of what is right; 0 where both are the same, or both NaN."""
    with np.errstate(all="ignore"):
        rounded = want.astype(kind)
        unit = np.spacing(np.abs(rounded)).astype(np.longdouble)
        unit = np.where(np.isfinite(unit), unit, 1)
        error = np.abs(got.astype(np.longdouble) - want) / unit
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        return np.where(same, 0, np.where(np.isnan(error), np.inf, error))


def samples(dtype, low, high, count=40_000):
    rng = np.random.default_rng(7)
    kind, integer = KINDS[dtype], INTEGERS[dtype]
    bits = rng.integers(0, np.iinfo(integer).max, count, dtype=integer, endpoint=True).view(kind)
    around_one = 1 + rng.uniform(-1e-3, 1e-3, count // 8)
    with np.errstate(all="ignore"):
        return np.concatenate(
            [bits, rng.uniform(low, high, count), around_one, np.array(SPECIAL)]
        ).astype(kind)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.double])
@pytest.mark.parametrize(
    ("op", "function", "low", "high"),
    [(Ops.EXP2, np.exp2, -1080, 1030), (Ops.LOG2, np.log2, 0, 8), (Ops.SIN, np.sin, -100, 100)],
)
def test_within_two_units(op, function, low, high, dtype, fused):
    tree, (x,) = formula(op, dtype, fused)
    values = samples(dtype, low, high)
    got = evaluate_arrays(tree, {x: values})
    with np.errstate(all="ignore"):
        # NumPy's long double sine is not exact for large arguments; its double one is
        exact = values.astype(np.float64 if op is Ops.SIN else np.longdouble)
        want = function(exact).astype(np.longdouble)
    assert distance(got, want, KINDS[dtype]).max() <= 2


@pytest.mark.parametrize("fused", [True, False])
def test_sine_without_doubles(fused):
    tree, (x,) = formula(Ops.SIN, dtypes.float, fused, wide=False)
    assert dtypes.double not in {node.dtype for node in tree.toposort()}
    values = samples(dtypes.float, -100, 100)
    got = evaluate_arrays(tree, {x: values})
    with np.errstate(all="ignore"):
        want = np.sin(values.astype(np.float64)).astype(np.longdouble)
    assert distance(got, want, np.float32).max() <= 2


@pytest.mark.parametrize(("dtype", "limit"), [(dtypes.float, 0.51), (dtypes.double, 2)])
def test_power(dtype, limit):
    tree, (x, y) = formula(Ops.POW, dtype, fused=True, count=2)
    rng = np.random.default_rng(3)
    kind = KINDS[dtype]
    a = rng.uniform(0, 10, 20_000).astype(kind)
    b = rng.uniform(-30, 30, 20_000).astype(kind)
    got = evaluate_arrays(tree, {x: a, y: b})
    want = np.power(a.astype(np.longdouble), b.astype(np.longdouble))
    assert distance(got, want, kind).max() <= limit


@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.double])
def test_special_cases_of_power(dtype):
    tree, (x, y) = formula(Ops.POW, dtype, fused=True, count=2)
    kind = KINDS[dtype]
    special = np.array(
        [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e30, -1e30, 2.5], kind
    )
    a, b = (grid.ravel() for grid in np.meshgrid(special, special))
    got = evaluate_arrays(tree, {x: a, y: b})
    with np.errstate(all="ignore"):
        want = np.power(a.astype(np.float64), b.astype(np.float64)).astype(kind)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(want[got == 0]))
