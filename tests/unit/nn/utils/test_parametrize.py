"""Parametrizations: names, values, assignments and removal."""

import copy

import pytest

from weft import Tensor, jit, nn
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.utils import computed_attributes, parametrize


class Doubled(nn.Module):
    def forward(self, x):
        calls.append(1)
        return x * 2.0

    def right_inverse(self, x):
        return x / 2.0


class Shifted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.shift = nn.Parameter(Tensor([1.0]))

    def forward(self, x):
        return x + self.shift


calls: list[int] = []


def test_a_chain_of_two_is_computed_and_trained() -> None:
    layer = nn.Linear(2, 1, bias=False)
    layer.weight = Tensor([[0.5, 0.25]])
    before = layer.weight.tolist()
    assert parametrize.register_parametrization(layer, "weight", Doubled()) is layer
    assert layer.weight.tolist() == before and parametrize.is_parametrized(layer, "weight")
    parametrize.register_parametrization(layer, "weight", Shifted())
    assert [n for n, _ in layer.named_parameters()] == [
        "parametrizations.weight.original", "parametrizations.weight.1.shift",
    ]  # fmt: skip
    assert layer.weight.tolist() == [[each + 1.0 for each in before[0]]]
    x = Tensor([[1.0, 3.0]])
    layer(x).sum().backward()
    gradients = [each.grad.tolist() for each in layer.parameters()]
    assert gradients == [[[2.0, 6.0]], [4.0]]
    assert isinstance(layer, nn.Linear) and type(layer).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    again = copy.deepcopy(layer)
    again.load_state_dict(layer.state_dict())
    assert again(x).tolist() == layer(x).tolist() == jit(layer)(x).tolist()
    with pytest.raises(ArgumentError, match="cannot be inverted"):
        layer.weight = Tensor([[1.0, 2.0]])


def test_an_assignment_goes_through_the_inverse() -> None:
    layer = nn.Linear(2, 1)
    parametrize.register_parametrization(layer, "weight", Doubled())
    layer.weight = Tensor([[4.0, 6.0]])
    assert layer.parametrizations.weight.original.tolist() == [[2.0, 3.0]]
    assert len(layer.parametrizations.weight) == 1
    original = layer.parametrizations.weight.original
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is original and layer.weight.tolist() == [[4.0, 6.0]]
    assert type(layer) is nn.Linear and set(layer.state_dict()) == {"weight", "bias"}
    parametrize.register_parametrization(layer, "weight", Doubled())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert layer.weight.tolist() == [[2.0, 3.0]]


def test_several_tensors_of_one_module_and_the_cache() -> None:
    layer = nn.Linear(2, 2)
    for name in ("weight", "bias"):
        parametrize.register_parametrization(layer, name, Doubled())
    calls.clear()
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert len(calls) == 1
    parametrize.remove_parametrizations(layer, "bias")
    assert computed_attributes.is_computed(layer, "weight")
    assert not computed_attributes.is_computed(layer, "bias")
    assert isinstance(layer.bias, nn.Parameter)


def test_what_is_no_parametrization() -> None:
    class Narrow(nn.Module):
        def forward(self, x):
            return x[:1]

    layer = nn.Linear(2, 2)
    with pytest.raises(ShapeError, match="changes the shape"):
        parametrize.register_parametrization(layer, "weight", Narrow())
    assert not parametrize.is_parametrized(layer) and isinstance(layer.weight, nn.Parameter)
    parametrize.register_parametrization(layer, "weight", Narrow(), unsafe=True)
    assert layer.weight.shape == (1, 2)
    with pytest.raises(ArgumentError, match="no such"):
        parametrize.register_parametrization(layer, "scale", Doubled())
    with pytest.raises(ArgumentError, match="has no parametrization"):
        parametrize.remove_parametrizations(layer, "bias")
