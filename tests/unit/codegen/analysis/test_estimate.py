"""Cost estimate of linear programs."""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.codegen.analysis import estimate
from weft.uop import Ops, UOp
from weft.uop.args import AxisKind, RangeArg


def loop(extent: UOp, number: int) -> UOp:
    return UOp(Ops.RANGE, dtypes.int, (extent,), RangeArg(number, AxisKind.LOOP))


def test_the_rest_of_a_loop_counts_with_its_smallest_extent():
    outer = loop(UOp.const(dtypes.int, 3), 0)
    extent = outer.const_like(20) - (outer < 2).where(outer.const_like(20), outer.const_like(19))
    inner = loop(extent, 1)
    one = UOp.const(dtypes.float, 1.0)
    value = UOp(Ops.ADD, dtypes.float, (one, one))
    store = UOp(Ops.SINK, dtypes.void, (value,))
    ends = [UOp(Ops.ENDRANGE, dtypes.void, (one,)) for one in (inner, outer)]
    found = estimate.run([*inner.toposort(), one, value, store, *ends])
    assert found.ops == 0


def test_a_loop_whose_extent_depends_on_another_loop_counts_with_its_largest_extent():
    outer = loop(UOp.const(dtypes.int, 3), 0)
    extent = (outer < 2).where(outer.const_like(20), outer.const_like(19))
    inner = loop(extent, 1)
    one = UOp.const(dtypes.float, 1.0)
    value = UOp(Ops.ADD, dtypes.float, (one, one))
    store = UOp(Ops.SINK, dtypes.void, (value,))
    ends = [UOp(Ops.ENDRANGE, dtypes.void, (one,)) for one in (inner, outer)]
    found = estimate.run([*inner.toposort(), one, value, store, *ends])
    assert found.ops == 3 * 20
