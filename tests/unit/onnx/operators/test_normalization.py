"""Normalization compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def _floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def _statistics(rng, channels):
    return [_floats(rng, channels), np.abs(_floats(rng, channels))]


def test_batch_normalization(rng):
    inputs = [_floats(rng, 2, 3, 4), _floats(rng, 3), _floats(rng, 3), *_statistics(rng, 3)]
    found = compare("BatchNormalization", inputs, epsilon=0.01, rtol=1e-4, atol=1e-5)
    for opset, options in ((14, {}), (9, {}), (7, {"spatial": 1})):
        model = node_model("BatchNormalization", inputs, opset=opset, epsilon=0.01, **options)
        np.testing.assert_array_equal(by_weft(model, inputs)[0], found[0])


def test_statistics_of_each_element(rng):
    x, *rest = inputs = [_floats(rng, 2, 3, 4), *(np.abs(_floats(rng, 3, 4)) for _ in range(4))]
    scale, bias, mean, var = rest
    model = node_model("BatchNormalization", inputs, opset=7, spatial=0)
    expected = (x - mean) / np.sqrt(var + 1e-5) * scale + bias
    np.testing.assert_allclose(by_weft(model, inputs)[0], expected, 1e-4, 1e-5)


def test_batch_normalization_in_training(rng):
    inputs = [_floats(rng, 4, 3, 2), _floats(rng, 3), _floats(rng, 3), *_statistics(rng, 3)]
    compare("BatchNormalization", inputs, 3, training_mode=1, momentum=0.7, rtol=1e-4, atol=1e-5)


def test_several_outputs_of_opset_9_are_training(rng):
    x, scale, bias, mean, var = inputs = [
        _floats(rng, 4, 2, 3), _floats(rng, 2), _floats(rng, 2), *_statistics(rng, 2)
    ]  # fmt: skip
    found = by_weft(node_model("BatchNormalization", inputs, 5, opset=9, momentum=0.8), inputs)
    own = x.mean((0, 2)), x.var((0, 2))
    expected = (x - own[0][:, None]) / np.sqrt(own[1] + 1e-5)[:, None]
    np.testing.assert_allclose(found[0], expected * scale[:, None] + bias[:, None], 1e-4, 1e-5)
    np.testing.assert_allclose(found[1], mean * 0.8 + own[0] * 0.2, 1e-4, 1e-5)
    np.testing.assert_allclose(found[2], var * 0.8 + own[1] * 0.2, 1e-4, 1e-5)
    np.testing.assert_allclose(found[3:], own, 1e-4, 1e-5)


def test_mixed_dtypes_of_batch_normalization(rng):
    x = _floats(rng, 2, 3, 2).astype(np.float16)
    inputs = [x, _floats(rng, 3), _floats(rng, 3), *_statistics(rng, 3)]
    found = by_weft(node_model("BatchNormalization", inputs), inputs)[0]
    assert found.dtype == np.float16
    wide = [x.astype(np.float32), *inputs[1:]]
    exact = by_weft(node_model("BatchNormalization", wide), wide)[0]
    np.testing.assert_allclose(found, exact, 2e-3, 2e-3)


@pytest.mark.parametrize("axis", [-1, 1])
def test_layer_normalization(axis, rng):
    x = _floats(rng, 2, 3, 4)
    shape = x.shape[axis:]
    inputs = [x, _floats(rng, *shape), _floats(rng, *shape)]
    compare("LayerNormalization", inputs, 3, axis=axis, rtol=1e-4, atol=1e-5)
    compare("RMSNormalization", inputs[:2], axis=axis, rtol=1e-4, atol=1e-5)


def test_statistics_of_float16_are_float32(rng):
    x = (_floats(rng, 2, 64) * 100 + 1000).astype(np.float16)
    inputs = [x, np.ones(64, np.float16)]
    found = by_weft(node_model("LayerNormalization", inputs, 3), inputs)
    assert [each.dtype for each in found] == [np.float16, np.float32, np.float32]
    np.testing.assert_allclose(found[1][:, 0], x.astype(np.float64).mean(1), 1e-5)
    squares = by_weft(node_model("RMSNormalization", inputs), inputs)[0]
    assert np.isfinite(squares).all()


def test_instances_and_groups(rng):
    x = _floats(rng, 2, 4, 3, 2)
    compare("InstanceNormalization", [x, _floats(rng, 4), _floats(rng, 4)], rtol=1e-4, atol=1e-5)
    scale, bias = _floats(rng, 4), _floats(rng, 4)
    rows = x.reshape(2, 2, -1)
    plain = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
    expected = plain.reshape(x.shape) * scale[:, None, None] + bias[:, None, None]
    inputs = [x, scale, bias]
    found = by_weft(node_model("GroupNormalization", inputs, num_groups=2), inputs)[0]
    np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


def test_groups_of_opset_18_have_one_scale_each(rng):
    x, scale, bias = _floats(rng, 2, 4, 3), _floats(rng, 2), _floats(rng, 2)
    old = by_weft(
        node_model("GroupNormalization", [x, scale, bias], opset=18, num_groups=2),
        [x, scale, bias],
    )
    wide = [x, scale.repeat(2), bias.repeat(2)]
    new = by_weft(node_model("GroupNormalization", wide, opset=21, num_groups=2), wide)
    np.testing.assert_allclose(old[0], new[0], 1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_local_response(size, rng):
    x = _floats(rng, 2, 5, 3)
    before, after = (size - 1) // 2, size // 2
    sums = [(x[:, max(0, c - before) : c + after + 1] ** 2).sum(1) for c in range(5)]
    expected = x / (2 + 0.5 / size * np.stack(sums, 1)) ** 0.75
    found = by_weft(node_model("LRN", [x], size=size, alpha=0.5, bias=2.0), [x])[0]
    np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


@pytest.mark.parametrize("p", [1, 2])
def test_norm_of_zeros(p, rng):
    x = _floats(rng, 3, 4)
    x[1] = 0
    norm = np.linalg.norm(x, p, axis=1, keepdims=True)
    found = by_weft(node_model("LpNormalization", [x], p=p, axis=1), [x])[0]
    np.testing.assert_allclose(found, x / np.where(norm == 0, 1, norm), 1e-5, 1e-6)


def test_mean_and_variance(rng):
    x = _floats(rng, 2, 3, 2, 4)
    expected = (x - x.mean((0, 2, 3), keepdims=True)) / x.std((0, 2, 3), keepdims=True)
    found = by_weft(node_model("MeanVarianceNormalization", [x]), [x])[0]
    np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


def test_errors(rng):
    x = _floats(rng, 2, 3, 4)
    pair = [_floats(rng, 3), _floats(rng, 3)]
    refused("GroupNormalization", [x, *pair], "num_groups", num_groups=2)
    refused("LayerNormalization", [x, _floats(rng, 4)], "axis", axis=3)
    refused("LayerNormalization", [x, _floats(rng, 4)], "stash_type", stash_type=7)
    refused("LpNormalization", [x], "p is 3", p=3)
