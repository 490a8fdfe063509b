"""Finding a model's tensors, and putting saved ones back."""

import types
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from weft import Tensor, dtypes, nn
from weft.base.errors import ArgumentError, WeftError
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


def test_non_strict_loading_takes_available_entries() -> None:
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


def test_values_are_computed_before_anything_is_replaced() -> None:
    a, b = Tensor([1.0]).realize(), Tensor([2.0]).realize()
    load_state_dict({"x": a, "y": b}, {"x": b, "y": a})
    assert (a.tolist(), b.tolist()) == ([2.0], [1.0])


def test_a_failed_load_leaves_the_model_unchanged(tmp_path) -> None:
    path = tmp_path / "w.safetensors"
    safe_save({"a": Tensor([1.0, 2.0]), "b": Tensor([3.0, 4.0])}, path)
    saved = safe_load(path)
    path.write_bytes(path.read_bytes()[:-8])  # another program cuts it while it is open
    model = {"a": Tensor([0.0, 0.0]).realize(), "b": Tensor([0.0, 0.0]).realize()}
    with pytest.raises(WeftError):
        load_state_dict(model, saved)
    assert model["a"].tolist() == model["b"].tolist() == [0.0, 0.0]


class Tied:
    def __init__(self) -> None:
        self.into, self.out = nn.Linear(2, 2, bias=False), nn.Linear(2, 2)
        self.out.weight = self.into.weight


def test_one_name_is_enough_for_a_tied_weight() -> None:
    model = Tied()
    loaded = load_state_dict(model, {"out.weight": Tensor.ones(2, 2), "out.bias": Tensor.ones(2)})
    assert model.into.weight is model.out.weight and len(loaded) == 2
    assert model.into.weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_one_number_fits_a_list_of_one() -> None:
    holder = {"count": Tensor([0]), "scale": Tensor(0.0)}
    load_state_dict(holder, {"count": Tensor(3), "scale": Tensor([2.0])})
    assert holder["count"].tolist() == [3] and holder["scale"].tolist() == 2.0


def test_a_state_that_is_used_up() -> None:
    layer, state = nn.Linear(1, 1), {"bias": Tensor([2.0]), "weight": Tensor([[1.0]])}
    load_state_dict(layer, state, consume=True)
    assert state == {} and layer.bias.tolist() == [2.0]
    with pytest.raises(ArgumentError, match="used up"):
        load_state_dict(layer, types.MappingProxyType(get_state_dict(layer)), consume=True)


def test_verbose_loading_reports_entries(capsys) -> None:
    state = {"weight": Tensor.ones(2, 2), "old": Tensor([1.0])}
    load_state_dict(nn.Linear(2, 2), state, strict=False, verbose=True)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "1 tensor loaded, 16 B"
    assert [line.split(" (")[0] for line in lines[1:]] == ["missing bias", "unexpected old"]


def test_a_prefix_on_all_names_is_seen() -> None:
    state = {f"module.{name}": tensor for name, tensor in get_state_dict(Tied()).items()}
    with pytest.raises(ArgumentError) as caught:
        load_state_dict(Tied(), state)
    assert "'module.'" in caught.value.try_


def test_non_tensors_are_refused() -> None:
    with pytest.raises(ArgumentError, match="only tensors"):
        load_state_dict(nn.Linear(1, 1), {"weight": [[1.0]], "bias": Tensor([1.0])})


DIFFERENT = """\
the saved tensors do not fit the model
  asked:   load 3 tensors into the 3 of Tied
  because: these differ:
               shape       into.weight  model (2, 2), saved (2, 3)
               dtype       out.bias     model dtypes.float, saved dtypes.int
               missing     out.weight   (2, 2) dtypes.float
               unexpected  norm.scale   (4,) dtypes.half
  try:     make the model as it was when it was saved, or load with strict=False"""


def test_the_differences_are_a_table() -> None:
    model = Tied()
    model.out.weight = Tensor.ones(2, 2)
    state = {
        "into.weight": Tensor.ones(2, 3),
        "out.bias": Tensor([1, 2]),
        "norm.scale": Tensor.ones(4, dtype=dtypes.half),
    }
    with pytest.raises(ArgumentError) as caught:
        load_state_dict(model, state)
    assert str(caught.value) == DIFFERENT


def test_a_hundred_differences_are_not_all_shown() -> None:
    with pytest.raises(ArgumentError) as caught:
        load_state_dict([Tensor([1.0])] * 1, {f"{n}.a": Tensor([1.0]) for n in range(100)})
    assert "and 61 more" in caught.value.because
