"""Calls of modules with other tensors."""

import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError
from weft.nn.utils import stateless


def test_gradients_reach_what_the_tensors_are_computed_from() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2, affine=False))
    before, w = model[0].weight, Tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    mean = Tensor([0.0, 0.0])
    given = {"0.weight": w * 3.0, "1.running_mean": mean}
    y = stateless.functional_call(model.train(), given, Tensor([[1.0, 2.0], [3.0, 5.0]]))
    y.square().sum().backward()
    assert model[0].weight is before and w.grad is not None and before.grad is None
    assert mean.tolist() != [0.0, 0.0] and model[1].running_mean.tolist() == [0.0, 0.0]


def test_tied_weights_and_arguments() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Parameter(Tensor([1.0]))
            self.second = self.first

        def forward(self, x, scale=1.0):
            return x * self.first * self.second * scale

    model = Tied()
    call = stateless.functional_call
    given = {"first": Tensor([3.0])}
    assert call(model, given, (Tensor([2.0]),), {"scale": 0.5}).item() == 9.0
    assert call(model, given, Tensor([2.0]), tie_weights=False).item() == 6.0
    with pytest.raises(ArgumentError, match="no \\['third'\\]"):
        call(model, {"third": Tensor([1.0])}, Tensor([1.0]))
    with pytest.raises(ArgumentError, match="missing"):
        call(nn.Linear(1, 1), {"weight": Tensor([[1.0]])}, Tensor([1.0]), strict=True)
    assert model.first is model.second
