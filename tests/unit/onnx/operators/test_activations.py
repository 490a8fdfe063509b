"""Activation functions compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model

CASES = [
    ("LeakyRelu", {"alpha": 0.2}),
    ("Elu", {"alpha": 0.7}),
    ("Celu", {"alpha": 2.0}),
    ("Selu", {"alpha": 1.5, "gamma": 2.0}),
    ("Gelu", {}),
    ("Gelu", {"approximate": "tanh"}),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
    ("HardSwish", {}),
    ("Mish", {}),
    ("Softplus", {}),
    ("Softsign", {}),
    ("Swish", {"alpha": 1.5}),
    ("Shrink", {"lambd": 0.4, "bias": 0.1}),
    ("ThresholdedRelu", {"alpha": 0.5}),
]


@pytest.mark.parametrize(("op", "attributes"), CASES, ids=lambda each: str(each))
def test_functions(op, attributes, rng):
    x = (rng.standard_normal((3, 5)) * 3).astype(np.float32)
    compare(op, [x], rtol=2e-5, atol=1e-6, **attributes)


def test_large_arguments_do_not_overflow():
    x = np.array([-1000, -90, 90, 1000], np.float32)
    for op in ("Sigmoid", "Softplus", "Swish", "Elu", "Mish"):
        assert np.isfinite(by_weft(node_model(op, [x]), [x])[0]).all()


def test_shrink_of_integers():
    x = np.arange(-3, 4).astype(np.int32)
    compare("Shrink", [x], lambd=1.5, bias=1.0)


def test_slopes_broadcast(rng):
    x = rng.standard_normal((2, 3, 4)).astype(np.float32)
    compare("PRelu", [x, rng.standard_normal((3, 1)).astype(np.float32)])
    slope = np.array([0.5, 2.0, 3.0], np.float32)
    found = by_weft(node_model("PRelu", [x, slope], opset=6), [x, slope])[0]
    np.testing.assert_array_equal(found, np.where(x < 0, x * slope[:, None], x))


def test_gated_linear_unit(rng):
    a, b = rng.standard_normal((2, 3, 4)).astype(np.float32)
    compare("SwiGLU", [a, b], alpha=0.5, rtol=1e-5)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
def test_softmax(op, rng):
    x = rng.standard_normal((2, 3, 4)).astype(np.float32)
    for axis in (-1, 0, 1):
        compare(op, [x], axis=axis, rtol=1e-5, atol=1e-6)
    flat = x.reshape(2, 12)
    old = by_weft(node_model(op, [x], opset=11, axis=1), [x])[0]
    new = by_weft(node_model(op, [flat], axis=1), [flat])[0]
    np.testing.assert_allclose(old.reshape(2, 12), new, 1e-6)


def test_softmax_of_float16_is_rounded_once(rng):
    x = rng.standard_normal((2, 500)).astype(np.float16)
    found = by_weft(node_model("Softmax", [x]), [x])[0]
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    np.testing.assert_allclose(found, (e / e.sum(-1, keepdims=True)).astype(np.float16), 2e-3)


def test_hardmax_takes_the_first_of_equals():
    compare("Hardmax", [np.array([[3, 1, 3], [2, 2, 2]], np.float32)])


def test_dropout():
    x = np.ones((40, 50), np.float32)
    ratio, training = np.array(0.25, np.float32), np.array(True)
    same = by_weft(node_model("Dropout", [x], 2, opset=10), [x])
    assert (same[0] == x).all() and same[1].dtype == bool and same[1].all()
    inputs = [x, ratio, training]
    seeded, mask = compare("Dropout", inputs, 2, seed=7)
    assert ((seeded != 0) == mask).all()
    free = by_weft(node_model("Dropout", inputs), inputs)[0]
    assert 0.15 < (free == 0).mean() < 0.35
    assert set(np.unique(free)) == {np.float32(0), np.float32(1 / 0.75)}


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [11, 21])
def test_softmax_of_no_elements(op, opset):
    for shape, axis in (((0, 3), 1), ((2, 0, 3), 1), ((2, 0), -1)):
        x = np.zeros(shape, np.float32)
        found = by_weft(node_model(op, [x], opset=opset, axis=axis), [x])[0]
        assert found.shape == shape
