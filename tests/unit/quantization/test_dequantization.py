"""Block formats against the package of their authors; what stays in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor, dtypes, jit
from weft.base.errors import ArgumentError, FormatError, WrongKind
from weft.quantization import FORMATS, dequantize, storage_of

gguf = pytest.importorskip("gguf", reason="the gguf package dequantises these formats")


def random_blocks(name: str, count: int, seed: int) -> np.ndarray:
    """Random bytes; the scales and minima are finite."""
    layout, source = FORMATS[name], np.random.default_rng(seed)
    raw = source.integers(0, 256, (count, layout.nbytes), dtype=np.uint8)
    if layout.exponent_scale:
        raw[:, layout.scale] = source.integers(0, 250, count)
        return raw
    for at in (layout.scale, layout.minimum):
        if at is not None:
            halves = source.uniform(-2, 2, count).astype(np.float16)
            raw[:, at : at + 2] = halves.view(np.uint8).reshape(count, 2)
    return raw


def expected_values(name: str, raw: np.ndarray) -> np.ndarray:
    return gguf.quants.dequantize(raw, gguf.GGMLQuantizationType[name.upper()]).reshape(-1)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=10)
@given(count=st.integers(1, 9), seed=st.integers(0, 1 << 30))
def test_the_values_are_those_of_the_authors(name, count, seed):
    raw = random_blocks(name, count, seed)
    expected = expected_values(name, raw)
    got = dequantize(Tensor(raw.reshape(-1)), name.upper(), (expected.size,))
    assert got.dtype is dtypes.float32
    np.testing.assert_array_equal(got.numpy(), expected)


def test_the_sizes_of_blocks():
    for name, layout in FORMATS.items():
        kind = gguf.GGMLQuantizationType[name.upper()]
        assert gguf.GGML_QUANT_SIZES[kind] == (layout.length, layout.nbytes)


def test_the_smallest_powers_of_two():
    layout = FORMATS["mxfp4"]
    raw = np.full((4, layout.nbytes), 0x21, np.uint8)
    raw[:, layout.scale] = [0, 1, 2, 3]
    got = dequantize(Tensor(raw.reshape(-1)), "mxfp4", (4 * layout.length,)).numpy()
    np.testing.assert_array_equal(got, expected_values("mxfp4", raw))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rows", [1, 5, 20])
def test_products(name, rows):
    layout = FORMATS[name]
    raw = random_blocks(name, 12 * 512 // layout.length, 3)
    data = Tensor(raw.reshape(-1)).realize()
    weight = dequantize(data, name, (12, 512))
    values = expected_values(name, raw).reshape(12, 512).astype(np.float64)
    if layout.exponent_scale:  # the sums have to be finite
        raw[:, layout.scale] = 120
        data = Tensor(raw.reshape(-1)).realize()
        weight, values = (
            dequantize(data, name, (12, 512)),
            expected_values(name, raw).reshape(12, 512),
        )
    x = np.random.default_rng(4).standard_normal((rows, 512)).astype(np.float32)
    expected = x.astype(np.float64) @ values.T
    got = (Tensor(x) @ weight.T).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("rows", [1, 20])
def test_a_product_does_not_store_the_values(rows):
    data = Tensor(random_blocks("q4_k", 8, 0).reshape(-1)).realize()
    weight = dequantize(data, "q4_k", (8, 256))
    (Tensor.ones(rows, 256) @ weight.T).realize()
    assert storage_of(weight).data.uop is data.uop


def test_jit_keeps_the_bytes_alone():
    raw = random_blocks("q4_0", 64, 0)
    weight = dequantize(Tensor(raw.reshape(-1)), "q4_0", (8, 256))
    product = jit(lambda x: x @ weight.T)
    values = expected_values("q4_0", raw).reshape(8, 256)
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal((3, 256)).astype(np.float32)
        np.testing.assert_allclose(product(Tensor(x)).numpy(), x @ values.T, rtol=1e-3, atol=1e-3)
    storage = storage_of(weight)
    assert storage is not None
    assert storage.data.uop.is_realized


def test_jit_of_weights_as_arguments():
    product = jit(lambda x, weight: x @ weight.T)
    for seed in range(4):
        raw = random_blocks("q8_0", 32, seed)
        weight = dequantize(Tensor(raw.reshape(-1)), "q8_0", (4, 256))
        x = np.random.default_rng(seed).standard_normal((1, 256)).astype(np.float32)
        expected = x @ expected_values("q8_0", raw).reshape(4, 256).T
        np.testing.assert_allclose(
            product(Tensor(x), weight).numpy(), expected, rtol=1e-3, atol=1e-3
        )
        assert storage_of(weight) is not None


def test_jit_sees_other_weights():
    state = {
        "weight": dequantize(Tensor(random_blocks("q8_0", 8, 0).reshape(-1)), "q8_0", (1, 256))
    }
    product = jit(lambda x: x @ state["weight"].T)
    for seed in (0, 0, 0, 1, 1):
        raw = random_blocks("q8_0", 8, seed)
        if seed:
            state["weight"] = dequantize(Tensor(raw.reshape(-1)), "q8_0", (1, 256))
        expected = expected_values("q8_0", raw).sum()
        assert product(Tensor.ones(1, 256)).item() == pytest.approx(expected, rel=1e-3)


def test_the_storage_of_a_tensor():
    data = Tensor(random_blocks("q5_1", 6, 0).reshape(-1)).realize()
    weight = dequantize(data, "q5_1", (2, 96))
    storage = storage_of(weight)
    assert (storage.format.name, storage.shape) == ("q5_1", (2, 96))
    np.testing.assert_array_equal(storage.data.numpy(), data.numpy())
    assert storage_of(Tensor.ones(3)) is None
    assert storage_of(weight.T) is None


def test_what_is_no_block_storage():
    data = Tensor(np.zeros(34, np.uint8))
    with pytest.raises(ArgumentError, match="q9"):
        dequantize(data, "q9", (32,))
    with pytest.raises(FormatError):
        dequantize(data, "q8_0", (64,))
    with pytest.raises(FormatError):
        dequantize(data, "q8_0", (31,))
    with pytest.raises(WrongKind):
        dequantize(data.reshape(2, 17), "q8_0", (32,))
