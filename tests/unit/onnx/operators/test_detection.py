"""Operators of object detectors compared with the reference evaluator and with NumPy."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def _regions(rng, count, size):
    start = rng.uniform(-1, size, (count, 2))
    return np.concatenate([start, start + rng.uniform(-1, size, (count, 2))], 1).astype(np.float32)


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("given", [4, 5])
def test_suppression(center, given, rng):
    boxes = rng.random((2, 12, 4)).astype(np.float32)
    scores = rng.random((2, 3, 12)).astype(np.float32)
    limits = [np.array([3]), np.array([0.3], np.float32), np.array([0.4], np.float32)]
    inputs = [boxes, scores, *limits[: given - 2]]
    compare("NonMaxSuppression", inputs, center_point_box=center)


def test_equal_boxes_and_scores_keep_the_first():
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [1, 1, 0, 0]]], np.float32)
    scores = np.array([[[0.5, 0.5, 0.5, 0.5]]], np.float32)
    inputs = [boxes, scores, np.array([9]), np.array([0.9], np.float32)]
    found = by_weft(node_model("NonMaxSuppression", inputs), inputs)[0]
    assert found.tolist() == [[0, 0, 0], [0, 0, 2]]
    none = [boxes, scores]
    assert by_weft(node_model("NonMaxSuppression", none), none)[0].shape == (0, 3)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
def test_aligned_regions(mode, ratio, coordinates, rng):
    x = rng.standard_normal((2, 2, 6, 7)).astype(np.float32)
    inputs = [x, _regions(rng, 4, 10), np.array([1, 0, 1, 1])]
    compare(
        "RoiAlign", inputs, mode=mode, sampling_ratio=ratio, spatial_scale=0.5, output_height=2,
        output_width=3, coordinate_transformation_mode=coordinates, rtol=1e-4, atol=1e-5,
    )  # fmt: skip


def test_opset_10_does_not_shift(rng):
    x = rng.standard_normal((1, 1, 6, 7)).astype(np.float32)
    inputs = [x, _regions(rng, 3, 6), np.zeros(3, np.int64)]
    old = by_weft(node_model("RoiAlign", inputs, opset=10, sampling_ratio=2), inputs)[0]
    options = {"sampling_ratio": 2, "coordinate_transformation_mode": "output_half_pixel"}
    new = by_weft(node_model("RoiAlign", inputs, **options), inputs)[0]
    np.testing.assert_array_equal(old, new)


def _max_of_bins(x, region, shape, scale):
    batch, *edges = region
    edges = [int(np.floor(abs(edge * scale) + 0.5) * np.sign(edge)) for edge in edges]
    y = np.zeros((x.shape[1], *shape), np.float32)
    for place in np.ndindex(*shape):
        parts = []
        for axis, (low, high) in enumerate(((edges[1], edges[3]), (edges[0], edges[2]))):
            each = max(high - low + 1, 1) / shape[axis]
            start = int(np.floor(place[axis] * each)) + low
            end = int(np.ceil((place[axis] + 1) * each)) + low
            size = x.shape[2 + axis]
            parts.append(slice(min(max(start, 0), size), min(max(end, 0), size)))
        window = x[int(batch)][:, parts[0], parts[1]]
        if window.size:
            y[(slice(None), *place)] = window.max((1, 2))
    return y


def test_maxima_of_regions(rng):
    x = rng.standard_normal((2, 3, 6, 7)).astype(np.float32)
    batch = np.array([[1], [0], [1], [0]], np.float32)
    rois = np.concatenate([batch, _regions(rng, 4, 10)], 1)
    model = node_model("MaxRoiPool", [x, rois], pooled_shape=[2, 3], spatial_scale=0.5)
    expected = [_max_of_bins(x, region, (2, 3), 0.5) for region in rois]
    np.testing.assert_array_equal(by_weft(model, [x, rois])[0], expected)


def test_errors(rng):
    x, rois = np.zeros((1, 1, 3, 3), np.float32), np.zeros((2, 5), np.float32)
    refused("RoiAlign", [x, rois, np.zeros(2, np.int64)], "regions")
    refused("MaxRoiPool", [x, rois[:, :4]], "regions", pooled_shape=[1, 1])
    scores = np.zeros((1, 1, 2), np.float32)
    refused("NonMaxSuppression", [np.zeros((1, 3, 4), np.float32), scores], "scores")
