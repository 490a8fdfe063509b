"""Safetensors files: round trips, exchange with the reference package, laziness, failures."""

import errno
import json
import os

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError, FileError, FormatError
from weft.device import registry
from weft.engine import stats
from weft.io import safe_load, safe_load_metadata, safe_save
from weft.io.safetensors_header import DTYPE_OF_NAME


def raw(table: dict, values: bytes) -> bytes:
    text = json.dumps(table).encode()
    return len(text).to_bytes(8, "little") + text + values


def only_file(folder) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("dtype", sorted(set(DTYPE_OF_NAME.values()), key=str), ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0, 3)])
def test_every_dtype_and_shape_comes_back_bit_for_bit(tmp_path, dtype, shape) -> None:
    count = int(np.prod(shape))
    values = np.arange(count * dtype.itemsize, dtype=np.uint8) % 2
    if dtype.is_complex:
        tensor = Tensor(values.view(dtype.name)).reshape(shape)
    else:
        tensor = Tensor(values).bitcast(dtype).reshape(shape)
    safe_save({"x": tensor}, tmp_path / "f")
    loaded = safe_load(tmp_path / "f")["x"]
    assert loaded.dtype is dtype
    assert loaded.shape == shape
    back = loaded.to(registry.canonical()).contiguous()
    back = weft.view_as_real(back) if dtype.is_complex else back
    assert back.reshape(-1).bitcast(dtypes.uint8).tolist() == values.tolist()


def test_views_and_unrealised_graphs_are_saved_as_their_values(tmp_path) -> None:
    base = Tensor.arange(12).reshape(3, 4)
    saved = {"t": base.transpose(0, 1), "s": base[1:, ::2], "e": base[0] + 1, "c": Tensor.ones(3)}
    expected = {name: tensor.numpy() for name, tensor in saved.items()}
    safe_save(saved, tmp_path / "f")
    for name, tensor in safe_load(tmp_path / "f").items():
        np.testing.assert_array_equal(tensor.numpy(), expected[name])


def test_no_tensors_make_a_file(tmp_path) -> None:
    safe_save({}, tmp_path / "f", {"note": "nothing"})
    assert safe_load(tmp_path / "f") == {}
    assert safe_load_metadata(tmp_path / "f").metadata == {"note": "nothing"}


def test_the_reference_package_reads_ours(tmp_path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy", reason="needs the safetensors package")
    arrays = {
        "half": np.float16([1.5, -2]),
        "double": np.arange(6.0).reshape(2, 3),
        "bytes": np.uint8([1, 2, 3]),
        "truth": np.array([True, False]),
        "scalar": np.float32(3.5),
        "empty": np.zeros((0, 2), np.int64),
    }
    safe_save({name: Tensor(a) for name, a in arrays.items()}, tmp_path / "f", {"by": "weft"})
    loaded = safetensors.load_file(tmp_path / "f")
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)


def test_files_of_the_reference_package_are_read(tmp_path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy", reason="needs the safetensors package")
    arrays = {
        "é 漢": np.float32([[1, 2], [3, 4]]),
        "odd": np.uint8([7, 8, 9]),
        "ints": np.int64([-1, 2**40]),
        "half": np.float16([0.5]),
    }
    safetensors.save_file(arrays, tmp_path / "f", metadata={"a": "b"})
    loaded = safe_load(tmp_path / "f")
    assert safe_load_metadata(tmp_path / "f").metadata == {"a": "b"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[name].numpy(), array)


def test_loading_reads_no_values_and_runs_nothing(tmp_path) -> None:
    safe_save({"x": Tensor.arange(1000)}, tmp_path / "f")
    before = (stats.kernels, stats.copies)
    loaded = safe_load(tmp_path / "f")["x"]
    header_reads = stats.copies - before[1]
    assert stats.kernels == before[0]
    assert not registry.capabilities(loaded.device).compute
    moved = loaded[10:20].to(registry.canonical())
    assert stats.copies - before[1] == header_reads
    assert moved.tolist() == list(range(10, 20))


def test_unaligned_windows_are_copied_before_they_are_reinterpreted(tmp_path) -> None:
    table = {
        "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [1, 9]},
    }
    values = b"\x07" + np.float32([1.5, -2.5]).tobytes()
    (tmp_path / "f").write_bytes(raw(table, values))
    loaded = safe_load(tmp_path / "f")
    assert loaded["a"].tolist() == [7]
    assert loaded["b"].tolist() == [1.5, -2.5]


def test_a_device_can_be_asked_for(tmp_path) -> None:
    safe_save({"x": Tensor([1.0, 2.0])}, tmp_path / "f")
    loaded = safe_load(tmp_path / "f", device=registry.canonical())["x"]
    assert loaded.device == registry.canonical()
    assert (loaded * 2).tolist() == [2.0, 4.0]


def test_bytes_in_memory_are_a_source() -> None:
    data = raw({"x": {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]}}, b"\1\0\0\0\2\0\0\0")
    loaded = safe_load(Tensor(np.frombuffer(data, np.uint8)))
    assert loaded["x"].tolist() == [1, 2]
    with pytest.raises(DTypeError):
        safe_load(Tensor([1.0]))


@pytest.mark.parametrize("length", [0, 1, 7, 8, 20, -1])
def test_files_cut_short_are_refused(tmp_path, length: int) -> None:
    safe_save({"x": Tensor.arange(100)}, tmp_path / "f")
    data = (tmp_path / "f").read_bytes()
    (tmp_path / "cut").write_bytes(data[:length])
    with pytest.raises(FormatError) as caught:
        safe_load(tmp_path / "cut")
    assert str(tmp_path / "cut") in caught.value.asked
    assert caught.value.because


def test_a_file_cut_short_after_loading_is_an_error_and_not_a_crash(tmp_path) -> None:
    safe_save({"x": Tensor.arange(100_000)}, tmp_path / "f")
    loaded = safe_load(tmp_path / "f")["x"]
    os.truncate(tmp_path / "f", 1000)
    with pytest.raises(FileError):
        loaded.numpy()


def test_no_such_file(tmp_path) -> None:
    with pytest.raises(FileError):
        safe_load(tmp_path / "nothing here")


def test_saving_replaces_a_file_and_old_tensors_keep_their_values(tmp_path) -> None:
    safe_save({"x": Tensor([1, 2])}, tmp_path / "f")
    old = safe_load(tmp_path / "f")["x"]
    safe_save({"x": Tensor([3, 4, 5])}, tmp_path / "f")
    assert safe_load(tmp_path / "f")["x"].tolist() == [3, 4, 5]
    assert old.tolist() == [1, 2]
    assert only_file(tmp_path) == ["f"]


def test_a_file_can_be_saved_over_itself(tmp_path) -> None:
    safe_save({"x": Tensor([1, 2]), "y": Tensor([3.0])}, tmp_path / "f")
    safe_save(safe_load(tmp_path / "f"), tmp_path / "f")
    assert {k: v.tolist() for k, v in safe_load(tmp_path / "f").items()} == {
        "x": [1, 2],
        "y": [3.0],
    }


def test_links_are_followed(tmp_path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "f")
    safe_save({"x": Tensor([1])}, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert safe_load(tmp_path / "real" / "f")["x"].tolist() == [1]


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, where) -> None:
    safe_save({"x": Tensor([1, 2])}, tmp_path / "f")

    def fail(*arguments) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, where, fail)
    with pytest.raises(FileError) as caught:
        safe_save({"x": Tensor([3, 4])}, tmp_path / "f")
    monkeypatch.undo()
    assert "No space left" in caught.value.because
    assert only_file(tmp_path) == ["f"]
    assert safe_load(tmp_path / "f")["x"].tolist() == [1, 2]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_special_files_cannot_be_loaded() -> None:
    with pytest.raises(FileError):
        safe_load("/dev/full")


def test_a_full_disk(tmp_path, monkeypatch) -> None:
    safe_save({"x": Tensor([1, 2])}, tmp_path / "f")

    def full(handle: int, offset: int, length: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if not hasattr(os, "posix_fallocate"):
        pytest.skip("this system cannot reserve space in a file")
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(FileError) as caught:
        safe_save({"x": Tensor.ones(1000)}, tmp_path / "f")
    assert "space" in str(caught.value)
    assert only_file(tmp_path) == ["f"]
    assert safe_load(tmp_path / "f")["x"].tolist() == [1, 2]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder(tmp_path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    with pytest.raises(FileError):
        safe_save({"x": Tensor([1])}, folder / "f")


def test_a_missing_folder_and_a_folder_in_place_of_a_file(tmp_path) -> None:
    with pytest.raises(FileError) as caught:
        safe_save({"x": Tensor([1])}, tmp_path / "nowhere" / "f")
    assert str(tmp_path / "nowhere" / "f") in caught.value.asked
    with pytest.raises(FileError):
        safe_save({"x": Tensor([1])}, tmp_path)


def test_unsupported_values_are_refused_before_a_write(tmp_path) -> None:
    with pytest.raises(ArgumentError):
        safe_save({"x": [1, 2]}, tmp_path / "f")  # type: ignore[dict-item]
    with pytest.raises(ArgumentError):
        safe_save({"__metadata__": Tensor([1])}, tmp_path / "f")
    assert only_file(tmp_path) == []
