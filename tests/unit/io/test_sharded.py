"""Sharded checkpoints on devices of one process: loaded in any layout, replaced as a whole."""

import json

import numpy as np
import pytest

from weft import Device, P, Tensor, nn
from weft.base.errors import FormatError
from weft.io import load_sharded, save_sharded

TWO = ("REF:1", "REF:2")
THREE = ("REF:1", "REF:2", "REF:3")


def value(shape=(6, 4)):
    return Tensor.arange(24).reshape(shape).float().to("REF")


@pytest.mark.parametrize("saved", [None, 0, 1])
@pytest.mark.parametrize("wanted", [None, 0, 1])
@pytest.mark.parametrize("devices", [TWO, THREE])
def test_a_value_is_loaded_in_any_layout(tmp_path, saved, wanted, devices):
    save_sharded({"x": value().shard(TWO, axis=saved)}, tmp_path)
    found = load_sharded(tmp_path, {"x": value().shard(devices, axis=wanted)})["x"]
    assert found.layout.axis == wanted and found.device == devices
    assert found.tolist() == value().tolist()
    alone = load_sharded(tmp_path, {"x": value()})["x"]
    assert alone.device == "REF" and alone.tolist() == value().tolist()


def test_each_device_has_a_file_with_its_parts_alone(tmp_path):
    save_sharded({"x": value().shard(TWO, axis=0), "y": value().shard(TWO)}, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["index.json", "part-0-0.safetensors", "part-0-1.safetensors"]
    assert (tmp_path / names[2]).stat().st_size < (tmp_path / names[1]).stat().st_size


def test_the_last_complete_checkpoint_is_loaded(tmp_path):
    save_sharded({"x": value().shard(TWO, axis=0)}, tmp_path)
    (tmp_path / "part-1-0.safetensors").write_bytes(b"half of it")  # of a killed process
    assert load_sharded(tmp_path, {"x": value()})["x"].tolist() == value().tolist()
    save_sharded({"x": (value() + 1).shard(TWO, axis=0)}, tmp_path)
    assert load_sharded(tmp_path, {"x": value()})["x"].tolist() == (value() + 1).tolist()
    assert len(list(tmp_path.glob("part-0-*"))) == 0


def test_a_model_is_loaded_in_the_layout_that_it_has(tmp_path):
    model = nn.Linear(4, 6)
    nn.parallel.FullySharded(model, TWO)
    state = nn.state.get_state_dict(model)
    nn.state.save_sharded(state, tmp_path)
    other = nn.parallel.FullySharded(nn.Linear(4, 6), THREE).module
    nn.state.load_state_dict(
        other, nn.state.load_sharded(tmp_path, nn.state.get_state_dict(other)), verbose=False
    )
    assert other.weight.tolist() == model.weight.tolist()
    assert other.weight.device == THREE and other.weight.layout.axis == 0


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(FormatError, match="no complete sharded checkpoint"):
        load_sharded(tmp_path, {"x": value()})
    (tmp_path / "index.json").write_text(json.dumps({"number": 1}))
    with pytest.raises(FormatError, match="no complete sharded checkpoint"):
        load_sharded(tmp_path, {"x": value()})
    save = tmp_path / "other"
    save_sharded({"x": value().shard(TWO)}, save)
    with pytest.raises(FormatError, match="lacks"):
        load_sharded(save, {"y": value()})
    with pytest.raises(FormatError, match="shapes"):
        load_sharded(save, {"x": value((4, 6))})


def test_layouts_of_a_mesh(tmp_path):
    mesh = Device.mesh(("data", 2), ("model", 2), devices=[f"REF:{n}" for n in range(4)])
    numbers = np.arange(30, dtype=np.float32).reshape(5, 6)
    x = Tensor(numbers).shard(mesh, P("data", "model"))
    y = Tensor(numbers).shard(mesh, P(None, "model"))
    save_sharded({"x": x, "y": y}, tmp_path)
    names = {path.name for path in tmp_path.glob("part-*")}
    assert len(names) == 4
    for spec in (P(), P("data"), P("model", "data"), P(("data", "model"))):
        like = Tensor(numbers).shard(mesh, spec)
        found = load_sharded(tmp_path, {"x": like, "y": like})
        assert found["x"].layout == like.layout
        assert np.array_equal(found["x"].numpy(), numbers)
        assert np.array_equal(found["y"].numpy(), numbers)
