"""Graphs deeper than any stack."""

from weft import Tensor
from weft.uop import UOp


def test_a_hundred_thousand_pending_steps():
    x = y = Tensor([1.0])
    for _ in range(100_000):
        y = y + 1
    assert y.item() == 100_001.0
    assert x.item() == 1.0


def test_a_deep_gradient():
    x = Tensor([1.0], requires_grad=True)
    y = x
    for _ in range(3_000):
        y = y * 1.0001
    y.sum().backward()
    assert abs(x.grad.item() - 1.0001**3000) < 1e-3


def test_a_deep_graph_prints_and_dies_quietly():
    node = UOp.const(Tensor([1.0]).dtype, 1.0)
    for _ in range(20_000):
        node = node + 1.0
    assert "Ops.ADD" in repr(node)
    del node


def test_many_views_of_views():
    x = Tensor.arange(64).contiguous().realize()
    y = x
    for _ in range(500):
        y = y.reshape(8, 8).permute(1, 0).reshape(64)
    assert y.tolist() == x.tolist()  # an even number of transpositions
