"""Indexed loads and stores compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

import weft
from helpers.onnx_nodes import by_weft, compare, node_model, refused


@pytest.fixture
def x(rng):
    return rng.standard_normal((3, 4, 5)).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather(axis, x, rng):
    compare("Gather", [x, rng.integers(-3, 3, (2, 2))], axis=axis)
    compare("Gather", [x, np.array(-1, np.int32)], axis=axis)
    compare("GatherElements", [x, rng.integers(-3, 3, x.shape)], axis=axis)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_gather_at_a_constant_place(shape, x):
    for axis, place in ((0, -1), (1, 3), (-1, 2)):
        compare("Gather", [x, np.full(shape, place)], axis=axis, constants=[1])
    inputs = [x, np.full(shape, 3)]
    with pytest.raises(weft.WeftError, match="index 3"):
        by_weft(node_model("Gather", inputs, constants=[1]), inputs)


def test_gather_of_vectors(x, rng):
    compare("GatherND", [x, rng.integers(0, 3, (2, 6, 2))])
    compare("GatherND", [x, rng.integers(-3, 3, (6, 3))])
    compare("GatherND", [x, rng.integers(0, 3, (3, 2, 1))], batch_dims=1)
    compare("GatherND", [x, rng.integers(0, 5, (3, 4, 1))], batch_dims=2)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter(reduction, x, rng):
    rows = np.argsort(rng.random((3, 4, 5)), 1)[:, :2]
    updates = rng.standard_normal(rows.shape).astype(np.float32)
    compare("ScatterElements", [x, rows, updates], axis=1, reduction=reduction, rtol=1e-6)
    places = np.array([[0, -1], [2, 1], [1, 0]])
    updates = rng.standard_normal((3, 5)).astype(np.float32)
    compare("ScatterND", [x, places, updates], reduction=reduction, rtol=1e-6)
    compare("ScatterND", [x, np.array([[[0, 1, 2]]]), updates[:1, :1]], reduction=reduction)


def test_scatter_adds_repeated_places(rng):
    x, places = np.zeros((4, 2), np.float32), np.array([[1], [1], [3]])
    updates = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = compare("ScatterND", [x, places, updates], reduction="add")[0]
    np.testing.assert_array_equal(found[1], updates[0] + updates[1])
    refused("ScatterND", [x, places, updates], "reduction", reduction="mean")


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_write_to_a_cache(mode, rng):
    cache = rng.standard_normal((2, 3, 6, 4)).astype(np.float32)
    update = rng.standard_normal((2, 3, 2, 4)).astype(np.float32)
    starts = np.array([0, 4]) if mode == "linear" else np.array([5, 2])
    compare("TensorScatter", [cache, update, starts], mode=mode)
    compare("TensorScatter", [cache, update])
    compare("TensorScatter", [cache, update.transpose(0, 2, 1, 3)[:, :, :1].repeat(6, 2)], axis=1)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis):
    indices = np.array([[0, 2, -1], [5, -4, 1]])
    values = np.array([2, 7], np.int32)
    compare("OneHot", [indices, np.array(4), values], axis=axis, constants=[1])
    compare("OneHot", [indices.astype(np.float32), np.array(4.0), values], constants=[1])


def test_selection(x, rng):
    compare("NonZero", [(x > 0.5) * x])
    compare("NonZero", [np.zeros((2, 3), bool)])
    compare("Compress", [x, np.array([True, False, True])], axis=1)
    compare("Compress", [x, np.array([False, True, True, False, True])])


@pytest.mark.parametrize("sorted_", [0, 1])
def test_unique(sorted_, rng):
    x = rng.integers(0, 4, (5, 3)).astype(np.float32)
    for attributes in ({}, {"axis": 0}, {"axis": -1}):
        model = node_model("Unique", [x], 4, sorted=sorted_, **attributes)
        values, first, inverse, counts = by_weft(model, [x])
        axis = attributes.get("axis")
        flat = x.reshape(-1) if axis is None else x
        at = 0 if axis is None else axis
        np.testing.assert_array_equal(np.take(values, inverse, at), flat)
        np.testing.assert_array_equal(np.take(flat, first, at), values)
        np.testing.assert_array_equal(np.bincount(inverse), counts)
        assert sorted_ or (np.diff(first) > 0).all()


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_largest(largest, dtype, rng):
    x = rng.integers(0, 6, (3, 20)).astype(dtype)
    for axis, k in ((1, 5), (0, 2)):
        compare("TopK", [x, np.array([k])], 2, axis=axis, largest=largest, constants=[1])


def test_reversed_sequences(rng):
    x = rng.standard_normal((4, 3, 2)).astype(np.float32)
    compare("ReverseSequence", [x, np.array([1, 4, 3])])
    compare("ReverseSequence", [x, np.array([1, 3, 2, 0])], batch_axis=0, time_axis=1)
