"""Identities of every dtype, and the floats they must not touch."""

import math

import pytest

from weft.base.dtype import dtypes
from weft.uop import Ops, UOp, graph_rewrite
from weft.uop.symbolic import symbolic_simple


def load(dtype, slot=0):
    pointer = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(4), (), slot)
    return UOp(Ops.LOAD, dtype, (pointer.index(UOp.const(dtypes.int, 0)),))


f, i, u, p = load(dtypes.float), load(dtypes.int), load(dtypes.uint), load(dtypes.bool)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (f * 1.0, f),
        (f / 1.0, f),
        (-(-f), f),
        (f + -0.0, f),
        (f - 0.0, f),
        (i + 0, i),
        (0 + i, i),
        (i - 0, i),
        (i - i, i.const_like(0)),
        (i * 1, i),
        (i * 0, i.const_like(0)),
        (i // 1, i),
        (i // -1, -i),
        (i % 1, i.const_like(0)),
        (i ^ i, i.const_like(0)),
        (i ^ 0, i),
        (i | 0, i),
        (i & i, i),
        (u << 0, u),
        (i.maximum(i), i),
        (i < i, UOp.const(dtypes.bool, False)),
        (p & True, p),
        (p | True, UOp.const(dtypes.bool, True)),
        (p & False, UOp.const(dtypes.bool, False)),
        (p.ne(False), p),
        (p.logical_not().logical_not(), p),
        (p.where(f, f), f),
        (UOp.const(dtypes.bool, True).where(f, f * 2), f),
        (i + 3 + 4, i + 7),
        (u * 3 * 4, u * 12),
        (i.cast(dtypes.long).cast(dtypes.short), i.cast(dtypes.short)),
        (f.bitcast(dtypes.int).bitcast(dtypes.float), f),
        (UOp.const(dtypes.uchar, 200) + 100, UOp.const(dtypes.uchar, 44)),
        (UOp.const(dtypes.float, 2.5).cast(dtypes.int), UOp.const(dtypes.int, 2)),
        (UOp.const(dtypes.int, 3).cast(dtypes.float), UOp.const(dtypes.float, 3.0)),
        (UOp.const(dtypes.float, 1.0).bitcast(dtypes.uint), UOp.const(dtypes.uint, 0x3F800000)),
    ],
)
def test_identities(node, expected):
    assert node.simplify() is expected
    assert graph_rewrite(node, symbolic_simple) is expected


@pytest.mark.parametrize(
    "node",
    [
        f * 0.0,  # NaN and infinity stay
        f + 0.0,  # -0.0 becomes 0.0
        f - f,  # NaN and infinity give NaN
        f / f,
        f.ne(f),  # the test for NaN
        f < f + 1,
        f + 1.0 + 2.0,  # rounded twice
        i.cast(dtypes.float).cast(dtypes.int),  # loses bits
        i.cast(dtypes.short).cast(dtypes.long),  # wraps on the way
        UOp.const(dtypes.float, math.inf).cast(dtypes.int),
    ],
)
def test_equations_that_are_no_identities(node):
    assert node.simplify() is node


def test_nan_constants_fold_to_nan():
    folded = (UOp.const(dtypes.float, math.nan) + 1.0).simplify()
    assert folded.op is Ops.CONST and math.isnan(folded.arg)


def test_lanes():
    pair = UOp(Ops.VECTORIZE, dtypes.float.vec(2), (f, f * 2))
    assert pair.gep(0).simplify() is f
    assert pair.gep((1, 0)).simplify() is UOp(Ops.VECTORIZE, dtypes.float.vec(2), (f * 2, f))
    assert UOp.const(dtypes.int, (4, 5)).gep(1).simplify() is UOp.const(dtypes.int, 5)
