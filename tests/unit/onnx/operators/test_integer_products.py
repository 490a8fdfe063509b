"""Integer products compared with the reference evaluator: equal, not close."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
import ml_dtypes

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def eight_bits(rng, dtype, *shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


@pytest.mark.parametrize("left", [np.uint8, np.int8])
@pytest.mark.parametrize("right", [np.uint8, np.int8])
@pytest.mark.parametrize("rows", [2, 33])
def test_matrices(left, right, rows, rng):
    a, b = eight_bits(rng, left, rows, 20), eight_bits(rng, right, 20, 18)
    p, q = eight_bits(rng, left), eight_bits(rng, right)
    compare("MatMulInteger", [a, b, np.asarray(p), np.asarray(q)])
    compare("MatMulInteger", [a, b, np.asarray(p)])
    compare("MatMulInteger", [a, b, None, np.asarray(q)])


@pytest.mark.parametrize("shapes", [((2, 3, 8), (8, 5)), ((8,), (8, 5)), ((4, 8), (8,))])
def test_batches_and_vectors(shapes, rng):
    a, b = (eight_bits(rng, np.uint8, *shape) for shape in shapes)
    compare("MatMulInteger", [a, b, np.array(7, np.uint8)])


@pytest.mark.parametrize("rows", [3, 40])
def test_zero_points_of_rows_and_columns(rows, rng):
    a, b = eight_bits(rng, np.uint8, rows, 12), eight_bits(rng, np.int8, 12, 17)
    p, q = eight_bits(rng, np.uint8, rows), eight_bits(rng, np.int8, 17)
    (y,) = by_weft(node_model("MatMulInteger", [a, b, p, q]), [a, b, p, q])
    left, right = a.astype(np.int32) - p[:, None], b.astype(np.int32) - q
    np.testing.assert_array_equal(y, left @ right)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("scale", [np.float32, np.float16])
def test_quantized_matrices(dtype, scale, rng):
    a, b = eight_bits(rng, dtype, 24, 32), eight_bits(rng, dtype, 32, 20)
    zeros = [np.array(value, dtype) for value in (3, 100, 7)]
    scales = [np.array(value, scale) for value in (0.02, 0.03, 0.9)]
    inputs = [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2]]
    compare("QLinearMatMul", inputs, constants=[1, 2, 4, 5, 6, 7])


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "float8_e5m2fnuz"])
def test_float8_matrices(kind, rng):
    dtype = getattr(ml_dtypes, kind)
    a = rng.standard_normal((5, 8)).astype(np.float32).astype(dtype)
    b = rng.standard_normal((8, 6)).astype(np.float32).astype(dtype)
    one, zero = np.array(1, np.float32), np.array(0, dtype)
    inputs = [a, one, zero, b, one, zero, one * 2, zero]
    (y,) = by_weft(node_model("QLinearMatMul", inputs), inputs)
    exact = a.astype(np.float32) @ b.astype(np.float32) / 2
    assert y.dtype == dtype
    np.testing.assert_allclose(y.astype(np.float32), exact, rtol=0.126, atol=0.02)


WINDOWS = {
    "plain": ((2, 3, 9, 8), (20, 3, 3, 3), {}),
    "padded": ((1, 5, 7, 7), (16, 5, 3, 3), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    "dilated": ((1, 4, 9, 9), (17, 4, 2, 3), {"dilations": [2, 3]}),
    "groups": ((1, 6, 6, 6), (32, 3, 3, 3), {"group": 2, "auto_pad": "SAME_UPPER"}),
    "depthwise": ((2, 4, 6, 5), (4, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
    "points": ((1, 12, 5, 5), (24, 12, 1, 1), {}),
}


@pytest.mark.parametrize("window", WINDOWS)
def test_convolutions(window, rng):
    shape, kernel, options = WINDOWS[window]
    x, w = eight_bits(rng, np.uint8, *shape), eight_bits(rng, np.int8, *kernel)
    zero = np.array(131, np.uint8)
    compare("ConvInteger", [x, w, zero], **options)
    compare("ConvInteger", [x, w, zero, eight_bits(rng, np.int8, kernel[0])], **options)


@pytest.mark.parametrize("window", WINDOWS)
def test_quantized_convolutions(window, rng):
    shape, kernel, options = WINDOWS[window]
    x, w = eight_bits(rng, np.uint8, *shape), eight_bits(rng, np.int8, *kernel)
    scales = rng.uniform(0.01, 0.02, kernel[0]).astype(np.float32)
    bias = rng.integers(-5000, 5000, kernel[0]).astype(np.int32)
    inputs = [
        x, np.array(0.05, np.float32), np.array(117, np.uint8), w, scales, np.array(0, np.int8),
        np.array(1.3, np.float32), np.array(90, np.uint8), bias,
    ]  # fmt: skip
    compare("QLinearConv", inputs, constants=[1, 2, 3, 4, 5, 6, 7, 8], **options)


@pytest.mark.parametrize("zero", [0, 117])
def test_sums_near_ties_are_rounded_exactly(zero, rng):
    """The bias is the sum. Half of the sums lie within one unit of a tie."""
    scale = np.exp2(rng.uniform(-19, -2, 4000)).astype(np.float32)
    halves = rng.integers(-300, 300, 4000) + 0.5
    bias = np.round(halves / scale.astype(np.float64)).astype(np.int32)
    scale[::4], bias[::4] = 2.0**-9, halves[::4] * 512
    x, w = np.zeros((1, 1, 1), np.uint8), np.zeros((4000, 1, 1), np.int8)
    one, none = np.array(1, np.float32), np.array(0, np.int8)
    zeros = none.astype(np.uint8), np.array(zero, np.uint8)
    inputs = [x, one, zeros[0], w, scale, none, one, zeros[1], bias]
    (y,) = by_weft(node_model("QLinearConv", inputs), inputs)
    exact = np.rint(bias.astype(np.float64) * scale + zero).clip(0, 255)
    np.testing.assert_array_equal(y.reshape(-1), exact)


def test_sequences_of_one_axis(rng):
    x, w = eight_bits(rng, np.int8, 2, 3, 20), eight_bits(rng, np.int8, 18, 3, 5)
    (y,) = compare("ConvInteger", [x, w], pads=[2, 2])
    assert y.shape == (2, 18, 20)


def test_refusals():
    x, w = np.ones((1, 2, 3, 3), np.uint8), np.ones((4, 2, 5, 5), np.int8)
    refused("ConvInteger", [x, w], "larger than the padded input")
    refused("ConvInteger", [x, w[:, :1]], "an input .* and a weight")
    refused("MatMulInteger", [x.astype(np.int32), w], "an input has the type int32")
