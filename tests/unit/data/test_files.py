"""Rows of safetensors files."""

import numpy as np
import pytest

from weft import Tensor, data, io
from weft.base.errors import (
    ArgumentError,
    DTypeError,
    FileError,
    FormatError,
    IndexingError,
    ShapeError,
)


@pytest.fixture
def path(tmp_path):
    where = tmp_path / "rows.safetensors"
    rng = np.random.default_rng(0)
    io.safe_save(
        {
            "x": Tensor(rng.normal(size=(7, 2, 3)).astype(np.float32)),
            "y": Tensor(np.arange(7, dtype=np.int64)),
            "low": Tensor(np.arange(7, dtype=np.float32) / 4).cast("bfloat16"),
            "flag": Tensor(np.arange(7) % 2 == 0),
        },
        where,
    )
    return where


def test_rows_are_those_of_the_file(path):
    whole = {name: t.numpy() for name, t in io.safe_load(path).items() if name != "low"}
    rows = data.SafetensorsDataset(path)
    assert len(rows) == 7
    for index in (0, 3, -1):
        for name, values in whole.items():
            assert rows[index][name].tolist() == values[index].tolist()
            assert rows[index][name].dtype == values.dtype
    assert rows[5]["low"].item() == 1.25
    batch = rows.batch([6, 0, 6])
    assert batch["x"].tolist() == whole["x"][[6, 0, 6]].tolist()


@pytest.mark.parametrize("kind", ["thread", "process"])
def test_with_workers(path, kind):
    rows = data.SafetensorsDataset(path, ["y"])
    loader = data.DataLoader(rows, batch_size=3, num_workers=2, worker_kind=kind)
    assert [batch["y"].tolist() for batch in loader] == [[0, 1, 2], [3, 4, 5], [6]]


def test_invalid_arguments(path, tmp_path):
    with pytest.raises(FileError):
        data.SafetensorsDataset(tmp_path / "none.safetensors")
    with pytest.raises(ArgumentError, match="no such tensor"):
        data.SafetensorsDataset(path, ["z"])
    with pytest.raises(IndexingError):
        data.SafetensorsDataset(path)[7]
    other = tmp_path / "other.safetensors"
    io.safe_save({"a": Tensor([1, 2]), "b": Tensor([1])}, other)
    with pytest.raises(ShapeError, match="one length"):
        data.SafetensorsDataset(other)
    io.safe_save({"a": Tensor([1.0, 2.0]).cast("fp8e4m3")}, other)
    with pytest.raises(DTypeError, match="NumPy"):
        data.SafetensorsDataset(other)
    other.write_bytes(b"no")
    with pytest.raises(FormatError):
        data.SafetensorsDataset(other)


def test_a_file_that_shrinks(path):
    rows = data.SafetensorsDataset(path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(FileError, match="shorter"):
        rows.batch(range(7))
