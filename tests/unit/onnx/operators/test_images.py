"""Resize and ImageDecoder compared with the reference evaluator."""

import io

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused

COORDINATES = [
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"
]  # fmt: skip


def _floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def _scaled(x, *scales):
    return [x, None, np.array(scales, np.float32)]


def _sized(x, *sizes):
    return [x, None, None, np.array(sizes)]


def _close(inputs, **options):
    constants = [i for i in (1, 2, 3) if i < len(inputs) and inputs[i] is not None]
    return compare("Resize", inputs, constants=constants, rtol=1e-4, atol=1e-5, **options)[0]


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_coordinates(coordinates, mode, rng):
    x = _floats(rng, 1, 2, 5, 4)
    options = {"mode": mode, "coordinate_transformation_mode": coordinates}
    _close(_scaled(x, 1, 1, 1.7, 0.6), **options)
    _close(_sized(x, 1, 2, 3, 9), **options)


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_nearest(nearest, rng):
    x = rng.integers(0, 99, (1, 1, 4, 6)).astype(np.int32)
    options = {"nearest_mode": nearest, "coordinate_transformation_mode": "half_pixel"}
    _close(_scaled(x, 1, 1, 1.5, 0.5), mode="nearest", **options)
    doubled = _close(_scaled(x, 1, 1, 2, 3), mode="nearest", **options)
    assert doubled.shape == (1, 1, 8, 18)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("excluded", [0, 1])
def test_antialias(mode, excluded, rng):
    inputs = _sized(_floats(rng, 1, 1, 9, 7), 1, 1, 3, 5)
    _close(inputs, mode=mode, antialias=1, exclude_outside=excluded, cubic_coeff_a=-0.5)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_ratio_of_axes_is_kept(policy, rng):
    x = _floats(rng, 1, 4, 6, 2)
    options = {"axes": [2, 1], "keep_aspect_ratio_policy": policy, "mode": "linear"}
    _close([x, None, None, np.array([9, 5])], **options)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_regions(mode, rng):
    x = _floats(rng, 1, 1, 5, 6)
    roi = np.array([0, 0, 0.2, -0.3, 1, 1, 0.7, 1.1], np.float32)
    options = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}
    found = _close([x, roi, None, np.array([1, 1, 4, 5])], mode=mode, **options)
    assert (found == 9).any()


def test_integers_are_rounded_and_clamped():
    x = np.array([[[0, 255, 255, 0]]], np.uint8)
    found = _close(_scaled(x, 1, 1, 2.0), mode="cubic")
    assert found.max() == 255


def test_old_opsets(rng):
    x = _floats(rng, 1, 1, 3, 3)
    scales = np.array([1, 1, 2, 2], np.float32)
    options = {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}
    expected = _close(_scaled(x, 1, 1, 2, 2), **options)
    for op, opset in (("Resize", 10), ("Upsample", 9)):
        model = node_model(op, [x, scales], opset=opset, mode="linear", constants=[1])
        np.testing.assert_allclose(by_weft(model, [x, scales])[0], expected, 1e-6)
    model = node_model("Upsample", [x], opset=7, mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])
    assert by_weft(model, [x])[0].tolist() == x.repeat(2, 2).repeat(2, 3).tolist()


@pytest.mark.parametrize("pixel_format", ["RGB", "BGR", "Grayscale"])
def test_decoded_images(pixel_format, rng):
    image = pytest.importorskip("PIL.Image", reason="Pillow decodes images")
    pixels = rng.integers(0, 256, (4, 5, 3)).astype(np.uint8)
    file = io.BytesIO()
    image.fromarray(pixels).save(file, "png")
    stream = np.frombuffer(file.getvalue(), np.uint8)
    compare("ImageDecoder", [stream], pixel_format=pixel_format)


def test_a_damaged_image_is_an_empty_array():
    pytest.importorskip("PIL.Image", reason="Pillow decodes images")
    stream = np.frombuffer(b"no image", np.uint8)
    assert by_weft(node_model("ImageDecoder", [stream]), [stream])[0].shape == (0, 0, 3)


def test_errors(rng):
    x = _floats(rng, 1, 1, 3, 3)
    refused("Resize", [x], "scales")
    refused("Resize", _scaled(x, 1, 1, 0, 1), "scales", constants=[2])
    refused("Resize", _scaled(x, 1, 2), "scales", constants=[2])
    refused("Resize", _sized(x, 1, 1, -1, 2), "sizes", constants=[3])
    refused("Resize", _scaled(x, 1, 1, 2, 2), "mode", mode="area", constants=[2])
