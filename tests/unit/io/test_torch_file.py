"""Files of torch.save, written here by hand and, where it is installed, by PyTorch itself."""

import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor, dtypes
from weft.base.errors import FileError, FormatError, WeftError
from weft.device import registry
from weft.engine import stats
from weft.io import torch_load

VALUES = np.arange(12, dtype=np.float32)


def tensor_pickle(size=(3, 4), stride=(4, 1), offset=0, storage="FloatStorage", count=12) -> bytes:
    """The opcodes of {"w": a tensor}, as torch.save writes them."""

    def number(n):
        return b"J" + struct.pack("<i", n)

    def numbers(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    def text(s):
        return b"X" + struct.pack("<I", len(s)) + s.encode()

    key = b"(" + text("storage") + f"ctorch\n{storage}\n".encode() + text("0") + text("cpu")
    made = b"ctorch._utils\n_rebuild_tensor_v2\n(" + key + number(count) + b"tQ"
    made += (
        number(offset) + numbers(size) + numbers(stride) + b"\x89ccollections\nOrderedDict\n)RtR"
    )
    return b"\x80\x02}(" + text("w") + made + b"u."


def zipped(
    pickled: bytes, data: bytes = VALUES.tobytes(), kind=zipfile.ZIP_STORED, **more
) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", data)
        for name, content in more.items():
            archive.writestr(f"archive/{name}", content)
    return file.getvalue()


def legacy(pickled: bytes, data: bytes = VALUES.tobytes(), count=12) -> bytes:
    head = b"".join(
        pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    )
    return head + pickled + pickle.dumps(["0"], 2) + struct.pack("<q", count) + data


def load(data: bytes):
    return torch_load(Tensor(np.frombuffer(data, np.uint8)))


@pytest.mark.parametrize("form", [zipped, legacy])
def test_a_tensor_of_either_format(form, tmp_path):
    (tmp_path / "m.pt").write_bytes(form(tensor_pickle()))
    got = torch_load(tmp_path / "m.pt")["w"]
    assert got.dtype is dtypes.float32
    assert got.tolist() == VALUES.reshape(3, 4).tolist()


def test_loading_reads_no_values(tmp_path):
    (tmp_path / "m.pt").write_bytes(zipped(tensor_pickle()))
    before = stats.kernels
    got = torch_load(tmp_path / "m.pt")["w"]
    assert not got.uop.is_realized
    assert stats.kernels == before
    assert (
        torch_load(tmp_path / "m.pt", device=registry.canonical())["w"].device
        == registry.canonical()
    )


@pytest.mark.parametrize("size, stride, offset", [
    ((4, 3), (1, 4), 0), ((2, 3), (6, 2), 1), ((3, 5), (1, 0), 2), ((), (), 7),
    ((1, 4), (99, 1), 4), ((2, 2, 2), (1, 6, 3), 0), ((0, 3), (3, 1), 0), ((3, 3), (1, 1), 0),
])  # fmt: skip
def test_strides(size, stride, offset):
    got = load(zipped(tensor_pickle(size, stride, offset)))["w"]
    expected = np.lib.stride_tricks.as_strided(VALUES[offset:], size, [4 * s for s in stride])
    np.testing.assert_array_equal(got.numpy(), expected)


@pytest.mark.parametrize("size, stride, offset", [
    ((3, 4), (4, 1), 1), ((13,), (1,), 0), ((2,), (1 << 40,), 0), ((3,), (-1,), 5),
    ((2, 2), (1,), 0),
])  # fmt: skip
@pytest.mark.parametrize("form", [zipped, legacy])
def test_nothing_is_read_outside_a_storage(form, size, stride, offset):
    if any(abs(n) >= 1 << 31 for n in stride):
        pickled = tensor_pickle(size, (7,), offset).replace(
            b"J" + struct.pack("<i", 7), b"\x8a\x06" + (1 << 40).to_bytes(6, "little"))  # fmt: skip
    else:
        pickled = tensor_pickle(size, stride, offset)
    with pytest.raises(FormatError):
        load(form(pickled))


def test_code_in_files_is_refused():
    class Evil:
        def __reduce__(self):
            return print, ("ran",)

    with pytest.raises(FormatError, match=r"__builtin__.print|builtins.print"):
        load(zipped(pickle.dumps({"a": Evil()}, 2)))
    with pytest.raises(FormatError, match="ComplexFloatStorage"):
        load(zipped(tensor_pickle(storage="ComplexFloatStorage")))


def test_other_files():
    packed = zipped(b"N.", kind=zipfile.ZIP_DEFLATED)
    big = zipped(tensor_pickle(), byteorder=b"big")
    for data in (b"", b"PK\x03\x04", b"hello" * 10, pickle.dumps({}), packed, big):
        with pytest.raises(FormatError):
            load(data)
    with pytest.raises(FileError):
        torch_load("there/is/no/such.pt")


@settings(max_examples=150)
@given(st.sampled_from([zipped, legacy]), st.data())
def test_cut_and_flipped_bytes_give_values_or_our_error(form, data):
    whole = bytearray(form(tensor_pickle()))
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    try:
        got = load(bytes(whole[:cut] if data.draw(st.booleans()) else whole))
        if isinstance(got, dict) and isinstance(got.get("w"), Tensor) and got["w"].numel() < 100:
            got["w"].tolist()
    except WeftError:
        pass


@pytest.mark.parametrize("new", [True, False])
def test_files_of_pytorch(tmp_path, new):
    torch = pytest.importorskip("torch", reason="PyTorch writes this file")
    made = {
        "a": torch.randn(3, 4), "t": torch.randn(3, 4).T, "e": torch.ones(3, 1).expand(3, 5),
        "h": torch.randn(5).half(), "i": torch.arange(5), "flags": torch.tensor([True, False]),
        "scalar": torch.tensor(3.5), "parameter": torch.nn.Parameter(torch.randn(2, 2)),
        "empty": torch.zeros(0, 3), "bytes": torch.tensor([1, 255], dtype=torch.uint8),
    }  # fmt: skip
    rest = {
        "note": "x",
        "lr": 0.1,
        "size": torch.Size([1, 2]),
        "model": torch.nn.Linear(3, 2).state_dict(),
    }
    path = tmp_path / "m.pt"
    torch.save({**made, **rest}, path, _use_new_zipfile_serialization=new)
    got = torch_load(path)
    for name, tensor in made.items():
        np.testing.assert_array_equal(got[name].numpy(), tensor.detach().numpy(), err_msg=name)
    assert (got["note"], got["lr"], got["size"]) == ("x", 0.1, (1, 2))
    assert list(got["model"]) == ["weight", "bias"]


def test_a_tensor_of_too_many_axes():
    with pytest.raises(FormatError, match="100 axes"):
        load(zipped(tensor_pickle((1,) * 100, (0,) * 100)))


def test_storages_are_names_of_entries_and_lead_nowhere():
    for key in ("../../etc/passwd", "/etc/passwd", ""):
        pickled = tensor_pickle().replace(
            b"X\x01\x00\x00\x000", b"X" + struct.pack("<I", len(key)) + key.encode()
        )
        with pytest.raises(FormatError, match="no entry"):
            load(zipped(pickled))


@pytest.mark.parametrize("call", [
    b"cposix\nsystem\n(X\x04\x00\x00\x00truetR", b"cbuiltins\neval\n(X\x01\x00\x00\x001tR",
    b"cbuiltins\ngetattr\n(cos\nX\x06\x00\x00\x00systemtR",
    b"ctorch._utils\n_rebuild_tensor_v2.__globals__\n(tR",
    b"ctorch\nload\n(X\x01\x00\x00\x00xtR", b"ccollections\nOrderedDict\n(cos\nsystem\ntR",
    b"ctorch._utils\n_rebuild_parameter\n(cos\nsystem\n\x89NtR(tR",
    b"ctorch\nSize\n(ctorch\nSize\ntR",
])  # fmt: skip
def test_calls_that_reach_for_more_than_data(call):
    for form in (zipped, legacy):
        with pytest.raises(FormatError):
            load(form(b"\x80\x02}X\x01\x00\x00\x00a" + call + b"s."))


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.filterwarnings("ignore")
def test_a_whole_module_is_refused_with_advice(tmp_path, new):
    torch = pytest.importorskip("torch", reason="PyTorch writes this file")
    path = tmp_path / "m.pt"
    torch.save(torch.nn.Linear(1, 1), path, _use_new_zipfile_serialization=new)
    with pytest.raises(FormatError, match="not plain data") as caught:
        torch_load(path)
    assert "state_dict" in caught.value.try_
