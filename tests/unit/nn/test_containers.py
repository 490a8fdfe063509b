"""Lists and dicts of modules and parameters."""

import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, WrongKind
from weft.nn import containers


def test_a_list_of_modules() -> None:
    layers = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
    layers.append(nn.Linear(1, 2)).extend([nn.Tanh()])
    layers.insert(1, nn.Sigmoid())
    assert [type(each).__name__ for each in layers] == [
        "Linear",
        "Sigmoid",
        "ReLU",
        "Linear",
        "Tanh",
    ]
    assert isinstance(layers[:2], nn.ModuleList) and len(layers[-2:]) == 2
    assert list(layers.state_dict()) == ["0.weight", "0.bias", "3.weight", "3.bias"]
    del layers[0]
    layers[0] = nn.ELU()
    assert isinstance(layers.pop(), nn.Tanh) and len(layers) == 3
    assert list(layers.state_dict()) == ["2.weight", "2.bias"]
    assert len(layers + [nn.ReLU()]) == 4 and len(layers) == 3
    layers += [nn.ReLU()]
    assert len(layers) == 4
    layers.eval()
    assert len(layers) == 4 and layers[3].training is False


def test_a_dict_of_modules() -> None:
    heads = nn.ModuleDict({"a": nn.Linear(1, 1), "act": nn.ReLU()})
    heads.update({"c": nn.Tanh()})
    heads["b"] = nn.Linear(1, 2)
    assert list(heads) == heads.keys() == ["a", "act", "c", "b"]
    assert isinstance(heads["act"], nn.ReLU) and "c" in heads and "d" not in heads
    assert [name for name, _ in heads.items()] == list(heads)
    assert isinstance(heads.pop("c"), nn.Tanh) and len(heads.values()) == 3
    assert heads.get("none") is None
    assert list(heads.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    with pytest.raises(KeyError):
        heads["none"]
    with pytest.raises(ArgumentError):
        heads["a.b"] = nn.ReLU()
    with pytest.raises(ArgumentError, match="'keys' is no key"):
        heads["keys"] = nn.ReLU()


def test_lists_and_dicts_of_parameters() -> None:
    weights = nn.ParameterList([Tensor([1.0]), nn.Parameter(Tensor([2.0]))])
    assert [name for name, _ in weights.named_parameters()] == ["0", "1"]
    assert all(isinstance(each, nn.Parameter) for each in weights)
    named = nn.ParameterDict({"x": Tensor([1.0])})
    assert [name for name, _ in named.named_parameters()] == ["x"]
    assert issubclass(containers.ParameterDict, nn.Module)


def test_invalid_members() -> None:
    with pytest.raises(WrongKind, match="holds modules"):
        nn.ModuleList([3])
    with pytest.raises(WrongKind, match="ParameterList"):
        nn.ModuleList([Tensor([1.0])])
    with pytest.raises(WrongKind):
        nn.ModuleList(nn.Linear(1, 1))
    with pytest.raises(WrongKind, match="holds tensors"):
        nn.ParameterList([nn.ReLU()])


def test_sequential_is_a_list_and_a_dict() -> None:
    net = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    net.insert(0, nn.Tanh()).extend([nn.ELU()])
    assert [type(each).__name__ for each in net] == ["Tanh", "Linear", "ReLU", "ELU"]
    net[1] = nn.Linear(1, 3)
    del net[0]
    assert list(net.state_dict()) == ["0.weight", "0.bias"] and len(net + net) == 6
    named = nn.Sequential({"first": nn.Linear(1, 2), "act": nn.ReLU()})
    assert list(named.state_dict()) == ["first.weight", "first.bias"]
    assert named(Tensor.ones(3, 1)).shape == (3, 2) and named.first is named[0]
    assert list(named[1:].children()) == [named.act]
    named.train()
    assert len(named) == 2
