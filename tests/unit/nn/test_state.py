"""Finding a model's tensors, and putting saved ones back."""

import types
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from weft import Tensor, dtypes, nn
from weft.base.errors import ArgumentError
from weft.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save

Pair = namedtuple("Pair", ["left", "right"])


@dataclass(slots=True)
class Slotted:
    weight: Tensor
    scale: float = 1.0


class Model:
    def __init__(self) -> None:
        self.first = nn.Linear(2, 3)
        self.layers = [nn.Linear(3, 3), (nn.Linear(3, 1, bias=False),)]
        self.named = OrderedDict(a=Tensor([1.0]), b={"c": Tensor([2.0])})
        self.pair = Pair(Tensor([3.0]), 4)
        self.slotted = Slotted(Tensor([5.0]))
        self.activation = Tensor.relu
        self.module = types
        self.me = self


def test_paths_name_every_tensor_once_in_order() -> None:
    assert list(get_state_dict(Model())) == [
        "first.weight",
        "first.bias",
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.0.weight",
        "named.a",
        "named.b.c",
        "pair.left",
        "slotted.weight",
    ]


def test_prefix_and_bare_tensor() -> None:
    assert list(get_state_dict(nn.Linear(1, 1), "net.")) == ["net.weight", "net.bias"]
    tensor = Tensor([1.0])
    assert get_state_dict([tensor]) == {"0": tensor}


def test_parameters_are_each_there_once() -> None:
    shared = Tensor([1.0])
    assert len(get_parameters({"a": shared, "b": shared})) == 1


def test_loading_gives_values_and_keeps_the_tensor_objects() -> None:
    source, target = nn.Linear(2, 3), nn.Linear(2, 3)
    weight = target.weight
    load_state_dict(target, get_state_dict(source))
    assert target.weight is weight
    np.testing.assert_array_equal(target.weight.numpy(), source.weight.numpy())
    np.testing.assert_array_equal(target.bias.numpy(), source.bias.numpy())


def test_loaded_weights_can_be_trained() -> None:
    layer = nn.Linear(1, 1, bias=False)
    optimiser = nn.optim.SGD(get_parameters(layer), lr=1.0)
    load_state_dict(layer, {"weight": Tensor([[5.0]])})
    with Tensor.train():
        layer(Tensor([[1.0]])).sum().backward()
        optimiser.step()
    assert layer.weight.tolist() == [[4.0]]


def test_every_difference_is_listed_and_nothing_is_touched() -> None:
    layer = nn.Linear(2, 3)
    before = layer.weight.numpy().copy()
    saved = {"weight": Tensor.zeros(2, 3), "extra": Tensor([1.0])}
    with pytest.raises(ArgumentError) as caught:
        load_state_dict(layer, saved)
    because = caught.value.because
    assert "missing     bias" in because
    assert "unexpected  extra" in because
    assert "model (3, 2), saved (2, 3)" in because
    np.testing.assert_array_equal(layer.weight.numpy(), before)


def test_not_strict_loads_what_is_there() -> None:
    layer = nn.Linear(1, 1)
    load_state_dict(layer, {"weight": Tensor([[7.0]]), "extra": Tensor([1.0])}, strict=False)
    assert layer.weight.tolist() == [[7.0]]


def test_not_strict_still_refuses_wrong_shapes() -> None:
    with pytest.raises(ArgumentError):
        load_state_dict(nn.Linear(1, 1), {"weight": Tensor([7.0])}, strict=False)


def test_floats_are_cast_and_lossy_integers_are_refused() -> None:
    layer = nn.Linear(1, 1, bias=False)
    load_state_dict(layer, {"weight": Tensor([[0.5]], dtype=dtypes.half)})
    assert layer.weight.dtype is dtypes.float32
    assert layer.weight.tolist() == [[0.5]]
    holder = {"count": Tensor([1], dtype=dtypes.int32)}
    with pytest.raises(ArgumentError) as caught:
        load_state_dict(holder, {"count": Tensor([1.0])})
    assert "dtype" in caught.value.because


def test_save_and_load_through_a_file(tmp_path) -> None:
    source, target = nn.Linear(2, 3), nn.Linear(2, 3)
    safe_save(get_state_dict(source), tmp_path / "w.safetensors")
    load_state_dict(target, safe_load(tmp_path / "w.safetensors"))
    np.testing.assert_array_equal(target.weight.numpy(), source.weight.numpy())
