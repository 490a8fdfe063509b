"""Products with rounded activations: near those of the dequantised weights, at every shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor, jit
from weft.base.errors import ShapeError, WrongKind
from weft.quantization import FORMATS, dequantize, linear_int8, linear_int16
from weft.quantization.dynamic_quantization import has_words


def random_weight(name: str, rows: int, length: int, seed: int) -> tuple[Tensor, np.ndarray]:
    layout, source = FORMATS[name], np.random.default_rng(seed)
    raw = source.integers(0, 256, (rows * length // layout.length, layout.nbytes), dtype=np.uint8)
    for at in (layout.scale, layout.minimum):
        if at is not None and not layout.exponent_scale:
            halves = source.uniform(-2, 2, len(raw)).astype(np.float16)
            raw[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)
    if layout.exponent_scale:
        raw[:, layout.scale] = 126
    weight = dequantize(Tensor(raw.reshape(-1)).realize(), name, (rows, length))
    return weight, weight.numpy().astype(np.float64)


def rounded(x: np.ndarray) -> np.ndarray:
    """Activations after the rounding to int8, for each 32 of them."""
    groups = x.reshape(*x.shape[:-1], -1, 32)
    scale = np.abs(groups).max(-1, keepdims=True) * np.float32(1 / 127)
    inverse = np.divide(1, scale, where=scale != 0, out=np.zeros_like(scale))
    return (np.round(groups * inverse).astype(np.float64) * scale).reshape(x.shape)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=6)
@given(rows=st.integers(1, 10), columns=st.integers(1, 20), blocks=st.integers(1, 4),
       seed=st.integers(0, 1 << 30))  # fmt: skip
def test_the_product_is_that_of_rounded_activations(name, rows, columns, blocks, seed):
    weight, values = random_weight(name, columns, 256 * blocks, seed)
    x = np.random.default_rng(seed).standard_normal((rows, 256 * blocks)).astype(np.float32)
    rounds = rows <= 8 and has_words(FORMATS[name])
    expected = (rounded(x) if rounds else x.astype(np.float64)) @ values.T
    # another rounding of the inverse moves an activation by one step
    step = np.abs(x).max() / 127 * np.abs(values).max()
    got = linear_int8(Tensor(x), weight).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=2 * step)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rows", [1, 3])
def test_sixteen_bits_are_near_the_product_without_rounding(name, rows):
    weight, values = random_weight(name, 7, 768, rows)
    x = np.random.default_rng(rows).standard_normal((rows, 768)).astype(np.float32)
    x[:, :64] *= np.float32(1e-3)
    expected = x.astype(np.float64) @ values.T
    size = np.abs(x).astype(np.float64) @ np.abs(values).T
    assert (np.abs(linear_int16(Tensor(x), weight).numpy() - expected) < 3e-5 * size).all()


def test_digits_of_the_largest_activations():
    weight, values = random_weight("q8_0", 3, 64, 5)
    steps = np.array([1, -1, 128 / 32639, -128 / 32639, 127.5 / 32639, 0, 1e-9, 0.5])
    x = np.tile(steps, 8).astype(np.float32).reshape(1, 64)
    got = linear_int16(Tensor(x), weight).numpy()
    np.testing.assert_allclose(got, x.astype(np.float64) @ values.T, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("product", [linear_int8, linear_int16])
def test_zero_activations(product):
    weight, _ = random_weight("q4_0", 4, 64, 0)
    assert product(Tensor.zeros(1, 64), weight).tolist() == [[0.0] * 4]


def test_leading_axes_and_a_bias():
    weight, values = random_weight("q8_0", 6, 64, 1)
    x = np.random.default_rng(0).standard_normal((2, 3, 64)).astype(np.float32)
    bias = np.arange(6, dtype=np.float32)
    got = linear_int8(Tensor(x), weight, Tensor(bias))
    assert got.shape == (2, 3, 6)
    np.testing.assert_allclose(got.numpy(), rounded(x) @ values.T + bias, rtol=1e-3, atol=1.0)


def test_under_jit():
    weight, values = random_weight("q4_k", 5, 512, 2)
    product = jit(lambda x: linear_int8(x, weight))
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal((1, 512)).astype(np.float32)
        expected = rounded(x) @ values.T
        got = product(Tensor(x)).numpy()
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_formats_with_words():
    assert {name for name, layout in FORMATS.items() if not has_words(layout)} == {"q5_0", "q5_1"}


def test_what_cannot_be_multiplied():
    weight, _ = random_weight("q4_0", 4, 64, 0)
    with pytest.raises(WrongKind, match="block"):
        linear_int8(Tensor.ones(1, 64), Tensor.ones(4, 64))
    with pytest.raises(ShapeError):
        linear_int8(Tensor.ones(1, 32), weight)
    with pytest.raises(ShapeError, match="linear_int16"):
        linear_int16(Tensor.ones(1, 32), weight)


def test_several_products_of_the_same_activations():
    pairs = [random_weight("q4_1", columns, 288, seed) for seed, columns in enumerate((96, 96, 32))]
    x = np.random.default_rng(0).standard_normal((1, 288)).astype(np.float32)
    weights = [weight for weight, _ in pairs]
    product = jit(lambda x: [linear_int8(x, weight) for weight in weights])
    for _ in range(3):
        for got, (_, values) in zip(product(Tensor(x)), pairs):
            expected = rounded(x) @ values.T
            error = 1e-3 * np.abs(expected).max()
            np.testing.assert_allclose(got.numpy(), expected, rtol=1e-3, atol=error)
