"""What is known of a kernel before it is grouped."""

from helpers.graphs import buffer
from weft.base.dtype import dtypes
from weft.schedule import fusion_analysis
from weft.schedule.fusion_analysis import (
    RootKernels,
    facts_of,
    is_matrix_product,
    loop_shape,
    reused_operands,
    rows_of_reduce,
)
from weft.schedule.use_def import uses_in
from weft.shape import ShapeTracker
from weft.uop import Ops, UOp, Window


def product(m=4, n=5, k=6):
    a = buffer(m * k).reshape((m, 1, k)).expand((m, n, k))
    b = buffer(k * n).reshape((1, k, n)).permute((0, 2, 1)).expand((m, n, k))
    return (a * b).reduce(Ops.ADD, (2,))


def test_reads_say_for_how_many_rows_they_stay_in_their_row():
    x, scale = buffer(24), buffer(6)
    rows = x.reshape((4, 6))
    out = rows * scale.reshape((1, 6)).expand((4, 6))
    known = facts_of(out, {out: None})
    assert known.shape == (4, 6) and known.rows == {1, 4, 24} and known.nodes == 1
    assert known.reads == {x: {1, 4, 24}, scale: {1}}


def test_a_value_that_is_realized_is_read():
    x = buffer(24).reshape((4, 6))
    top = x.reduce(Ops.MAX, (1,))
    out = x - top.expand((4, 6))
    known = facts_of(out, {top: None, out: None})
    assert known.reads[top] == {1, 4} and not known.reduces
    fused = facts_of(out, {out: None})
    assert top not in fused.reads and fused.reduces == {((4, 6), (1,))}
    assert fused.reads[x.base] == {1, 4}  # the rows that the reduce runs over


def test_sums_of_products_of_bytes_suit_packed_dot_products():
    codes, wide = buffer(24, dtypes.uint8).reshape((4, 6)), buffer(24, dtypes.int32)
    row = buffer(6, dtypes.int8).cast(dtypes.int32).reshape((1, 6)).expand((4, 6))
    packed = (codes.cast(dtypes.int32) * row).reduce(Ops.ADD, (1,))
    others = (wide.reshape((4, 6)) * row).reduce(Ops.ADD, (1,))
    assert facts_of(packed, {packed: None}).packed
    assert not facts_of(others, {others: None}).packed


def test_rows_end_at_the_first_axis_that_is_reduced():
    x = buffer(24).reshape((2, 3, 4))
    assert rows_of_reduce(x.reduce(Ops.ADD, (2,))) == {1, 2, 6}
    assert rows_of_reduce(x.reduce(Ops.ADD, (0,))) == {1}
    assert rows_of_reduce(x.reshape((1, 2, 12)).reduce(Ops.ADD, (0, 2))) == {1, 2}


def test_a_product_of_matrices_is_tiled_and_a_product_with_a_vector_is_not():
    assert is_matrix_product(product())
    assert not is_matrix_product(product(m=1)) and not is_matrix_product(product(n=1))
    x = buffer(24).reshape((4, 6))
    assert not is_matrix_product((x - x.reduce(Ops.MAX, (1,)).expand((4, 6))).reduce(Ops.ADD, (1,)))
    assert facts_of(product(), {}).work > 4 * 5 * 6 and facts_of(product(), {}).batch == 1


def test_operands_that_are_used_again_are_looked_for_once_and_forgotten_with_the_sum():
    known = len(fusion_analysis._known)
    summed = product(7, 8, 9)
    found = reused_operands(summed)
    assert {axes for _, axes in found} == {frozenset((0,)), frozenset((1,))}
    assert reused_operands(summed) is found
    del summed, found
    assert len(fusion_analysis._known) <= known


def test_a_batch_axis_strides_in_all_operands():
    a = buffer(96).reshape((2, 2, 4, 1, 6)).expand((2, 2, 4, 5, 6))
    b = buffer(120).reshape((2, 2, 1, 5, 6)).expand((2, 2, 4, 5, 6))
    known = facts_of((a * b).reduce(Ops.ADD, (4,)), {})
    assert known.tiled and known.batch == 4


def test_the_loops_of_a_write_are_those_of_its_window():
    a = buffer(8)
    window = Window(ShapeTracker.from_shape((8,)).shrink(((2, 5),)))
    write = UOp(Ops.ASSIGN, a.dtype, (a, buffer(3)), window)
    assert loop_shape(write) == (3,) and facts_of(write, {write: None}).size == 3
    assert loop_shape(a.assign(buffer(8) + 1)) == (8,)


def test_symbolic_shapes_have_no_rows():
    n = UOp.variable("n", 1, 4)
    x = buffer(4).shrink(((0, n.bind(3)),)) + 1
    assert facts_of(x, {x: None}).rows == frozenset()


def test_displaced_inputs():
    x, y, z = buffer(24), buffer(4), buffer(24)
    wide = y.reshape((4, 1)).expand((4, 6))
    plain = x.reshape((4, 6)) + wide
    assert facts_of(plain, {}).displaced == {y}
    assert facts_of((plain * z.reshape((4, 6))).reduce(Ops.ADD, (1,)), {}).displaced == {x, y, z}
    turned = x.reshape((4, 6)).permute((1, 0)) + z.reshape((6, 4))
    assert facts_of(turned, {}).displaced == {x}


def test_kernels_by_number_and_their_edges():
    x, other = buffer(4), buffer(4)
    one = x + 1
    write = x.assign(one * 2)
    roots = RootKernels(
        uses_in(UOp.sink(write, other + one)), dict.fromkeys([one, write, other + one])
    )
    assert roots.nodes == [one, write, other + one] and roots.number[write] == 1
    assert roots.readers[one] == [1, 2] and roots.writer == {x: 1}
    assert roots.sources(roots.facts[2]) == [0] and roots.memory >= {x, other, one}
    # what is read comes first, and the old value of `x` is read before it is overwritten
    assert sorted(set(roots.edges())) == [(0, 1), (0, 2)]
