"""GGUF files against the package of the format's authors, and damaged ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor, dtypes
from weft.base.errors import FileError, FormatError, WeftError
from weft.device import registry
from weft.io import ggml_data_to_tensor, gguf_load
from weft.io.gguf_header import BLOCKS

gguf = pytest.importorskip("gguf", reason="the gguf package writes these files")
QUANTISED = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]
# offsets of the halves of a block, which must be numbers
HALVES = {"Q6_K": [208], "Q4_1": [0, 2], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2]}


def blocks(name: str, count: int, seed: int) -> np.ndarray:
    source = np.random.default_rng(seed)
    _, nbytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    raw = source.integers(0, 256, (count, nbytes), dtype=np.uint8)
    for at in HALVES.get(name, [0]):
        halves = np.float16(source.uniform(-2, 2, count))
        raw[:, at : at + 2] = halves.view(np.uint8).reshape(count, 2)
    return raw


@pytest.mark.parametrize("name", QUANTISED)
@settings(max_examples=10)
@given(count=st.integers(1, 9), seed=st.integers(0, 1 << 30))
def test_unpacking(name, count, seed):
    kind = gguf.GGMLQuantizationType[name]
    raw = blocks(name, count, seed)
    expected = gguf.quants.dequantize(raw, kind).reshape(-1)
    got = ggml_data_to_tensor(Tensor(raw.reshape(-1)), expected.size, int(kind))
    assert got.dtype is dtypes.float32
    np.testing.assert_array_equal(got.numpy(), expected)


def test_the_sizes_of_blocks():
    for number, (name, elements, nbytes) in BLOCKS.items():
        kind = gguf.GGMLQuantizationType(number)
        assert (kind.name, gguf.GGML_QUANT_SIZES[kind]) == (name, (elements, nbytes))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file with a tensor of every kind, and notes of every kind."""
    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    writer = gguf.GGUFWriter(path, "test")
    writer.add_uint32("a.number", 7)
    writer.add_float32("a.float", 0.5)
    writer.add_string("a.text", "grüße")
    writer.add_bool("a.flag", True)
    writer.add_array("a.list", [1, 2, 3])
    writer.add_array("a.words", ["x", "yy"])
    for dtype in ("float32", "float16", "float64", "int8", "int16", "int32", "int64"):
        writer.add_tensor(dtype, np.arange(6, dtype=dtype).reshape(2, 3))
    for name in QUANTISED:
        kind = gguf.GGMLQuantizationType[name]
        writer.add_tensor(name, blocks(name, 3, 0), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_whole_file(path):
    notes, tensors = gguf_load(path)
    assert (notes["a.number"], notes["a.float"], notes["a.text"]) == (7, 0.5, "grüße")
    assert (notes["a.flag"], notes["a.list"], notes["a.words"]) == (True, [1, 2, 3], ["x", "yy"])
    for tensor in gguf.GGUFReader(path).tensors:
        kind = tensor.tensor_type
        expected = tensor.data
        if kind.name in QUANTISED:
            expected = gguf.quants.dequantize(tensor.data, kind)
        np.testing.assert_array_equal(tensors[tensor.name].numpy(), expected)
        assert tensors[tensor.name].numpy().dtype == expected.dtype


def test_nothing_is_read_before_it_is_used(path):
    _, tensors = gguf_load(path, device=registry.canonical())
    assert {t.device for t in tensors.values()} == {registry.canonical()}
    assert not any(t.uop.is_realized for t in tensors.values())


def test_invalid_gguf_files(path):
    whole = path.read_bytes()
    swapped = whole[:4] + (99).to_bytes(4, "little") + whole[8:]
    for data in (b"GGUX" + whole[4:], swapped, whole[:40], whole[:-300], b""):
        with pytest.raises(FormatError, match="GGUF"):
            gguf_load(Tensor(np.frombuffer(data, np.uint8)))
    with pytest.raises(FileError):
        gguf_load("there/is/no/such.gguf")


@pytest.mark.parametrize("kind, count", [(9, 32), (2, 31), (2, 64)])
def test_bytes_that_hold_no_such_tensor(kind, count):
    with pytest.raises(FormatError):
        ggml_data_to_tensor(Tensor(np.zeros(18, np.uint8)), count, kind)


@settings(max_examples=150)
@given(data=st.data())
def test_damaged_files_give_tensors_or_our_error(path, data):
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, 1500))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    try:
        gguf_load(Tensor(np.frombuffer(bytes(whole[:cut]), np.uint8)))
        gguf_load(Tensor(np.frombuffer(bytes(whole), np.uint8)))
    except WeftError:
        pass
