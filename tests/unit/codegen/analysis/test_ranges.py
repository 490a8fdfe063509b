"""The loops around a node, at any depth and in any order of queries."""

from weft.base.dtype import dtypes
from weft.codegen.analysis.ranges import Accumulate, cache_ranges, ranges_of
from weft.uop import Ops, UOp


def _sum_of(values, loops):
    return UOp(Ops.REDUCE, dtypes.float, (*values, *loops), Accumulate(Ops.ADD, len(values)))


def test_depth_is_no_limit():
    loop = UOp.range(7, 1001)
    node = loop
    for _ in range(5000):
        node = node + 1
    assert ranges_of(node) == {loop}


def test_closed_loops_are_not_depended_on():
    outer, inner = UOp.range(5, 1002), UOp.range(3, 1003)
    value = (outer * 3 + inner).cast(dtypes.float)
    total = _sum_of((value,), (inner,))
    assert (ranges_of(value), ranges_of(total)) == ({outer, inner}, {outer})
    # the end of a closed loop may depend on one that stays
    short = UOp.range(outer + 1, 1004)
    assert ranges_of(_sum_of((short.cast(dtypes.float),), (short,))) == {outer}


def test_cached_ranges_equal_computed_ranges():
    outer, inner = UOp.range(5, 1005), UOp.range(4, 1006)
    total = _sum_of(((outer * inner).cast(dtypes.float),), (inner,))
    root = UOp.sink(total + 1.5, outer)
    nodes = list(root.toposort())
    cache_ranges(nodes)
    found = [ranges_of(node) for node in nodes]
    assert found[-1] == {outer} and all(loops <= {outer, inner} for loops in found)
    assert ranges_of(UOp.const(dtypes.int, 5)) == frozenset()
