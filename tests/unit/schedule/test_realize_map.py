"""What has to stand in memory."""

from weft.testing.graphs import buffer, kernels
from weft.uop import Ops


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
