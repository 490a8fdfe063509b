"""Nested containers in one file, to the bit, and nothing that runs."""

import json
import math

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes, nn
from weft.base.errors import ArgumentError, FileError, FormatError, WrongKind
from weft.io import checkpoints, safe_load, safe_save


def test_containers_and_values_come_back(tmp_path) -> None:
    path = tmp_path / "run.safetensors"
    values = {
        "plain": [None, True, 3, -(10**30), 0.1, math.inf, -0.0, "text\n\u00e9", b"\x00\xff"],
        "nested": ({"a": [], 1: {}, (2, "x"): ()}, dtypes.bfloat16, dtypes.int8),
        "__metadata__": 1,
        "numpy": [np.float32(0.1), np.int64(7), np.bool_(True)],
    }
    checkpoints.save(values, path)
    found = checkpoints.load(path)
    expected = {**values, "numpy": [float(np.float32(0.1)), 7, True]}
    assert found == expected
    assert math.copysign(1, found["plain"][6]) == -1
    assert math.isnan(checkpoints.load(_saved(math.nan, tmp_path)))
    assert found["nested"][1] is dtypes.bfloat16 and isinstance(found["nested"], tuple)


def _saved(obj, folder):
    path = folder / "one.safetensors"
    checkpoints.save(obj, path)
    return path


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "uint8"])
def test_tensors_come_back_to_the_bit(tmp_path, dtype: str) -> None:
    x = (Tensor.arange(6).reshape(2, 3) % 2).cast(dtype)
    found = checkpoints.load(_saved([x, {"x": x[0]}, x.sum(), x.numpy()], tmp_path))
    assert found[0].dtype is x.dtype and found[0].tolist() == x.tolist()
    assert found[1]["x"].shape == (3,) and found[2].shape == ()
    assert found[3].tolist() == x.tolist()


def test_a_dict_of_tensors_is_a_plain_file(tmp_path) -> None:
    path = _saved({"a.b": Tensor([1.0]), "c": Tensor([2])}, tmp_path)
    assert sorted(safe_load(path)) == ["a.b", "c"]
    assert checkpoints.load(path)["a.b"].tolist() == [1.0]
    assert checkpoints.load(_saved({}, tmp_path)) == {}
    same = checkpoints.load(_saved({"a": {"b": Tensor([1.0])}, "a.b": Tensor([2.0])}, tmp_path))
    assert (same["a"]["b"].item(), same["a.b"].item()) == (1.0, 2.0)


def test_loaded_values_do_not_need_the_file(tmp_path) -> None:
    path = _saved({"x": [Tensor([1.0, 2.0])]}, tmp_path)
    found = checkpoints.load(path)
    checkpoints.save({"x": [Tensor([5.0, 6.0])]}, path)
    path.unlink()
    assert found["x"][0].tolist() == [1.0, 2.0]


def test_a_run_goes_on_from_its_checkpoint(tmp_path) -> None:
    def made():
        net = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.Linear(3, 1)).train()
        optimizer = weft.optim.Adam(net.parameters(), lr=0.1)
        return net, optimizer, weft.optim.lr_scheduler.StepLR(optimizer, 2)

    def run(net, optimizer, schedule):
        for _ in range(3):
            optimizer.zero_grad()
            net(Tensor([[1.0, 2.0]])).square().sum().backward()
            optimizer.step()
            schedule.step()
        return [each.tolist() for each in net.parameters()]

    first = made()
    run(*first)
    state = {
        "parts": [part.state_dict() for part in first],
        "random": weft.get_rng_state(),
    }
    path = _saved(state, tmp_path)
    expected = run(*first)
    weft.manual_seed(123)
    second, saved = made(), weft.load(path)
    for part, given in zip(second, saved["parts"], strict=True):
        part.load_state_dict(given)
    weft.set_rng_state(saved["random"])
    assert run(*second) == expected


def test_files_of_pytorch_and_numpy(tmp_path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    np.savez(tmp_path / "x.npz", a=np.ones(2))
    assert checkpoints.load(tmp_path / "x.npy").tolist() == [0, 1, 2]
    assert checkpoints.load(tmp_path / "x.npz")["a"].tolist() == [1.0, 1.0]
    torch = pytest.importorskip("torch", reason="PyTorch writes its files")
    torch.save({"w": torch.ones(2), "step": 3, "all": [torch.zeros(1)]}, tmp_path / "x.pt")
    found = checkpoints.load(tmp_path / "x.pt", map_location="REF")
    assert found["w"].tolist() == [1.0, 1.0] and found["step"] == 3
    assert found["all"][0].device == "REF"


def test_unsupported_values_are_refused(tmp_path) -> None:
    loop: list = []
    loop.append(loop)
    with pytest.raises(ArgumentError, match="hold themselves"):
        checkpoints.save(loop, tmp_path / "x")
    with pytest.raises(WrongKind) as caught:
        checkpoints.save({"model": nn.Linear(1, 1)}, tmp_path / "x")
    assert "state_dict" in caught.value.try_ and "'model'" in caught.value.asked
    with pytest.raises(WrongKind, match="path"):
        checkpoints.save({}, 3)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileError):
        checkpoints.load(tmp_path / "x")


@pytest.mark.parametrize("tree", [
    3, {}, [], ["code", "print(1)"], ["tensor", "none"], ["int", "x"], ["dtype", "__class__"],
    ["dict", [["list"], 1]], ["bytes", "!"], ["float", "z"], ["tensor"],
])  # fmt: skip
def test_damaged_descriptions_are_refused(tmp_path, tree) -> None:
    path = tmp_path / "x.safetensors"
    safe_save({"x": Tensor([1.0])}, path, {"weft": json.dumps(tree)})
    with pytest.raises(FormatError, match="describe"):
        checkpoints.load(path)
