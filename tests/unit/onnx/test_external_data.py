"""External data: read lazily, and only from the model's folder."""

import numpy as np
import pytest

import weft.onnx
from helpers.onnx_models import FLOAT, model, node, onnx, value
from weft.base.errors import FileError
from weft.onnx import ModelFormatError
from weft.onnx.external_data import unpack


@pytest.fixture
def weights(tmp_path):
    """100 numbers in the file weights.bin, of which 90 follow 10 bytes of something else."""
    array = np.arange(90, dtype=np.float32)
    (tmp_path / "weights.bin").write_bytes(b"0123456789" + array.tobytes())
    return array


def save(folder, shape=(90,), **entries):
    """A model whose constant lies in another file."""
    weight = onnx.TensorProto(name="w", data_type=FLOAT, dims=shape)
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, text in entries.items():
        weight.external_data.add(key=key, value=text)
    path = folder / "model.onnx"
    path.write_bytes(
        model([node("Add", ["x", "w"], ["y"])], [value("x", [1])], [value("y")], [weight])
    )
    return path


def test_a_part_of_a_file_is_read(tmp_path, weights):
    path = save(tmp_path, location="weights.bin", offset="10", length="360")
    outputs = weft.onnx.load(path)(np.ones(1, np.float32))
    np.testing.assert_array_equal(outputs.y.numpy(), weights + 1)


def test_nothing_is_read_before_the_first_call(tmp_path, weights):
    loaded = weft.onnx.load(save(tmp_path, location="weights.bin", offset="10", length="360"))
    (tmp_path / "weights.bin").write_bytes(b"0123456789" + (weights * 2).tobytes())
    outputs = loaded(np.zeros(1, np.float32))
    np.testing.assert_array_equal(outputs.y.numpy(), weights * 2)


@pytest.mark.parametrize(
    "location",
    ["../weights.bin", "sub/../../secret.bin", "/etc/hostname", "", "a\0b", "..\\secret.bin"],
)
def test_paths_out_of_the_folder_are_refused(location, tmp_path, weights):
    with pytest.raises(ModelFormatError, match="no path inside the folder"):
        weft.onnx.load(save(tmp_path, location=location))


def test_links_out_of_the_folder_are_refused(tmp_path, weights):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    (folder / "linked").symlink_to(tmp_path)
    for location in ("link.bin", "linked/weights.bin"):
        with pytest.raises(ModelFormatError, match="a link out of the folder"):
            weft.onnx.load(save(folder, location=location))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"offset": "370"}, "bytes 370 to 730 of 370"),
        ({"offset": "-1"}, "its offset is '-1'"),
        ({"offset": "1e2"}, "its offset is '1e2'"),
        ({"offset": "9" * 30}, "its offset is"),
        ({"length": "10"}, "needs 360"),
    ],
)
def test_sizes_are_compared_with_the_file(entries, message, tmp_path, weights):
    with pytest.raises(ModelFormatError, match=message):
        weft.onnx.load(save(tmp_path, location="weights.bin", **entries))


def test_missing_files_and_models_without_a_folder_are_refused(tmp_path, weights):
    with pytest.raises(FileError, match="external data of the model cannot be read"):
        weft.onnx.load(save(tmp_path, location="missing.bin"))
    path = save(tmp_path, location="weights.bin", offset="10")
    with pytest.raises(ModelFormatError, match="the model is no file"):
        weft.onnx.load(path.read_bytes())
    assert weft.onnx.load(path.read_bytes(), folder=tmp_path).inputs[0].name == "x"


def test_packed_integers_are_unpacked():
    assert unpack(b"\x1f\x08", "int4", (3,)).astype(int).tolist() == [-1, 1, -8]
    assert unpack(b"\x1f\x08", "uint4", (3,)).astype(int).tolist() == [15, 1, 8]
    assert unpack(b"\xe4", "int2", (4,)).astype(int).tolist() == [0, 1, -2, -1]
