"""GridSample and AffineGrid compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def _floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [0, 1])
def test_images(mode, padding, corners, rng):
    x = _floats(rng, 2, 2, 4, 3)
    # The reference clamps positions of the cubic mode, which PyTorch and ONNX Runtime do not.
    reach = 0.95 if (mode, padding) == ("cubic", "border") and corners else 1.9
    grid = rng.uniform(-reach, reach, (2, 2, 5, 2)).astype(np.float32)
    if (mode, padding, corners) == ("cubic", "border", 0):
        grid *= 0.3
    options = {"mode": mode, "padding_mode": padding, "align_corners": corners}
    compare("GridSample", [x, grid], rtol=1e-4, atol=1e-5, **options)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_volumes(mode, rng):
    x, grid = _floats(rng, 1, 2, 3, 4, 2), _floats(rng, 1, 2, 2, 3, 3)
    compare("GridSample", [x, grid], mode=mode, rtol=1e-4, atol=1e-5)


def test_names_of_opset_16(rng):
    x, grid = _floats(rng, 1, 1, 4, 4), _floats(rng, 1, 2, 2, 2)
    for old, new in (("bilinear", "linear"), ("bicubic", "cubic")):
        expected = by_weft(node_model("GridSample", [x, grid], mode=new), [x, grid])[0]
        found = by_weft(node_model("GridSample", [x, grid], opset=16, mode=old), [x, grid])[0]
        np.testing.assert_array_equal(found, expected)


def test_dtypes(rng):
    x, grid = rng.integers(0, 100, (1, 1, 4, 4)).astype(np.int32), _floats(rng, 1, 2, 2, 2)
    assert by_weft(node_model("GridSample", [x, grid]), [x, grid])[0].dtype == np.int32
    short = [x.astype(np.float16), grid.astype(np.float16)]
    assert by_weft(node_model("GridSample", short), short)[0].dtype == np.float16


@pytest.mark.parametrize("size", [[2, 3, 4, 5], [1, 2, 3, 2, 4], [1, 1, 1, 3]])
@pytest.mark.parametrize("corners", [0, 1])
def test_affine_grids(size, corners, rng):
    axes = len(size) - 2
    inputs = [_floats(rng, size[0], axes, axes + 1), np.array(size)]
    options = {"align_corners": corners, "constants": [1]}
    compare("AffineGrid", inputs, rtol=1e-4, atol=1e-5, **options)


def test_errors(rng):
    x, grid = _floats(rng, 1, 1, 4, 4), _floats(rng, 1, 2, 2, 3)
    refused("GridSample", [x, grid], "grid")
    refused("GridSample", [x, grid[..., :2]], "padding_mode", padding_mode="wrap")
    inputs = [_floats(rng, 1, 3, 4), np.array([1, 1, 2, 2])]
    refused("AffineGrid", inputs, "theta", constants=[1])
