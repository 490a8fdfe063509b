"""The loops of a reduction follow memory: which are interchanged, and that nothing else is."""

import pytest

from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.codegen.analysis.axes import access_of
from weft.codegen.analysis.ranges import Accumulate, loops_of
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import OptKind
from weft.device.capabilities import ComputeCaps
from weft.uop import AxisKind, Ops, UOp
from weft_simd.choice.reduction_loop_order import in_order, order_by_stride

EXTENTS = (3, 4, 64)
WHERE = simd_target(ComputeCaps())


def kernel(*steps):
    """A sum over three loops of a product; steps: of each loop, for each factor."""
    out = UOp.range(8, 0, AxisKind.LOOP)
    loops = [UOp.range(n, i, AxisKind.REDUCE) for i, n in enumerate(EXTENTS, 1)]
    value = None
    for slot, factor in enumerate(steps, 1):
        at = out
        for loop, step in zip(loops, factor):
            at = at + loop * step if step else at
        pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(1 << 20), (), slot)
        loaded = UOp(Ops.LOAD, dtypes.float, (pointer.index(at),))
        value = loaded if value is None else value * loaded
    total = UOp(Ops.REDUCE, dtypes.float, (value, *loops), Accumulate(Ops.ADD, 1))
    store = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(8), (), 0).index(out).store(total)
    return Kernel(UOp.sink(store), WHERE)


def order(made):
    reduce = made.reduces[0]
    accesses = [access_of(node) for node in made._nodes if node.op is Ops.LOAD]
    order_by_stride(made, reduce, accesses)
    return tuple(loop.arg.id - 1 for loop in in_order(made, loops_of(reduce)))


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ([(64, 1, 512)], (2, 0, 1)),
        ([(1, 16, 256), (2, 32, 999)], (2, 1, 0)),
        ([(-8, -1, 256)], (2, 0, 1)),  # backwards is as far
        ([(512, 64, 1)], (0, 1, 2)),
        ([(1, 16, 256), (256, 16, 1)], (0, 1, 2)),  # they do not agree
        ([(0, 16, 0), (1, 0, 1)], (0, 1, 2)),  # nothing has steps of two of them
        ([(16, 16, 16)], (0, 1, 2)),
    ],
)
def test_the_largest_strides_are_outermost(steps, wanted):
    made = kernel(*steps)
    assert order(made) == wanted
    assert {opt.kind for opt in made.applied} <= {OptKind.SWAP}
    assert bool(made.applied) == (wanted != (0, 1, 2))
    assert made.axes[0].kind is AxisKind.LOOP


def test_unrolled_loops_are_innermost():
    made = kernel((512, 64, 1))
    made.attempt(OptKind.UNROLL, 1, 0)
    (reduce,) = made.reduces
    assert [loop.arg.id for loop in in_order(made, loops_of(reduce))] == [2, 3, 1]
