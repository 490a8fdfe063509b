"""Reductions and prefix scans compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model

REDUCTIONS = [
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
    "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
]  # fmt: skip


@pytest.mark.parametrize("op", REDUCTIONS)
def test_axes_as_input_and_as_attribute(op, rng):
    x = rng.uniform(0.5, 2.0, (2, 3, 4)).astype(np.float32)
    for axes, keepdims in (([1], 1), ([-1, 0], 0)):
        compare(op, [x, np.array(axes)], keepdims=keepdims, constants=[1], rtol=1e-5)
        compare(op, [x], axes=axes, keepdims=keepdims, opset=12, rtol=1e-5)
    compare(op, [x], keepdims=0, rtol=1e-5)


@pytest.mark.parametrize("op", REDUCTIONS)
def test_no_axes(op, rng):
    x = rng.uniform(0.5, 2.0, (2, 3)).astype(np.float32)
    none = np.array([], np.int64)
    compare(op, [x, none], constants=[1], rtol=1e-5)
    kept = by_weft(node_model(op, [x, none], noop_with_empty_axes=1), [x, none])[0]
    assert kept.shape == x.shape
    squares, logs = ("ReduceSumSquare",), ("ReduceLogSum",)
    expected = x * x if op in squares else np.log(x) if op in logs else x
    np.testing.assert_allclose(kept, expected, 1e-5)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.float16])
def test_dtypes_stay(dtype, rng):
    x = rng.integers(1, 5, (3, 4)).astype(dtype)
    for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare"):
        if dtype is np.uint8 and op not in ("ReduceMax", "ReduceMin"):
            continue
        found = by_weft(node_model(op, [x], keepdims=0), [x])[0]
        assert found.dtype == dtype
    if np.dtype(dtype).kind == "i":
        compare("ReduceMean", [x - 3], keepdims=0)


def test_sums_of_float16_do_not_overflow_on_the_way():
    x = np.full((4, 1000), 20.0, np.float16)
    found = by_weft(node_model("ReduceL2", [x, np.array([1])]), [x, np.array([1])])[0]
    np.testing.assert_allclose(found, np.sqrt(400000.0) * np.ones((4, 1)), 1e-3)


@pytest.mark.parametrize(
    ("op", "expected"),
    [("ReduceSum", 0), ("ReduceProd", 1), ("ReduceMax", -np.inf), ("ReduceMin", np.inf),
     ("ReduceLogSum", -np.inf), ("ReduceLogSumExp", -np.inf)],
)  # fmt: skip
def test_empty_sets(op, expected):
    x, axes = np.zeros((2, 0, 3), np.float32), np.array([1])
    found = by_weft(node_model(op, [x, axes], constants=[1]), [x, axes])[0]
    assert found.shape == (2, 1, 3) and (found == expected).all()


def test_extremes_of_bool():
    x = np.array([[True, False], [False, False]])
    for op in ("ReduceMax", "ReduceMin"):
        compare(op, [x, np.array([1])], constants=[1])


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("select_last_index", [0, 1])
def test_positions(op, select_last_index, rng):
    x = rng.integers(0, 3, (3, 4, 5)).astype(np.float32)
    for axis, keepdims in ((0, 1), (-1, 0)):
        options = {"axis": axis, "keepdims": keepdims, "select_last_index": select_last_index}
        compare(op, [x], **options)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_scans(exclusive, reverse, rng):
    x, axis = rng.integers(1, 4, (2, 3, 4)).astype(np.float64), np.array(1)
    inputs, options = [x, axis], {"exclusive": exclusive, "reverse": reverse, "constants": [1]}
    compare("CumSum", inputs, **options)
    compare("CumProd", inputs, **options)
