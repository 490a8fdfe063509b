"""The least and greatest value of a node."""

import itertools
import math

import pytest

from weft.base.dtype import dtypes
from weft.uop import Ops, UOp, Variable
from weft.uop.bounds import bounds_of, whole_range
from weft.uop.evaluate import exec_alu

INTERVALS = [(0, 3), (-2, 2), (-4, -1), (1, 5), (3, 3), (0, 0)]
OPS = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.MAX, Ops.AND, Ops.OR, Ops.XOR, Ops.CMPLT,
       Ops.CMPNE, Ops.CMPEQ]  # fmt: skip
EXACT = {Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}


@pytest.mark.parametrize("op", OPS)
def test_every_value_is_inside_and_simple_ops_are_exact(op):
    for (a, b), (c, d) in itertools.product(INTERVALS, INTERVALS):
        x, y = Variable("x", a, b), Variable("y", c, d)
        node = x.alu(op, y)
        found = [exec_alu(op, node.dtype, (i, j)) for i in range(a, b + 1) for j in range(c, d + 1)]
        low, high = bounds_of(node)
        assert low <= min(found) and max(found) <= high
        if op in EXACT:
            assert (low, high) == (min(found), max(found))


def test_leaves():
    assert bounds_of(UOp.const(dtypes.int, 7)) == (7, 7)
    assert bounds_of(UOp.range(6, 0)) == (0, 5)
    assert bounds_of(UOp.range(Variable("n", 1, 9), 0)) == (0, 8)
    assert bounds_of(UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 4),), "gidx0")) == (0, 3)
    assert bounds_of(Variable("n", 1, 9).bind(4)) == (1, 9)


def test_overflow_gives_the_whole_range():
    big = Variable("big", 0, dtypes.int.max)
    assert bounds_of(big + 1) == (dtypes.int.min, dtypes.int.max)
    assert bounds_of(big * 2 - big) == (dtypes.int.min, dtypes.int.max)
    assert bounds_of(big - 1) == (-1, dtypes.int.max - 1)


def test_floats_are_known_only_as_constants():
    assert bounds_of(UOp.const(dtypes.float, 2.5)) == (2.5, 2.5)
    assert bounds_of(UOp.const(dtypes.float, 2.5) + 1.0) == (-math.inf, math.inf)
    assert bounds_of(UOp.const(dtypes.float, math.nan)) == (-math.inf, math.inf)


def test_choices_casts_shifts_and_lanes():
    x = Variable("x", 2, 5)
    assert bounds_of((x < 9).where(x, x * 10)) == (2, 5)
    assert bounds_of((x < 4).where(x, x * 10)) == (2, 50)
    assert bounds_of(x.cast(dtypes.long)) == (2, 5)
    assert bounds_of((x * 100).cast(dtypes.uchar)) == (0, 255)
    assert bounds_of(x.cast(dtypes.bool)) == (True, True)
    assert bounds_of(x << 2) == (8, 20) and bounds_of(x >> 1) == (1, 2)
    assert bounds_of(UOp(Ops.VECTORIZE, dtypes.int.vec(2), (x, x + 7))) == (2, 12)
    assert bounds_of(-x) == (-5, -2)


def test_nodes_show_their_bounds():
    node = Variable("x", 2, 5) + 1
    assert (node.vmin, node.vmax) == (3, 6)


def test_whole_ranges():
    assert whole_range(dtypes.uchar) == (0, 255)
    assert whole_range(dtypes.bool) == (False, True)
    assert whole_range(dtypes.float) == (-math.inf, math.inf)


def test_deep_graphs():
    node = Variable("x", 0, 1)
    for _ in range(30000):
        node = node.maximum(1)
    assert bounds_of(node) == (1, 1)
