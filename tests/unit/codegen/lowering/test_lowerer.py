"""What a kernel's AST becomes: which loops, which addresses, which gates."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.codegen.analysis.ranges import loops_of, ranges_of
from weft.codegen.loops import loop_coalescing
from weft.codegen.lowering import lowerer
from weft.codegen.lowering.lowerer import run
from weft.shape.tracker import ShapeTracker
from weft.spec import lowered
from weft.uop import AxisKind, Ops, UOp


def buffer(slot, size, dtype=dtypes.float):
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)


def load(slot, st, size):
    return buffer(slot, size).view(st).load()


def shape(*extents):
    return ShapeTracker.from_shape(extents)


def store(value, *extents, slot=0):
    size = 1
    for extent in extents:
        size *= extent
    return buffer(slot, size, value.dtype).view(shape(*extents)).store(value)


def nodes(sink, op):
    return [node for node in sink.toposort() if node.op is op]


def test_elementwise_has_one_range_per_axis():
    sink = run(UOp.sink(store(load(1, shape(3, 4), 12) + 1.0, 3, 4)))
    lowered.verify(sink)
    assert sorted(r.src[0].arg for r in nodes(sink, Ops.RANGE)) == [3, 4]


def test_axes_of_size_one_have_no_range():
    sink = run(UOp.sink(store(load(1, shape(1, 4, 1), 4), 1, 4, 1)))
    assert len(nodes(sink, Ops.RANGE)) == 1


def test_contiguous_axes_become_one_loop():
    sink = loop_coalescing.run(run(UOp.sink(store(load(1, shape(10, 10), 100) * 2.0, 10, 10))))
    (loop,) = nodes(sink, Ops.RANGE)
    assert loop.src[0].arg == 100


def test_a_permuted_load_keeps_its_axes_apart():
    st = shape(10, 10).permute((1, 0))
    sink = loop_coalescing.run(run(UOp.sink(store(load(1, st, 100), 10, 10))))
    assert len(nodes(sink, Ops.RANGE)) == 2


def test_a_full_reduce_of_a_matrix_is_one_loop():
    value = load(1, shape(6, 8), 48).reduce(Ops.ADD, (0, 1))
    sink = loop_coalescing.run(run(UOp.sink(store(value, 1, 1))))
    (loop,) = nodes(sink, Ops.RANGE)
    assert loop.src[0].arg == 48 and loop.arg.kind is AxisKind.REDUCE


def softmax(rows, columns):
    x = load(1, shape(rows, columns), rows * columns)
    back = shape(rows, 1).expand((rows, columns))
    shifted = x - x.reduce(Ops.MAX, (1,)).view(back)
    power = shifted.exp2()
    return power / power.reduce(Ops.ADD, (1,)).view(back)


def test_softmax_is_two_reduces_and_a_store_under_one_loop():
    sink = run(UOp.sink(store(softmax(5, 7), 5, 7)))
    reduces = nodes(sink, Ops.REDUCE)
    assert len(reduces) == 2
    outer = {frozenset(ranges_of(reduce)) for reduce in reduces}
    assert len(outer) == 1 and len(outer.pop()) == 1
    assert loops_of(reduces[0]) != loops_of(reduces[1])


def test_independent_reduces_share_a_loop():
    x = load(1, shape(4, 8), 32)
    both = x.reduce(Ops.ADD, (1,)) + x.reduce(Ops.MAX, (1,))
    first, second = nodes(run(UOp.sink(store(both, 4, 1))), Ops.REDUCE)
    assert loops_of(first) == loops_of(second)


def test_reduces_in_different_loops_share_none():
    x = load(1, shape(4, 8), 32)
    same = load(2, shape(1, 8).expand((4, 8)), 8)
    both = x.reduce(Ops.ADD, (1,)) + same.reduce(Ops.ADD, (1,))
    first, second = nodes(run(UOp.sink(store(both, 4, 1))), Ops.REDUCE)
    assert loops_of(first) != loops_of(second)
    assert {len(ranges_of(first)), len(ranges_of(second))} == {0, 1}


def test_a_sum_of_an_invariant_is_a_product():
    x = load(1, shape(4, 1).expand((4, 9)), 4)
    sink = run(UOp.sink(store(x.reduce(Ops.ADD, (1,)), 4, 1)))
    assert not nodes(sink, Ops.REDUCE)
    assert 9.0 in {node.arg for node in nodes(sink, Ops.CONST)}


def test_an_empty_sum_is_zero():
    x = load(1, shape(4, 0), 1)
    sink = run(UOp.sink(store(x.reduce(Ops.ADD, (1,)), 4, 1)))
    assert not nodes(sink, Ops.LOAD) and not nodes(sink, Ops.REDUCE)


def test_padding_gates_the_load():
    st = shape(4).pad(((1, 2),))
    sink = run(UOp.sink(store(load(1, st, 4), 7)))
    (loaded,) = nodes(sink, Ops.LOAD)
    assert len(loaded.src) == 2 and len(loaded.src[0].src) == 3


def test_padding_of_a_computed_value_gates_the_loads_below_it():
    value = load(1, shape(4), 4) + 1.0
    sink = run(UOp.sink(store(value.view(shape(4).pad(((1, 2),))), 7)))
    (loaded,) = nodes(sink, Ops.LOAD)
    assert len(loaded.src[0].src) == 3, "beyond the mask nothing may be read"
    assert nodes(sink, Ops.WHERE)


def test_loops_that_reduces_depend_on_go_outermost():
    x = load(1, shape(4, 8), 32)
    total = x.reduce(Ops.ADD, (0,)).view(shape(1, 8).expand((4, 8)))
    sink = run(UOp.sink(store(x / total, 4, 8)))
    outputs = [r for r in nodes(sink, Ops.RANGE) if r.arg.kind is AxisKind.LOOP]
    assert min(outputs, key=lambda r: r.arg.id).src[0].arg == 8


def test_stores_of_one_shape_share_their_loops():
    x = load(2, shape(4, 8), 32)
    stores = store(x + 1.0, 4, 8), store(x * 2.0, 4, 8, slot=1)
    assert len(nodes(run(UOp.sink(*stores)), Ops.RANGE)) == 2


def test_a_store_of_a_reduced_value_shares_the_outer_loop():
    x = load(2, shape(4, 8), 32)
    stores = store(x.reduce(Ops.ADD, (1,)), 4, 1), store(x * 2.0, 4, 8, slot=1)
    sink = run(UOp.sink(*stores))
    outputs = [r for r in nodes(sink, Ops.RANGE) if r.arg.kind is AxisKind.LOOP]
    assert len(outputs) == 2


def test_in_place_at_the_same_index_is_allowed():
    pointer = buffer(0, 8).view(shape(8))
    lowered.verify(run(UOp.sink(pointer.store(pointer.load() + 1.0))))


def test_in_place_at_another_index_is_refused():
    flipped = buffer(0, 8).view(shape(8).flip((True,))).load()
    with pytest.raises(SpecError):
        run(UOp.sink(buffer(0, 8).view(shape(8)).store(flipped)))


def test_large_buffers_are_addressed_with_64_bits():
    rows, columns = 1 << 17, 1 << 15
    st = shape(rows, 1).expand((rows, columns))
    sink = run(UOp.sink(store(load(1, st, rows), rows, columns)))
    (stored,) = nodes(sink, Ops.STORE)
    assert stored.src[0].src[1].dtype is dtypes.long


def test_expanded_views_are_addressed_with_32_bits():
    """Factors of a product are repeated along each other's axes; where they are is what counts."""
    rows, columns, terms = 1 << 11, 1 << 11, 1 << 11
    st = shape(rows, 1, terms).expand((rows, columns, terms))
    total = load(1, st, rows * terms).reduce(Ops.ADD, (2,))
    sink = run(UOp.sink(store(total, rows, columns, 1)))
    assert {u.src[1].dtype for u in nodes(sink, Ops.INDEX)} == {dtypes.int}


def test_symbolic_extents_become_symbolic_loops():
    n = UOp.variable("n", 1, 10)
    st = ShapeTracker.from_shape((n, 4))
    value = load(1, st, 40) + 1.0
    sink = run(UOp.sink(buffer(0, 40).view(st).store(value)))
    ends = {r.src[0] for r in nodes(sink, Ops.RANGE)}
    assert n in ends


def test_depth_is_no_limit():
    value = load(1, shape(4), 4)
    for i in range(10_000):
        value = value + float(i)
    sink = lowerer.run(UOp.sink(store(value, 4)))
    assert len(nodes(sink, Ops.ADD)) == 10_000


def test_an_op_without_value_is_refused():
    with pytest.raises(SpecError):
        run(UOp.sink(store(UOp(Ops.COPY, dtypes.float, (load(1, shape(4), 4),)), 4)))
