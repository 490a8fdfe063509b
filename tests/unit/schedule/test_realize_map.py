"""Values that must be stored."""

from helpers.graphs import buffer, kernels
from weft.base.dtype import dtypes
from weft.schedule.realize_map import must_realize
from weft.schedule.use_def import uses_in
from weft.uop import Ops, UOp


def test_a_reduce_is_stored_before_it_is_expanded():
    x = buffer(12).reshape((3, 4))
    centred = x - x.reduce(Ops.MAX, (0,)).expand((3, 4))
    assert len(kernels(centred)) == 2


def test_a_copy_reads_memory():
    x = buffer(4)
    moved = (x + 1).copy_to_device("Y")
    assert [a.op for a in kernels(moved)] == [Ops.SINK, Ops.COPY]


def test_a_very_deep_chain_is_cut_into_kernels():
    x = buffer(4)
    node = x
    for number in range(2000):
        node = node * (number + 2.0)
    asts = kernels(node)
    assert 2 < len(asts) < 20
    assert max(len(a.toposort()) for a in asts) < 1500


def product(left, right):
    """A sum of products of two matrices (m, k) and (n, k)."""
    (m, k), (n, _) = left.shape, right.shape
    rows = left.reshape((m, 1, k)).expand((m, n, k))
    columns = right.reshape((1, n, k)).expand((m, n, k))
    return (rows * columns).reduce(Ops.ADD, (2,))


def test_small_numbers_are_unpacked_again_for_a_few_rows():
    weights = buffer(512, dtypes.int8).reshape((8, 64))
    scales = buffer(8).reshape((8, 1)).expand((8, 64))
    unpacked = weights.cast(dtypes.float) * scales
    assert len(kernels(product(buffer(256).reshape((4, 64)), unpacked))) == 1
    assert len(kernels(product(buffer(32 * 64).reshape((32, 64)), unpacked))) == 2


def test_operands_of_equal_size_are_no_unpacking():
    whole = buffer(512).reshape((8, 64))
    scales = buffer(8).reshape((8, 1)).expand((8, 64))
    assert len(kernels(product(buffer(256).reshape((4, 64)), whole * scales))) == 2


def test_expensive_operands_are_stored():
    weights = buffer(512, dtypes.int8).reshape((8, 64)).cast(dtypes.float)
    rows = buffer(256).reshape((4, 64))
    assert len(kernels(product(rows, weights.alu(Ops.EXP2)))) == 2
    for number in range(6):
        weights = weights * (number + 2.0)
    assert len(kernels(product(rows, weights))) == 2


def test_copies_are_widened_by_their_readers():
    """A device that multiplies short floats reads them as they were copied."""
    left, right = (buffer(512, dtypes.half).copy_to_device("Y").reshape((16, 32)) for _ in range(2))
    wide = product(left.cast(dtypes.float), right.cast(dtypes.float))
    uses = uses_in(UOp.sink(wide))
    for narrow, stored in (True, 0), (False, 2):
        realized = must_realize(uses, prefers_narrow=lambda *given, narrow=narrow: narrow)
        assert sum(node.op is Ops.CAST for node in realized) == stored
