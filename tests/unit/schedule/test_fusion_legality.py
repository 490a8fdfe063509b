"""Legality and profitability of fusing several kernels."""

from helpers.graphs import buffer
from weft.schedule.fusion_analysis import facts_of, reused_operands
from weft.schedule.fusion_legality import (
    aligned_shape,
    have_small_operands,
    is_small_reduce,
    is_strided,
    iterations_of,
    overwrites_needed_element,
    products_in,
    reads_incomplete_scatter,
    reduce_extent,
)
from weft.tensor import Tensor
from weft.uop import Ops, UOp


def product(a, b):
    """(..., m, k) with (..., k, n)."""
    *batch, m, k = a.shape
    n = b.shape[-1]
    order = (*range(len(batch)), len(batch) + 1, len(batch))
    left = a.reshape((*batch, m, 1, k)).expand((*batch, m, n, k))
    right = b.permute(order).reshape((*batch, 1, n, k)).expand((*batch, m, n, k))
    return (left * right).reduce(Ops.ADD, (len(batch) + 2,))


def test_small_sums_are_plain_loops_that_add_up():
    def is_small(root):
        known = facts_of(root, {root: None})
        return is_small_reduce([known], known.work)

    x = buffer(64 * 32).reshape((64, 32))
    assert is_small(x.reduce(Ops.ADD, (0,))) and not is_small(x + 1)
    assert not is_small(product(x, buffer(32 * 16).reshape((32, 16))))
    assert not is_small(buffer(1 << 18).reshape((512, 512)).reduce(Ops.MAX, (1,)))
    assert not reads_incomplete_scatter([facts_of(x + 1, {x + 1: None})])


def test_transitive_inputs_are_needed():
    b, c = buffer(4), buffer(4)
    first = b + 1
    second = first.reshape((4, 1)).expand((4, 6)).reduce(Ops.ADD, (1,)).reshape((4,))
    write = UOp(Ops.ASSIGN, b.dtype, (b, c))
    here = {first: None, second: None, write: None}
    known = {root: facts_of(root, here) for root in here}
    assert not overwrites_needed_element([known[first], known[write]])
    assert overwrites_needed_element([known[first], known[second], known[write]])
    assert not overwrites_needed_element([known[first], known[second]])


def test_written_values_are_not_recomputed():
    b = buffer(4)
    write = UOp(Ops.ASSIGN, b.dtype, (b, b * 2))
    total = write.reduce(Ops.ADD, (0,))
    here = {write: None, total: None}
    assert not overwrites_needed_element([facts_of(root, here) for root in here])


def test_products_are_found_above_their_inputs():
    a, b = buffer(24).reshape((4, 6)), buffer(30).reshape((6, 5))
    first = product(a, b)
    second = product(first.reshape((4, 5)), buffer(10).reshape((5, 2)))
    assert [node for node, _ in products_in(second, {first}.__contains__)] == [second]
    below = products_in(second, lambda node: node.op is Ops.BUFFER)
    assert {node for node, _ in below} == {first, second}
    assert all(operands == reused_operands(node) for node, operands in below)


def test_a_product_is_near_where_each_batch_has_its_own_small_operand():
    batched = product(buffer(48).reshape((2, 4, 6)), buffer(60).reshape((2, 6, 5)))
    read = lambda node: node.op is Ops.BUFFER  # noqa: E731
    assert have_small_operands(products_in(batched, read), 8)
    flat = product(buffer(48).reshape((8, 6)), buffer(30).reshape((6, 5)))
    assert not have_small_operands(products_in(flat, read), 8)


def test_weights_and_images_under_a_window_are_not_near():
    """A convolution is not done line by line for the sake of what reads its result."""
    total = Tensor.empty(2, 3, 6, 6).conv2d(Tensor.empty(4, 3, 3, 3), padding=1).uop
    products = products_in(total, lambda node: node.op is Ops.BUFFER)
    assert len(products) == 1
    assert not have_small_operands(products, 2) and not have_small_operands(products, 8)


def test_loops_side_by_side():
    assert aligned_shape((5,), (4, 5)) == (1, 5) and aligned_shape((4, 1), (4, 5)) == (4, 1)
    assert aligned_shape((3,), (4, 5)) is None
    assert iterations_of(((4, 6), (1,))) == 24 and reduce_extent(((4, 6), (1,))) == 6


def test_a_movement_across_the_order_of_memory():
    x = buffer(24).reshape((4, 6))
    base = x.base
    assert not is_strided(base, base) and not is_strided(x, base)
    assert is_strided(x.permute((1, 0)), base)
