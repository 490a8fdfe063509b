"""Functions of each element against NumPy's: ordinary numbers, and every special one."""

import math

import numpy as np
import pytest

import weft.array_api as xp
from weft.base.errors import ArgumentError, DTypeError

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -1.5, 2.0, 3.0, -3.0, 7.3, 1e-30, -1e-30, 1e30,
    -1e30, math.inf, -math.inf, math.nan, 0.3, -0.3, 100.0, -100.0, 88.0, 710.0, 1e10, -1e10,
]  # fmt: skip
ONE = {
    "abs": "abs", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atanh": "arctanh", "ceil": "ceil", "cos": "cos", "cosh": "cosh",
    "exp": "exp", "expm1": "expm1", "floor": "floor", "isfinite": "isfinite", "isinf": "isinf",
    "isnan": "isnan", "log": "log", "log1p": "log1p", "log2": "log2", "log10": "log10",
    "negative": "negative", "positive": "positive", "reciprocal": "reciprocal", "round": "round",
    "sign": "sign", "signbit": "signbit", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "square": "square", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
    "logical_not": "logical_not",
}  # fmt: skip
TWO = {
    "add": "add", "atan2": "arctan2", "copysign": "copysign", "divide": "divide",
    "equal": "equal", "greater": "greater", "greater_equal": "greater_equal", "hypot": "hypot",
    "less": "less", "less_equal": "less_equal", "logaddexp": "logaddexp", "maximum": "maximum",
    "minimum": "minimum", "multiply": "multiply", "nextafter": "nextafter",
    "not_equal": "not_equal", "pow": "power", "remainder": "remainder", "subtract": "subtract",
}  # fmt: skip
# the order of two zeros is undefined
EITHER_ZERO = {"maximum", "minimum"}


def check(name, got, expected):
    assert got.dtype == expected.dtype
    tolerance = {"float32": 1e-5, "float64": 1e-12, "bool": 0}[expected.dtype.name]
    tiny = 0 if expected.dtype == bool else np.finfo(expected.dtype).tiny
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tiny, err_msg=name)
    if expected.dtype != bool and name not in EITHER_ZERO:
        zero = expected == 0
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(expected[zero]), name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one(name, dtype):
    x = np.array(SPECIAL, dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, ONE[name])(x)
    check(name, getattr(xp, name)(xp.asarray(x)).numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two(name, dtype):
    a, b = (np.ascontiguousarray(m) for m in np.meshgrid(*[np.array(SPECIAL, dtype)] * 2))
    with np.errstate(all="ignore"):
        expected = getattr(np, TWO[name])(a, b)
    check(name, getattr(xp, name)(xp.asarray(a), xp.asarray(b)).numpy(), expected)


def test_floor_divide_where_the_standard_leaves_nothing_open():
    a = xp.asarray([0.0, 0.0, 1.0, -1.0, math.inf, math.nan, 5.0, -5.0])
    b = xp.asarray([0.0, -0.0, 0.0, 0.0, math.inf, 1.0, 2.0, 2.0])
    got = xp.floor_divide(a, b).numpy()
    nan, inf = math.nan, math.inf
    np.testing.assert_array_equal(got, [nan, nan, inf, -inf, nan, nan, 2.0, -3.0])


@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "floor_divide", "remainder", "pow"]
)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_integers_stay_integers(name, dtype):
    a, b = np.array([7, 1, 3, 100], dtype), np.array([2, 5, 3, 1], dtype)
    expected = getattr(np, {"pow": "power"}.get(name, name))(a, b)
    got = getattr(xp, name)(xp.asarray(a), xp.asarray(b))
    np.testing.assert_array_equal(got.numpy(), expected)
    assert got.dtype is getattr(xp, dtype)


def test_bits():
    a, b = xp.asarray([12, -7], dtype=xp.int8), xp.asarray([10, 3], dtype=xp.int8)
    assert xp.bitwise_and(a, b).tolist() == [8, 1]
    assert xp.bitwise_or(a, b).tolist() == [14, -5]
    assert xp.bitwise_xor(a, 10).tolist() == [6, -13]
    assert xp.bitwise_invert(a).tolist() == [-13, 6]
    assert xp.bitwise_left_shift(a, 2).tolist() == [48, -28]
    assert xp.bitwise_right_shift(a, xp.asarray([1, 100], dtype=xp.int8)).tolist() == [6, -1]
    with pytest.raises(DTypeError):
        xp.bitwise_and(xp.ones(2), xp.ones(2))


def test_truth():
    a, b = xp.asarray([True, True, False]), xp.asarray([True, False, False])
    assert xp.logical_and(a, b).tolist() == [True, False, False]
    assert xp.logical_or(a, b).tolist() == [True, True, False]
    assert xp.logical_xor(a, b).tolist() == [False, True, False]
    assert xp.logical_not(a).tolist() == [False, False, True]


def test_numbers_take_the_dtype_of_the_array():
    x = xp.asarray([1, 2], dtype=xp.int8)
    assert xp.add(1, x).dtype is xp.add(x, 1).dtype is xp.int8
    assert xp.pow(2.0, xp.asarray([3.0], dtype=xp.float64)).dtype is xp.float64
    assert xp.subtract(5, x).tolist() == [4, 3]
    assert xp.atan2(1.0, xp.asarray([0.0])).item() == pytest.approx(math.pi / 2)


def test_clip():
    x = xp.asarray([1, 5, 9], dtype=xp.int8)
    assert xp.clip(x, 2, 6).tolist() == [2, 5, 6]
    assert xp.clip(x, max=4).tolist() == [1, 4, 4]
    assert xp.clip(x, -1000, math.inf).tolist() == [1, 5, 9]
    assert xp.clip(x, xp.asarray([[2], [6]], dtype=xp.int8)).tolist() == [[2, 5, 9], [6, 6, 9]]
    assert xp.clip(x).tolist() == [1, 5, 9]
    assert xp.clip(x, 2, 6).dtype is xp.int8
    bounded = xp.clip(xp.asarray([math.nan, 3.0]), 0.0, 1.0).tolist()
    assert math.isnan(bounded[0]) and bounded[1] == 1.0
    assert math.isnan(xp.clip(xp.asarray([1.0]), math.nan).item())


def test_halves():
    x = xp.asarray([0.5, -0.0, 2.0], dtype=xp.float16)
    np.testing.assert_array_equal(xp.signbit(x).numpy(), [False, True, False])
    assert xp.nextafter(x, xp.asarray(9.0, dtype=xp.float16))[0].item() == float(
        np.nextafter(np.float16(0.5), np.float16(9))
    )
    assert xp.sin(x).dtype is xp.float16


def test_every_number_is_real():
    x = xp.asarray([1.0])
    assert xp.real(x) is xp.conj(x) is x
    with pytest.raises(ArgumentError, match="imaginary"):
        xp.imag(x)
    with pytest.raises(DTypeError):
        xp.signbit(xp.asarray(1))


@pytest.mark.parametrize("a, b, expected", [
    (math.inf, 2.0, math.inf), (math.inf, -2.0, -math.inf), (-math.inf, 2.0, -math.inf),
    (-math.inf, -2.0, math.inf), (2.0, math.inf, 0.0), (2.0, -math.inf, -0.0),
    (-2.0, math.inf, -0.0), (-2.0, -math.inf, 0.0), (math.inf, math.inf, math.nan),
    (0.0, -math.inf, -0.0), (-7.0, 2.0, -4.0), (math.inf, 0.0, math.inf),
])  # fmt: skip
def test_floor_divide_at_infinities(a, b, expected):
    x, y = xp.asarray([a]), xp.asarray([b])
    for found in (xp.floor_divide(x, y), x // y, a // y, x // b):
        value = found.item()
        assert value == expected or (math.isnan(value) and math.isnan(expected))
        assert math.isnan(expected) or math.copysign(1, value) == math.copysign(1, expected)
