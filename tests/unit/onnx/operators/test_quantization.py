"""Quantization compared with the reference evaluator: equal, not close."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
import ml_dtypes
from onnx import TensorProto

from helpers.onnx_nodes import compare, refused

INTEGERS = [np.uint8, np.int8, np.uint16, np.int16, ml_dtypes.uint4, ml_dtypes.int2]
FLOATS = [
    ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float4_e2m1fn,
]  # fmt: skip


def name_of(dtype):
    return np.dtype(dtype).name


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
def test_integers_with_one_scale(dtype, rng):
    # multiples of a half of the scale: half of the quotients are ties
    x = (rng.integers(-600, 600, (4, 9)) * 0.125).astype(np.float32)
    scale, zero = np.array(0.25, np.float32), np.array(1).astype(dtype)
    (y,) = compare("QuantizeLinear", [x, scale, zero])
    compare("DequantizeLinear", [y, scale, zero])


@pytest.mark.parametrize("dtype", FLOATS, ids=name_of)
@pytest.mark.parametrize("saturate", [0, 1])
def test_floats(dtype, saturate, rng):
    x = (rng.standard_normal((3, 40)) * 300).astype(np.float32)
    scale = np.array([0.5, 1.0, 3.0], np.float32)
    zero = np.zeros(3, dtype)
    (y,) = compare("QuantizeLinear", [x, scale, zero], axis=0, saturate=saturate)
    compare("DequantizeLinear", [y, scale, zero], axis=0)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32], ids=name_of)
def test_dtypes_of_the_scale(dtype, rng):
    x = (rng.standard_normal((6, 5)) * 100).astype(dtype)
    scale = rng.uniform(0.3, 2, 5).astype(dtype)
    zero = rng.integers(0, 256, 5).astype(np.uint8)
    (y,) = compare("QuantizeLinear", [x, scale, zero], axis=-1)
    compare("DequantizeLinear", [y, scale, zero], axis=-1)


@pytest.mark.parametrize(("shape", "axis", "block"), [((4, 12), 1, 4), ((7, 3, 2), 0, 3)])
def test_blocks(shape, axis, block, rng):
    blocks = tuple(-(-n // block) if i == axis else n for i, n in enumerate(shape))
    x = (rng.standard_normal(shape) * 50).astype(np.float32)
    scale = rng.uniform(0.2, 1, blocks).astype(np.float32)
    zero = rng.integers(-8, 8, blocks).astype(np.int8)
    options = {"axis": axis, "block_size": block}
    (y,) = compare("QuantizeLinear", [x, scale, zero], **options)
    compare("DequantizeLinear", [y, scale, zero], **options)


def test_types_by_attribute(rng):
    x = (rng.standard_normal((3, 4)) * 9).astype(np.float32)
    scale = np.array(0.7, np.float32)
    compare("QuantizeLinear", [x, scale])
    compare("QuantizeLinear", [x, scale], output_dtype=TensorProto.INT4)
    half = scale.astype(np.float16)
    compare("QuantizeLinear", [x, half], precision=TensorProto.FLOAT)
    y = rng.integers(-9, 9, (3, 4)).astype(np.int8)
    compare("DequantizeLinear", [y, scale], output_dtype=TensorProto.FLOAT16)
    compare("DequantizeLinear", [y.astype(np.int32) * 99999999, scale])


@pytest.mark.parametrize("shift", [-3.0, 0.0, 5.0])
def test_the_scale_of_the_data(shift, rng):
    x = (rng.standard_normal((30, 7)) + shift).astype(np.float32)
    compare("DynamicQuantizeLinear", [x], 3)
    compare("DynamicQuantizeLinear", [np.zeros((2, 2), np.float32)], 3)


def test_refusals():
    x, scale = np.ones((2, 3), np.float32), np.ones(4, np.float32)
    refused("QuantizeLinear", [x, scale], "one for each index of the axis")
    refused("QuantizeLinear", [x, scale[:2]], "axis is 5", axis=5)
    refused("QuantizeLinear", [x, scale[:1]], "int32 is no quantized type", output_dtype=6)
    zero = np.zeros(1, np.int8)
    refused("QuantizeLinear", [x, scale[:1], zero], "leave out output_dtype", output_dtype=2)
