"""Tar archives and NumPy's files against the libraries that write them."""

import io
import tarfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor
from weft.base.errors import FormatError, WeftError
from weft.device import registry
from weft.io import npy_load, npz_load, tar_extract


def tensor(data: bytes) -> Tensor:
    return Tensor(np.frombuffer(data, np.uint8))


def tarred(files: dict[str, bytes], mode="w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


FILES = {
    "a.txt": b"hello",
    "folder/b": bytes(range(256)) * 5,
    "empty": b"",
    "../up": b"x",
    "n" * 200: b"long",
}


def test_every_file_of_a_tar(tmp_path):
    (tmp_path / "t.tar").write_bytes(tarred(FILES))
    got = tar_extract(tmp_path / "t.tar")
    assert {name: bytes(t.data()) for name, t in got.items()} == FILES
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.tar"]


@pytest.mark.parametrize("data", [b"no tar" * 200, tarred(FILES, "w:gz"), tarred(FILES)[:700]])
def test_what_is_no_tar(data):
    with pytest.raises(FormatError, match="tar archive"):
        tar_extract(tensor(data))


@settings(max_examples=100)
@given(st.data())
def test_damaged_tars_give_files_or_our_error(data):
    whole = bytearray(tarred(FILES))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, 3000))] = data.draw(st.integers(0, 255))
    try:
        for part in tar_extract(
            tensor(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
        ).values():
            assert part.numel() <= len(whole)
    except WeftError:
        pass


ARRAYS = [np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
          np.float32(2), np.zeros((0, 3), np.uint8), np.array([True, False]),
          np.arange(4, dtype=np.uint16), np.arange(3, dtype=np.float16)]  # fmt: skip


def saved(array) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_npy(array, tmp_path):
    np.save(tmp_path / "x.npy", array)
    got = npy_load(tmp_path / "x.npy", device=registry.canonical())
    np.testing.assert_array_equal(got.numpy(), array)
    assert got.numpy().dtype == array.dtype


def test_npz(tmp_path):
    named = {f"x{i}": array for i, array in enumerate(ARRAYS)}
    np.savez(tmp_path / "x.npz", **named)
    got = npz_load(tmp_path / "x.npz", device=registry.canonical())
    assert list(got) == list(named)
    for name, array in named.items():
        np.testing.assert_array_equal(got[name].numpy(), array)
    np.savez_compressed(tmp_path / "y.npz", **named)
    with pytest.raises(FormatError, match="compressed"):
        npz_load(tmp_path / "y.npz")


@pytest.mark.parametrize(
    "array", [np.arange(3, dtype=">i4"), np.array([1j]), np.array(["a"]), np.zeros(2, "i4,f4")]
)
def test_arrays_without_a_dtype_of_ours(array):
    with pytest.raises(FormatError, match="npy"):
        npy_load(tensor(saved(array)))


@settings(max_examples=100)
@given(st.sampled_from(ARRAYS), st.data())
def test_damaged_npy_gives_an_array_or_our_error(array, data):
    whole = bytearray(saved(array))
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        got = npy_load(tensor(bytes(whole[: data.draw(st.integers(0, len(whole)))])))
        if got.numel() < 1000:
            got.tolist()
    except WeftError:
        pass
