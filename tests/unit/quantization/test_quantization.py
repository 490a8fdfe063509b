"""Quantisation: the error of each format, and values that blocks hold exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.quantization import FORMATS, dequantize, quantize, storage_of

# of normal numbers, relative to their root mean square
ERRORS = {
    "q4_0": 0.09, "q4_1": 0.08, "q5_0": 0.045, "q5_1": 0.04, "q8_0": 0.006, "q2_k": 0.31,
    "q3_k": 0.16, "q4_k": 0.08, "q5_k": 0.04, "q6_k": 0.02, "iq4_nl": 0.08, "mxfp4": 0.125,
}  # fmt: skip


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=5)
@given(seed=st.integers(0, 1 << 30), power=st.integers(-8, 8))
def test_errors(name, seed, power):
    values = normal(8, 512, seed=seed) * np.float32(2.0**power)
    made = quantize(Tensor(values), name)
    assert made.dtype is dtypes.float32
    error = np.sqrt(((made.numpy() - values) ** 2).mean() / (values**2).mean())
    assert error < ERRORS[name]


@pytest.mark.parametrize("name", FORMATS)
def test_quantised_values_keep_their_error(name):
    once = quantize(Tensor(normal(4, 256)), name).numpy()
    again = quantize(Tensor(once), name).numpy()
    error = np.sqrt(((again - once) ** 2).mean() / (once**2).mean())
    assert error < ERRORS[name]


@pytest.mark.parametrize("name", FORMATS)
def test_zeros(name):
    made = quantize(Tensor.zeros(2, 256), name).numpy()
    np.testing.assert_array_equal(made, 0)


@pytest.mark.parametrize("name", ["q4_0", "q5_0", "q8_0"])
def test_integers_between_the_codes_are_exact(name):
    low = {"q4_0": -8, "q5_0": -16, "q8_0": -127}[name]
    values = np.resize(np.arange(low, -low, dtype=np.float32), (2, 32 * 8))
    values.reshape(-1, 32)[:, 0] = low  # every block reaches the lowest code
    np.testing.assert_array_equal(quantize(Tensor(values), name).numpy(), values)


def test_the_storage_is_that_of_the_format():
    made = quantize(Tensor(normal(3, 512)), "Q6_K")
    storage = storage_of(made)
    assert (storage.format.name, storage.shape) == ("q6_k", (3, 512))
    same = dequantize(storage.data, "q6_k", (3, 512))
    np.testing.assert_array_equal(same.numpy(), made.numpy())


def test_what_cannot_be_quantised():
    with pytest.raises(ShapeError):
        quantize(Tensor.ones(2, 100), "q4_k")
    with pytest.raises(ArgumentError, match="finite"):
        quantize(Tensor([float("nan")] * 32), "q4_0")
    with pytest.raises(ArgumentError, match="float16"):
        quantize(Tensor([1e9] * 32), "q8_0")
    with pytest.raises(ArgumentError, match="q1"):
        quantize(Tensor.ones(32), "q1")
