"""Convolutions compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def _floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    "attributes",
    [
        {"pads": [1, 0, 2, 1], "strides": [2, 1]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"auto_pad": "VALID", "dilations": [2, 1]},
    ],
)
def test_conv(attributes, rng):
    inputs = [_floats(rng, 1, 4, 6, 5), _floats(rng, 2, 2, 3, 2), _floats(rng, 2)]
    compare("Conv", inputs, group=2, rtol=1e-4, atol=1e-5, **attributes)


def test_conv_of_one_and_three_axes(rng):
    compare("Conv", [_floats(rng, 2, 2, 7), _floats(rng, 3, 2, 3)], rtol=1e-4, atol=1e-5)
    inputs = [_floats(rng, 1, 1, 3, 4, 3), _floats(rng, 2, 1, 2, 2, 2)]
    compare("Conv", inputs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_conv_keeps_the_dtype(dtype, rng):
    inputs = [_floats(rng, 1, 2, 4).astype(dtype), _floats(rng, 1, 2, 3).astype(dtype)]
    found = by_weft(node_model("Conv", inputs), inputs)[0]
    assert found.dtype == dtype
    np.testing.assert_allclose(
        found[0, 0, 1], (inputs[0][0, :, 1:4] * inputs[1][0]).sum(dtype=np.float64), 2e-3
    )


@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [2, 3], "pads": [1, 0, 0, 1], "output_padding": [1, 2]},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"dilations": [2, 1], "auto_pad": "VALID"},
    ],
)
def test_conv_transpose(attributes, rng):
    inputs = [_floats(rng, 1, 2, 3, 3), _floats(rng, 2, 2, 3, 3), _floats(rng, 2)]
    compare("ConvTranspose", inputs, rtol=1e-4, atol=1e-5, **attributes)


def test_output_shape_of_transposed_convolution(rng):
    inputs = [_floats(rng, 1, 2, 3, 3), _floats(rng, 2, 2, 3, 3)]
    plain = by_weft(node_model("ConvTranspose", inputs, strides=[2, 2]), inputs)[0]
    cut = node_model("ConvTranspose", inputs, strides=[2, 2], output_shape=[6, 5])
    np.testing.assert_allclose(by_weft(cut, inputs)[0], plain[:, :, 1:, 1:-1], 1e-5, 1e-6)
    upper = {"output_shape": [6, 5], "auto_pad": "SAME_UPPER"}
    cut = node_model("ConvTranspose", inputs, strides=[2, 2], **upper)
    np.testing.assert_allclose(by_weft(cut, inputs)[0], plain[:, :, :-1, 1:-1], 1e-5, 1e-6)


def test_a_larger_output_shape_adds_the_bias_at_the_end(rng):
    inputs = [np.ones((1, 1, 2), np.float32), np.ones((1, 1, 1), np.float32), np.array([5.0], "f4")]
    model = node_model("ConvTranspose", inputs, strides=[2], output_shape=[5])
    assert by_weft(model, inputs)[0].tolist() == [[[6, 5, 6, 5, 5]]]


def test_causal_convolution_in_two_calls_is_one_convolution(rng):
    x, weight = _floats(rng, 2, 3, 7), _floats(rng, 3, 1, 4)
    whole = compare(
        "CausalConvWithState", [x, weight, _floats(rng, 3)], 2, activation="silu", rtol=1e-4,
        atol=1e-5,
    )[0]  # fmt: skip
    assert whole.shape == x.shape
    plain = by_weft(node_model("CausalConvWithState", [x, weight], 2), [x, weight])
    one = [x[:, :, :3], weight]
    first = by_weft(node_model("CausalConvWithState", one, 2), one)
    other = [x[:, :, 3:], weight, None, first[1]]
    second = by_weft(node_model("CausalConvWithState", other, 2), other)
    joined = np.concatenate([first[0], second[0]], 2)
    np.testing.assert_allclose(joined, plain[0], 1e-5, 1e-6)
    np.testing.assert_array_equal(second[1], x[:, :, -3:])


def test_deformable_convolution(rng):
    x, weight = _floats(rng, 1, 4, 4, 4), _floats(rng, 2, 2, 2, 2)
    offset, mask = _floats(rng, 1, 2 * 4 * 2, 3, 3), _floats(rng, 1, 2 * 4, 3, 3)
    compare(
        "DeformConv", [x, weight, offset, _floats(rng, 2), mask], group=2, offset_group=2,
        kernel_shape=[2, 2], rtol=1e-3, atol=1e-4,
    )  # fmt: skip


def test_without_offsets_deformable_convolution_is_a_convolution(rng):
    x, weight = _floats(rng, 1, 2, 3, 4, 4), _floats(rng, 2, 2, 2, 2, 2)
    attributes = {"strides": [1, 2, 1], "pads": [1, 0, 1, 1, 0, 1]}
    plain = by_weft(node_model("Conv", [x, weight], **attributes), [x, weight])[0]
    inputs = [x, weight, np.zeros((1, 8 * 3, *plain.shape[2:]), np.float32)]
    moved = by_weft(node_model("DeformConv", inputs, **attributes), inputs)[0]
    np.testing.assert_allclose(moved, plain, 1e-4, 1e-5)


@pytest.mark.parametrize(
    ("image", "block", "attributes"),
    [
        ([5, 6], [2, 3], {"strides": [1, 2], "pads": [1, 0, 0, 2]}),
        ([6, 5], [2, 2], {"dilations": [2, 3]}),
        ([4, 4, 3], [2, 1, 2], {"strides": [2, 1, 1]}),
    ],
)
def test_col2im(image, block, attributes, rng):
    axes = len(image)
    step, apart = (attributes.get(name, [1] * axes) for name in ("strides", "dilations"))
    pads = attributes.get("pads", [0] * (2 * axes))
    counts = [
        (image[i] + pads[i] + pads[axes + i] - apart[i] * (block[i] - 1) - 1) // step[i] + 1
        for i in range(axes)
    ]
    x = _floats(rng, 2, 3 * int(np.prod(block)), int(np.prod(counts)))
    sizes = [np.array(image), np.array(block)]
    compare("Col2Im", [x, *sizes], constants=[1, 2], rtol=1e-4, atol=1e-5, **attributes)


def test_errors(rng):
    x, weight = _floats(rng, 1, 2, 4, 4), _floats(rng, 2, 2, 3, 3)
    refused("Conv", [x, weight], "kernel_shape", kernel_shape=[2, 2])
    refused("Conv", [x, weight], "strides", strides=[1])
    refused("Conv", [x, weight], "auto_pad", auto_pad="SAME")
    refused("Conv", [x[0, 0], weight], "shape")
    refused("CausalConvWithState", [x[0], weight[0]], "activation", activation="gelu")
    sizes = [np.array([4, 4]), np.array([2, 2])]
    refused("Col2Im", [_floats(rng, 1, 4, 8), *sizes], "blocks", constants=[1, 2])
