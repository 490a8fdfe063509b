"""Casts compared with the reference evaluator, strings, and refusals."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
import ml_dtypes
from onnx import TensorProto

from helpers.onnx_nodes import by_weft, compare, node_model, refused

WIDE = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.int8, np.uint16, np.int64, bool]


@pytest.mark.parametrize("dtype", WIDE, ids=lambda dtype: np.dtype(dtype).name)
def test_values_of_wide_types(dtype, rng):
    x = (rng.standard_normal((3, 5)) * 20).astype(dtype)
    for to in ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT32", "BOOL"):
        compare("Cast", [x], to=TensorProto.DataType.Value(to))


@pytest.mark.parametrize("to", ["FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E4M3FNUZ", "FLOAT8E5M2FNUZ"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_float8(to, saturate, rng):
    x = (rng.standard_normal(200) * 10.0 ** rng.integers(-4, 6, 200)).astype(np.float32)
    compare("Cast", [x], to=TensorProto.DataType.Value(to), saturate=saturate)


@pytest.mark.parametrize("kind", ["int4", "uint4", "int2", "uint2", "float4_e2m1fn"])
def test_small_types_to_others(kind):
    x = np.arange(4).astype(np.int32).astype(getattr(ml_dtypes, kind))
    for to in ("FLOAT", "FLOAT16", "INT8", "UINT8", "FLOAT8E5M2"):
        compare("Cast", [x], to=TensorProto.DataType.Value(to))


@pytest.mark.parametrize("to", ["FLOAT6E2M3", "FLOAT6E3M2", "FLOAT4E2M1"])
def test_floats_without_infinity(to, rng):
    if to not in TensorProto.DataType.keys():
        pytest.skip(f"this version of onnx has no {to}")
    x = (rng.standard_normal(100) * 4).astype(np.float32)
    (y,) = compare("Cast", [x], to=TensorProto.DataType.Value(to))
    compare("Cast", [y], to=TensorProto.FLOAT)


def test_the_type_of_another_value(rng):
    x = rng.standard_normal(8).astype(np.float32)
    for like in (np.float16, ml_dtypes.int4, ml_dtypes.float8_e5m2fnuz, np.int64):
        compare("CastLike", [x, np.zeros(2, like)], saturate=1)


def test_strings():
    words = np.array(["3.25", "-1e3", "INF", "+inf", "NaN"], object)
    compare("Cast", [words], to=TensorProto.FLOAT)
    whole = np.array(["9007199254740993", "-7"], object)
    found = compare("Cast", [whole], to=TensorProto.INT64)
    assert found[0].tolist() == [9007199254740993, -7]
    x = np.array([[314.15926, -0.5], [1e3, 2.0]], np.float32)
    assert compare("Cast", [x], to=TensorProto.STRING)[0].dtype == object
    assert compare("CastLike", [x, words])[0].shape == (2, 2)


@pytest.mark.parametrize("kind", ["bfloat16", "float8_e4m3fn", "float8_e5m2fnuz", "int4"])
def test_small_types_to_strings(kind):
    x = np.array([1.5, -2.0]).astype(getattr(ml_dtypes, kind))
    (found,) = by_weft(node_model("Cast", [x], to=TensorProto.STRING), [x])
    assert found.tolist() == (["1", "-2"] if kind == "int4" else ["1.5", "-2.0"])


@pytest.mark.parametrize(
    ("dtype", "to"),
    [(np.float32, "UINT32"), (np.int64, "DOUBLE"), (np.uint8, "INT8"), (np.int16, "BFLOAT16"),
     (np.uint8, "FLOAT8E4M3FNUZ"), (ml_dtypes.float8_e5m2fnuz, "INT8")],
)  # fmt: skip
def test_bits(dtype, to):
    x = np.arange(1, 7).astype(np.float32).astype(dtype).reshape(2, 3)
    compare("BitCast", [x], to=TensorProto.DataType.Value(to))


def test_refusals():
    x = np.ones(4, np.float32)
    refused("BitCast", [x], "32 bits, and int64 has 64", to=TensorProto.INT64)
    refused("Cast", [x], "no element type complex64", to=TensorProto.COMPLEX64)
    refused("Cast", [x], "round_mode is 'even'", to=TensorProto.FLOAT8E8M0, round_mode="even")
    refused("Cast", [np.array(["?"], object)], "a string is no number", to=TensorProto.FLOAT)
    refused("BitCast", [np.array(["1"], object)], "no bits of fixed size", to=TensorProto.INT8)
