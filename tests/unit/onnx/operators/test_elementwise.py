"""Elementwise operators compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
import ml_dtypes

from helpers.onnx_nodes import by_weft, compare, node_model, refused

INTEGERS = [np.int8, np.uint8, np.int32, np.int64]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_functions_of_one_variable_keep_the_dtype(dtype, rng):
    x = rng.uniform(0.1, 0.9, (3, 4)).astype(dtype)
    for op in ("Sqrt", "Exp", "Log", "Erf", "Tanh", "Reciprocal", "Neg"):
        found = by_weft(node_model(op, [x]), [x])[0]
        wide = by_weft(node_model(op, [x.astype(np.float64)]), [x.astype(np.float64)])[0]
        assert found.dtype == x.dtype
        np.testing.assert_allclose(
            found.astype(np.float64), wide, 2 * float(ml_dtypes.finfo(dtype).eps)
        )


def test_rounding_of_halves_and_signs():
    x = np.array([-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, np.inf, np.nan], np.float32)
    for op in ("Round", "Floor", "Ceil", "Abs", "Sign", "IsNaN", "IsInf"):
        compare(op, [x])
    compare("IsInf", [-x], detect_negative=0)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_and_divide_toward_zero(dtype, rng):
    low = 0 if np.dtype(dtype).kind == "u" else -100
    a = rng.integers(low, 100, (4, 1, 3)).astype(dtype)
    b = (rng.integers(1, 9, (2, 1)) * rng.choice([1, -1 if low else 1], (2, 1))).astype(dtype)
    for op in ("Add", "Sub", "Mul", "Mod", "BitwiseXor", "Max", "Min", "LessOrEqual"):
        compare(op, [a, b])
    compare("Mod", [a, b], fmod=1)
    quotient = by_weft(node_model("Div", [a, b]), [a, b])[0]
    np.testing.assert_array_equal(quotient, np.trunc(a / b).astype(dtype))


def test_remainders_of_floats(rng):
    a = np.array([-7.5, -3.0, 3.0, 7.5, 0.0], np.float32)[:, None]
    b = np.array([2.0, -2.0, 0.75], np.float32)
    compare("Mod", [a, b], fmod=1, rtol=1e-6)
    expected = np.mod(a, b)
    found = by_weft(node_model("Mod", [a, b]), [a, b])[0]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("base", [np.float32, np.int32, np.int64, np.float16])
@pytest.mark.parametrize("exponent", [np.float32, np.int64])
def test_powers_have_the_dtype_of_the_base(base, exponent):
    x = np.array([1, 2, 3, 4], base)
    compare("Pow", [x, np.array([3, 2, 1, 0], exponent)], rtol=1e-6)


@pytest.mark.parametrize("exponent", [0.0, 0.5, -0.5, 1.0, 2.0, -3.0, 2.5])
def test_constant_exponents(exponent, rng):
    x = rng.uniform(0.5, 2, (2, 3)).astype(np.float32)
    compare("Pow", [x, np.array(exponent, np.float32)], constants=[1], rtol=1e-6)
    compare("Pow", [x, np.full((1, 1, 1), exponent)], constants=[1], rtol=1e-6)
    compare("Pow", [x.astype(np.float16), np.float16([exponent])], constants=[1], rtol=2e-3)


@pytest.mark.parametrize("opset", [11, 13])
def test_clip_by_inputs(opset, rng):
    x = rng.standard_normal((3, 4)).astype(np.float32)
    low, high = np.array(-0.5, np.float32), np.array(0.25, np.float32)
    compare("Clip", [x, low, high], opset=opset)
    compare("Clip", [x, None, high], opset=opset)
    compare("Clip", [x, low], opset=opset)
    compare("Clip", [x], opset=opset)
    compare("Clip", [x, high, low], opset=opset)  # the upper bound counts


def test_variadic_operators_broadcast(rng):
    xs = [rng.standard_normal(s).astype(np.float32) for s in ((2, 4, 3), (4, 1), (3,))]
    for op in ("Sum", "Max", "Min", "Mean"):
        compare(op, xs, rtol=1e-6)
        compare(op, xs[:1])
    compare("Max", [np.array([np.nan, 1], np.float32), np.array([0, np.nan], np.float32)])


def test_broadcast_by_axis_before_opset_7(rng):
    a, b = rng.standard_normal((2, 3, 4)).astype(np.float32), np.arange(3, dtype=np.float32)
    found = by_weft(node_model("Add", [a, b], opset=6, axis=1, broadcast=1), [a, b])[0]
    np.testing.assert_array_equal(found, a + b[:, None])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int16])
def test_shifts(dtype):
    x = np.array([1, 4, 100, 127], dtype)
    y = np.array([0, 1, 3, 7], dtype)
    for direction in ("LEFT", "RIGHT"):
        compare("BitShift", [x, y], direction=direction)
    refused("BitShift", [x, y], "direction", direction="UP")


def test_shifts_beyond_the_width_leave_the_sign():
    x, y = np.array([-8, 8, -8, 8], np.int32), np.array([32, 32, -1, -1], np.int32)
    for direction, expected in (("RIGHT", [-1, 0, -1, 0]), ("LEFT", [0, 0, 0, 0])):
        model = node_model("BitShift", [x, y], direction=direction)
        assert by_weft(model, [x, y])[0].tolist() == expected


def test_choice(rng):
    condition = rng.integers(0, 2, (3, 1)).astype(bool)
    x, y = rng.integers(0, 9, (2, 3, 4)).astype(np.int64)
    compare("Where", [condition, x, y])
    compare("Not", [condition])
    compare("Xor", [condition, condition.T])
