"""Weights of model files with a scale for each group or channel, against numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor, io, jit
from weft.base.errors import ArgumentError, FormatError, ShapeError
from weft.quantization import dequantize_channels, dequantize_groups, quantized_weights

AWQ_OUTPUTS = (0, 2, 4, 6, 1, 3, 5, 7)
"""Of the eight codes of a word, from the lowest bits on, the output of each."""


def words_of(codes: np.ndarray, order=range(8)) -> np.ndarray:
    """Eight codes of the last axis in each word."""
    rows = codes.reshape(*codes.shape[:-1], -1, 8).astype(np.uint32)
    words = sum(rows[..., number] << np.uint32(4 * place) for place, number in enumerate(order))
    return np.asarray(words).astype(np.uint32).view(np.int32)


def packed(name: str, codes: np.ndarray, zeros: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words of codes (inputs, outputs) and of zero points (groups, outputs)."""
    if name == "awq":
        return words_of(codes, AWQ_OUTPUTS), words_of(zeros, AWQ_OUTPUTS)
    return words_of(codes.T).T.copy(), words_of(zeros - (name == "gptq"))


def random_weight(name: str, groups: int, size: int, outputs: int, seed: int):
    """Words, scales, words of zero points, and the values (outputs, inputs)."""
    source = np.random.default_rng(seed)
    codes = source.integers(0, 16, (groups * size, outputs))
    zeros = source.integers(1, 16, (groups, outputs))
    scales = source.uniform(-2, 2, (groups, outputs)).astype(np.float16)
    words, zero_words = packed(name, codes, zeros)
    wide = (codes - zeros.repeat(size, 0)) * scales.repeat(size, 0).astype(np.float32)
    return Tensor(words), Tensor(scales), Tensor(zero_words), wide.T


@pytest.mark.parametrize("name", ["gptq", "gptq_v2", "awq"])
@settings(max_examples=10)
@given(groups=st.integers(1, 3), size=st.sampled_from([8, 16, 32]), blocks=st.integers(1, 3),
       seed=st.integers(0, 1 << 30))  # fmt: skip
def test_values_of_groups(name, groups, size, blocks, seed):
    *stored, expected = random_weight(name, groups, size, 8 * blocks, seed)
    np.testing.assert_array_equal(dequantize_groups(*stored, name).numpy(), expected)


def test_groups_in_any_order():
    words, scales, zeros, _ = random_weight("gptq", 2, 16, 8, 0)
    number = np.random.default_rng(1).integers(0, 2, 32)
    shifts = np.arange(8)[:, None] * 4
    codes = (words.numpy()[:, None, :] >> shifts & 15).reshape(32, 8)
    zero = (zeros.numpy()[:, :, None] >> np.arange(8) * 4 & 15).reshape(2, 8) + 1
    expected = ((codes - zero[number]) * scales.numpy()[number].astype(np.float32)).T
    made = dequantize_groups(words, scales, zeros, "gptq", Tensor(number))
    np.testing.assert_array_equal(made.numpy(), expected)


def test_values_of_channels():
    source = np.random.default_rng(0)
    codes = source.integers(-128, 128, (5, 24), dtype=np.int8)
    scales = source.standard_normal((5, 1)).astype(np.float32)
    made = dequantize_channels(Tensor(codes), Tensor(scales))
    np.testing.assert_array_equal(made.numpy(), codes * scales)


@pytest.mark.parametrize("name", ["gptq", "awq"])
def test_products_under_jit(name):
    *stored, values = random_weight(name, 2, 32, 16, 3)
    words, scales, zeros = (one.realize() for one in stored)
    product = jit(lambda x: x @ dequantize_groups(words, scales, zeros, name).T)
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((2, 64)).astype(np.float32)
        np.testing.assert_allclose(product(Tensor(x)).numpy(), x @ values.T, rtol=1e-3, atol=1e-3)


def test_a_file_of_safetensors(tmp_path):
    words, scales, zeros, values = random_weight("awq", 1, 32, 16, 4)
    first, second, third, others = random_weight("gptq", 2, 16, 8, 5)
    codes = np.arange(-6, 6, dtype=np.int8).reshape(3, 4)
    path = tmp_path / "model.safetensors"
    io.safe_save(
        {
            "a.qweight": words, "a.scales": scales, "a.qzeros": zeros, "a.bias": Tensor([1.0]),
            "b.qweight": first, "b.scales": second, "b.qzeros": third,
            "b.g_idx": Tensor(np.arange(32) // 16),
            "c.weight": Tensor(codes), "c.weight_scale": Tensor([0.5, 1.0, 2.0]),
        },
        path,
    )  # fmt: skip
    found = quantized_weights(io.safe_load(path, device=Tensor([1]).device))
    assert sorted(found) == ["a.bias", "a.weight", "b.weight", "c.weight"]
    np.testing.assert_array_equal(found["a.weight"].numpy(), values)
    np.testing.assert_array_equal(found["b.weight"].numpy(), others)
    np.testing.assert_array_equal(found["c.weight"].numpy(), codes * [[0.5], [1.0], [2.0]])


def test_what_does_not_fit():
    words, scales, zeros, _ = random_weight("awq", 1, 8, 8, 0)
    with pytest.raises(ArgumentError, match="q9"):
        dequantize_groups(words, scales, zeros, "q9")
    with pytest.raises(ShapeError, match="scales"):
        dequantize_groups(words, scales, zeros, "gptq")
    with pytest.raises(ShapeError, match="int32"):
        dequantize_groups(words.cast("int8"), scales, zeros, "awq")
    with pytest.raises(ShapeError, match="scale"):
        dequantize_channels(Tensor.zeros(2, 3, dtype="int8"), Tensor.ones(3))
    with pytest.raises(FormatError, match="a.qzeros"):
        quantized_weights({"a.qweight": words, "a.scales": scales})
