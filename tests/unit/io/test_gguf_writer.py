"""Files that `gguf_save` writes, read by the package of the format's authors and by `gguf_load`."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError, WrongKind
from weft.io import gguf_load, gguf_save
from weft.quantization import FORMATS, quantize, storage_of

gguf = pytest.importorskip("gguf", reason="the gguf package reads these files")
NOTES = {
    "a.text": "grüße", "a.flag": True, "a.count": 7, "a.negative": -7, "a.large": 1 << 40,
    "a.float": 0.5, "a.list": [1, 2, 3], "a.floats": [0.5, 1], "a.words": ["x", "yy"],
}  # fmt: skip


@pytest.fixture
def values():
    return np.random.default_rng(0).standard_normal((3, 512)).astype(np.float32)


def test_blocks_and_plain_tensors(tmp_path, values):
    tensors = {name: quantize(Tensor(values), name) for name in FORMATS}
    tensors |= {
        str(dtype): Tensor(values[:, :5]).cast(dtype)
        for dtype in (dtypes.float32, dtypes.float16, dtypes.bfloat16, dtypes.int8, dtypes.int64)
    }
    path = tmp_path / "m.gguf"
    gguf_save(tensors, path)
    read = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    _, loaded = gguf_load(path)
    assert read.keys() == tensors.keys() == loaded.keys()
    for name, tensor in tensors.items():
        assert tuple(read[name].shape)[::-1] == tensor.shape == loaded[name].shape
        np.testing.assert_array_equal(loaded[name].float().numpy(), tensor.float().numpy())
    for name in FORMATS:
        assert read[name].tensor_type.name == name.upper()
        data = storage_of(tensors[name]).data.numpy()
        np.testing.assert_array_equal(read[name].data.reshape(-1), data)


def test_notes(tmp_path):
    path = tmp_path / "m.gguf"
    gguf_save({"w": Tensor([1.0])}, path, NOTES | {"general.alignment": 64})
    fields = gguf.GGUFReader(path).fields
    assert {key: fields[key].contents() for key in NOTES} == NOTES
    kinds = {key: fields[key].types[-1].name for key in NOTES}
    assert kinds == {
        "a.text": "STRING", "a.flag": "BOOL", "a.count": "UINT32", "a.negative": "INT32",
        "a.large": "UINT64", "a.float": "FLOAT32", "a.list": "INT32", "a.floats": "FLOAT32",
        "a.words": "STRING",
    }  # fmt: skip
    assert gguf_load(path)[0] == NOTES


def test_an_empty_file(tmp_path):
    gguf_save({}, tmp_path / "m.gguf")
    assert gguf_load(tmp_path / "m.gguf") == ({}, {})


def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "m.gguf"
    with pytest.raises(ArgumentError, match=r"a\.mixed"):
        gguf_save({}, path, {"a.mixed": [1, "x"]})
    with pytest.raises(ArgumentError):
        gguf_save({}, path, {"a.huge": 1 << 70})
    with pytest.raises(DTypeError):
        gguf_save({"w": Tensor([1], dtype=dtypes.uint8)}, path)
    with pytest.raises(WrongKind):
        gguf_save([Tensor([1.0])], path)
    assert not path.exists()
