"""Which loops the stores of a kernel share, and which reduces run in one loop."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from weft.base.dtype import dtypes
from weft.codegen.analysis.ranges import extent_of, loops_of, ranges_of
from weft.codegen.lowering import lowerer
from weft.codegen.lowering.loop_fusion import StoreNests, is_one
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import ComputeCaps, KernelLimits, Target
from weft.shape.infer import shape_of
from weft.shape.tracker import ShapeTracker
from weft.spec import lowered
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp
from weft.uop.args import Row

PLAIN = Target(ComputeCaps(), GroupOp.ALU, None, "c", "plain")
WIDE = Target(
    ComputeCaps(vector_widths={dtypes.float: (8, 4)}, vector_bytes=32, vector_registers=16),
    GroupOp.ALU, None, "c", "wide",
)  # fmt: skip
GRID = Target(
    ComputeCaps(limits=KernelLimits(global_size=(64, 64, 64), local_size=(8, 8, 8))),
    GroupOp.ALU, None, "c", "grid",
)  # fmt: skip


def shape(*extents):
    return ShapeTracker.from_shape(extents)


def pointer(slot, size):
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)


def load(slot, *extents):
    return pointer(slot, math.prod(extents)).view(shape(*extents)).load()


def store(slot, value, *extents):
    return pointer(slot, math.prod(extents)).view(shape(*extents)).store(value)


def reshaped(value, *extents):
    return value.view(shape(*shape_of(value)).reshape(extents))


def nests(*stores, always_fuse=False):
    """The extents of the loops around each store, and how many of them the first two share."""
    sink = lowerer.run(UOp.sink(*stores), always_fuse=always_fuse)
    lowered.verify(sink)
    around = [ranges_of(one) for one in sink.src]
    common = [len(a & b) for a, b in itertools.pairwise(around)]
    return [sorted(extent_of(loop) for loop in loops) for loops in around], common


def run(program, arrays):
    run_program(program, arrays)


def product(m, k, n, slots):
    a = pointer(slots[0], m * k).view(shape(m, 1, k).expand((m, n, k))).load()
    across = shape(k, n).permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    return (a * pointer(slots[1], k * n).view(across).load()).reduce(Ops.ADD, (2,))


def weights_and_bias(n=8, o=4, i=6):
    """The sum over n of dy * x, and of dy: gradients of a layer's weights and bias."""
    turned = shape(n, o).permute((1, 0)).reshape((o, 1, n))
    dy = pointer(2, n * o).view(turned.expand((o, i, n))).load()
    across = shape(n, i).permute((1, 0)).reshape((1, i, n)).expand((o, i, n))
    x = pointer(3, n * i).view(across).load()
    bias = pointer(2, n * o).view(turned).load().reduce(Ops.ADD, (2,))
    both = (store(0, (dy * x).reduce(Ops.ADD, (2,)), o, i, 1), store(1, bias, o, 1, 1))
    return UOp.sink(*both)


def test_equal_shapes_share_all_loops():
    x = load(2, 4, 8)
    assert nests(store(0, x + 1.0, 4, 8), store(1, x * 2.0, 4, 8)) == ([[4, 8], [4, 8]], [2])


def test_a_store_of_fewer_axes_shares_the_leading_ones():
    x = load(2, 4, 8)
    total = reshaped(x.reduce(Ops.ADD, (1,)), 4)
    assert nests(store(0, x + 1.0, 4, 8), store(1, total, 4)) == ([[4, 8], [4]], [1])


def test_each_store_keeps_its_other_axes():
    x = load(2, 4, 6)
    wide = x.view(shape(4, 6).reshape((4, 6, 1)).expand((4, 6, 3)))
    narrow = reshaped(x, 4, 2, 3)
    loops, common = nests(store(0, wide, 4, 6, 3), store(1, narrow, 4, 2, 3))
    assert loops == [[3, 4, 6], [2, 3, 4]] and common == [1]


def kept(value):
    """A value in a local array before any loop of a store begins."""
    return UOp(Ops.CONTIGUOUS, value.dtype, (value,), Row(0))


def test_axes_of_one_element_make_no_difference():
    total = load(2, 4, 8).reduce(Ops.ADD, (0,))
    two = (store(0, total, 1, 8), store(1, reshaped(total, 8) + 1.0, 8))
    assert nests(*two) == ([[8], [8]], [1])
    sink = lowerer.run(UOp.sink(*two))
    assert sum(node.op is Ops.REDUCE for node in sink.toposort()) == 1


def test_global_rows_do_not_change_the_loop_order():
    """A row by row copy and sums of columns: each in the order that suits it."""
    row = kept(load(2, 4, 8) + 1.0)
    columns = row.reduce(Ops.ADD, (0,))
    assert nests(store(0, row, 4, 8), store(1, columns, 1, 8)) == ([[4, 8], [8]], [0])
    rows = row.reduce(Ops.ADD, (1,))
    assert nests(store(0, row, 4, 8), store(1, rows, 4, 1))[1] == [1]


def test_stores_without_common_loads_fuse_only_if_forced():
    two = (store(0, load(2, 4, 8) + 1.0, 4, 8), store(1, load(3, 4, 5) + 1.0, 4, 5))
    assert nests(*two)[1] == [0]
    assert nests(*two, always_fuse=True)[1] == [1]


def test_products_of_matrices_have_tiles_of_their_own():
    two = (store(0, product(4, 5, 6, (2, 3)), 4, 6, 1), store(1, product(4, 7, 6, (4, 5)), 4, 6, 1))
    assert nests(*two)[1] == [0]
    assert nests(*two, always_fuse=True)[1] == [2]


def test_a_bias_is_outside_the_tiles_of_the_weights():
    loops, common = nests(*weights_and_bias().src)
    assert loops == [[4, 6], [4]] and common == [0]


@pytest.mark.parametrize("target", [PLAIN, WIDE, GRID], ids=["plain", "wide", "grid"])
@pytest.mark.parametrize("choose", [nothing, None], ids=["plain", "heuristic"])
def test_weights_and_bias_have_equal_values_either_way(target, choose):
    rng = np.random.default_rng(0)
    dy, x = (rng.integers(-4, 5, (8, width)).astype(np.float32) for width in (4, 6))
    weights, bias = np.zeros((4, 6), np.float32), np.zeros(4, np.float32)
    run(lower(weights_and_bias(), target, choose), {0: weights, 1: bias, 2: dy, 3: x})
    np.testing.assert_array_equal(weights, dy.T @ x)
    np.testing.assert_array_equal(bias, dy.sum(0))


def test_loops_that_two_share_are_outermost_in_both():
    x = load(3, 4, 5, 6)
    inner = reshaped(x.reduce(Ops.ADD, (0, 2)), 1, 5)
    stores = (
        store(0, x, 4, 5, 6),
        store(1, inner, 1, 5),
        store(2, x.reduce(Ops.ADD, (2,)), 4, 5, 1),
    )
    sink = lowerer.run(UOp.sink(*stores))
    whole, narrow, pair = (ranges_of(one) for one in sink.src)
    shared = [whole & narrow, whole & pair, narrow & pair]
    assert all(a <= b or b <= a for a, b in itertools.combinations(shared, 2))
    for one, other in itertools.combinations((whole, narrow, pair), 2):
        order = sorted(one, key=lambda loop: loop.arg.id)
        assert set(order[: len(one & other)]) == one & other


def test_a_sum_and_a_maximum_of_one_input_run_in_one_loop():
    x = load(2, 4, 64)
    totals = [x.reduce(op, (1,)) for op in (Ops.ADD, Ops.MAX)]
    sink = lowerer.run(UOp.sink(*(store(slot, t, 4, 1) for slot, t in enumerate(totals))))
    first, second = (node for node in sink.toposort() if node.op is Ops.REDUCE)
    assert loops_of(first) == loops_of(second)
    program = lower(
        UOp.sink(*(store(slot, t, 4, 1) for slot, t in enumerate(totals))), PLAIN, nothing
    )
    loads = [u for u in program.uops if u.op is Ops.LOAD and u.src[0].src[0].arg == 2]
    assert len(loads) == 1


def test_whole_reduces_of_one_input_run_in_one_loop():
    x = load(2, 64)
    totals = [x.reduce(op, (0,)) for op in (Ops.ADD, Ops.MAX)]
    program = lower(
        UOp.sink(*(store(slot, total, 1) for slot, total in enumerate(totals))), PLAIN, nothing
    )
    assert sum(u.op is Ops.RANGE for u in program.uops) == 1


def test_reduces_without_common_loads_have_own_loops():
    both = load(1, 4, 64).reduce(Ops.ADD, (1,)) + load(2, 4, 64).reduce(Ops.ADD, (1,))
    sink = lowerer.run(UOp.sink(store(0, both, 4, 1)))
    first, second = (node for node in sink.toposort() if node.op is Ops.REDUCE)
    assert not set(loops_of(first)) & set(loops_of(second))


def test_nests_are_chosen_without_a_kernel():
    loops = {axis: UOp.range(extent, axis) for axis, extent in enumerate((4, 8))}
    known = StoreNests(always_fuse=True)
    known.add((4, 8), load(2, 4, 8), loops)
    assert known.shared((4, 1), load(3, 4, 1)) == {0: loops[0]}
    assert known.shared((5, 8), load(3, 5, 8)) == {}
    assert is_one(1) and not is_one(UOp.variable("n", 1, 4))


def test_stores_with_equal_outer_axes_share_them():
    loops = {axis: UOp.range(extent, axis) for axis, extent in enumerate((4, 8))}
    known = StoreNests(always_fuse=False, outer=1)
    known.add((4, 8), load(2, 4, 8), loops)
    assert known.shared((4, 5), load(3, 4, 5)) == {0: loops[0]}
    assert known.shared((1, 1, 8), load(3, 1, 1, 8)) == {}
    assert StoreNests(always_fuse=False, outer=1).shared((4, 5), load(3, 4, 5)) == {}
