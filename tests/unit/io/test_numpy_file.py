"""NumPy's files against NumPy."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor
from weft.base.errors import FormatError, WeftError
from weft.device import registry
from weft.io import npy_load, npz_load


def tensor(data: bytes) -> Tensor:
    return Tensor(np.frombuffer(data, np.uint8))


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
    np.testing.assert_array_equal(npy_load(tmp_path / "x.npy").numpy(), array)
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


def test_compressed_npz(tmp_path):
    named = {f"x{i}": array for i, array in enumerate(ARRAYS)}
    np.savez_compressed(tmp_path / "y.npz", **named)
    got = npz_load(tmp_path / "y.npz")
    for name, array in named.items():
        np.testing.assert_array_equal(got[name].numpy(), array)
    with pytest.raises(FormatError, match="at most 104"):
        npz_load(tmp_path / "y.npz", most=600)


def npz(**entries: bytes) -> Tensor:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("_", "."), content)
    return tensor(out.getvalue())


def test_an_array_does_not_reach_into_its_neighbour():
    small = saved(np.zeros(3, np.float32)).replace(b"(3,)", b"(9,)")
    with pytest.raises(FormatError, match="does not fit"):
        npz_load(npz(a_npy=small, b_npy=saved(np.ones(1000))))


def test_entries_that_are_no_arrays_are_bytes():
    assert bytes(npz_load(npz(note_txt=b"hello"))["note.txt"].data()) == b"hello"


def test_a_pickle_of_objects_is_not_read():
    with pytest.raises(FormatError, match="a pickle"):
        npy_load(tensor(saved(np.array([{}], dtype=object))))


def with_header(text: str, data: bytes = b"") -> Tensor:
    header = text.encode().ljust(54) + b"\n"
    return tensor(b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header + data)


@pytest.mark.parametrize("text", [
    "", "[", "{}", "{'descr': '<f4'}", "-" * 9000 + "1", "(" * 9000, "[" * 150 + "]" * 150,
    "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
    "{'descr': '<f4', 'fortran_order': 'no', 'shape': (3,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "0," * 80 + ")}",
    "{'descr': ['<f4'], 'fortran_order': False, 'shape': (3,)}",
    "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': ()}",
    "#" * 20000,
], ids=lambda text: text[:50])  # fmt: skip
def test_hostile_headers(text):
    with pytest.raises(FormatError):
        npy_load(with_header(text))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3, dtype=">i4"),
        np.array([1j], np.clongdouble),
        np.array(["a"]),
        np.zeros(2, "i4,f4"),
    ],
)
def test_arrays_without_a_dtype_of_ours(array):
    with pytest.raises(FormatError, match="dtype"):
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
