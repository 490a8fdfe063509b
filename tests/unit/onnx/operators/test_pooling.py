"""Pools compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def _floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 1, 0, 2]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"kernel_shape": [2, 2], "dilations": [2, 1]},
    ],
)
def test_pools(op, attributes, rng):
    if op == "LpPool":
        attributes = {**attributes, "p": 3}
        attributes.pop("pads", None)  # of which the reference evaluator takes an average
        attributes.pop("auto_pad", None)
    compare(op, [_floats(rng, 1, 2, 6, 7)], rtol=1e-4, atol=1e-5, **attributes)


@pytest.mark.parametrize("counted", [0, 1])
def test_rounding_up_adds_a_window_that_begins_inside(counted):
    x = np.arange(1.0, 7.0, dtype=np.float32).reshape(1, 1, 6)
    attributes = {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "ceil_mode": 1}
    model = node_model("AveragePool", [x], count_include_pad=counted, **attributes)
    expected = [1.0, 3.0, 5.0, 3.0] if counted else [1.5, 3.0, 5.0, 6.0]
    np.testing.assert_allclose(by_weft(model, [x])[0][0, 0], expected)
    top = by_weft(node_model("MaxPool", [x], **attributes), [x])[0]
    assert top.tolist() == [[[2, 4, 6, 6]]]


@pytest.mark.parametrize("storage_order", [0, 1])
def test_indices(storage_order, rng):
    x = rng.permutation(2 * 2 * 4 * 6).astype(np.float32).reshape(2, 2, 4, 6)
    compare("MaxPool", [x], 2, kernel_shape=[2, 2], strides=[1, 2], storage_order=storage_order)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float16, np.float64])
def test_max_pool_keeps_the_dtype(dtype, rng):
    x = rng.integers(-100 if dtype is not np.uint8 else 0, 100, (1, 1, 6)).astype(dtype)
    found = by_weft(node_model("MaxPool", [x], kernel_shape=[3], pads=[1, 1]), [x])[0]
    assert found.dtype == dtype
    assert found[0, 0, 1:-1].tolist() == [max(x[0, 0, i : i + 3]) for i in range(4)]
    assert found[0, 0, 0] == max(x[0, 0, :2])


def test_global_pools(rng):
    x = _floats(rng, 2, 3, 4, 2)
    compare("GlobalAveragePool", [x], rtol=1e-5, atol=1e-6)
    compare("GlobalMaxPool", [x])
    found = by_weft(node_model("GlobalLpPool", [x], p=2), [x])[0]
    np.testing.assert_allclose(found, np.sqrt((x**2).sum((2, 3), keepdims=True)), 1e-5)


@pytest.mark.parametrize("shape", [None, [2, 1, 5, 6]])
def test_unpooling(shape, rng):
    x = rng.permutation(2 * 4 * 4).astype(np.float32).reshape(2, 1, 4, 4)
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    top, index = by_weft(node_model("MaxPool", [x], 2, **attributes), [x])
    inputs = [top, index] if shape is None else [top, index, np.array(shape)]
    constants = [] if shape is None else [2]
    compare("MaxUnpool", inputs, constants=constants, **attributes)


def test_errors(rng):
    x = _floats(rng, 1, 1, 4, 4)
    refused("MaxPool", [x], "kernel_shape", kernel_shape=[2])
    refused("AveragePool", [x], "pads", kernel_shape=[2, 2], pads=[1, 1])
    refused("GlobalMaxPool", [x[0, 0]], "shape")
    index = np.zeros((1, 1, 4, 4), np.int64)
    inputs = [x, index, np.array([1, 1, 2, 2])]
    refused("MaxUnpool", inputs, "output_shape", kernel_shape=[2, 2], constants=[2])
