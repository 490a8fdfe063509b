"""Layers one after the other."""

import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError
from weft.nn.state import get_parameters, get_state_dict, load_state_dict


def test_layers_are_called_in_order() -> None:
    net = nn.Sequential(lambda x: x + 1, Tensor.square, lambda x: x * 10)
    assert net(Tensor([1, 2])).tolist() == [40, 90]
    assert nn.Sequential()(3) == 3


def test_names_are_pytorchs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the names are")
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    ours = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    load_state_dict(ours, {n: Tensor(t.numpy()) for n, t in theirs.state_dict().items()})
    x = torch.ones(5, 3)
    expected = theirs(x).detach().numpy()
    assert abs(ours(Tensor(x.numpy())).numpy() - expected).max() < 1e-6


def test_it_is_a_list_of_its_layers() -> None:
    first, last = nn.Linear(2, 2), nn.Linear(2, 1)
    net = nn.Sequential(first, nn.Tanh()).append(last)
    assert len(net) == 3 and net[0] is first and net[-1] is last and list(net)[2] is last
    assert isinstance(net[:2], nn.Sequential) and len(net[:2]) == 2
    assert len(get_parameters(net)) == 4


def test_inside_another_model() -> None:
    names = list(get_state_dict({"body": nn.Sequential(nn.Sequential(nn.Linear(1, 1)))}))
    assert names == ["body.0.0.weight", "body.0.0.bias"]


def test_a_list_of_layers_is_no_layer() -> None:
    with pytest.raises(ArgumentError, match="can be called") as caught:
        nn.Sequential([nn.Linear(1, 1)])
    assert "*layers" in caught.value.try_
