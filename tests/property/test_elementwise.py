"""Elementwise methods against NumPy: random values, dtypes, shapes that broadcast."""

import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import Tensor, dtypes

SMALL = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
FLOATS = st.floats(-100, 100, width=32)
INTS = {
    "int8": (np.int8, -128, 127),
    "uint8": (np.uint8, 0, 255),
    "int32": (np.int32, -(2**31), 2**31 - 1),
    "uint32": (np.uint32, 0, 2**32 - 1),
    "int64": (np.int64, -(2**63), 2**63 - 1),
    "uint64": (np.uint64, 0, 2**64 - 1),
}


def int_arrays(name, shape):
    kind, low, high = INTS[name]
    edges = st.sampled_from([low, high, 0, 1])
    return hnp.arrays(kind, shape, elements=edges | st.integers(low, high))


@st.composite
def pairs(draw, elements=FLOATS, dtype=np.float32):
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
    return [draw(hnp.arrays(dtype, s, elements=elements)) for s in shapes.input_shapes]


@given(
    pairs(), st.sampled_from(["add", "subtract", "multiply", "true_divide", "maximum", "minimum"])
)
def test_float_pairs_equal_numpy_bit_for_bit(values, name):
    a, b = values
    ours = {
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": lambda x, y: x * y,
        "true_divide": lambda x, y: x / y,
        "maximum": lambda x, y: x.maximum(y),
        "minimum": lambda x, y: x.minimum(y),
    }[name]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
    got = ours(Tensor(a), Tensor(b)).numpy()
    assert got.dtype == np.float32 and got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)


@given(pairs(), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
def test_comparisons(values, sign):
    a, b = (np.where(v > 90, np.nan, v) for v in values)
    compare = eval(f"lambda x, y: x {sign} y")
    got = compare(Tensor(a), Tensor(b)).numpy()
    assert got.dtype == np.bool_
    np.testing.assert_array_equal(got, compare(a, b))


@given(st.data(), st.sampled_from(list(INTS)), st.sampled_from(["+", "-", "*", "&", "|", "^"]))
def test_integers_wrap_as_in_numpy(data, name, sign):
    a = data.draw(int_arrays(name, (5,)))
    b = data.draw(int_arrays(name, (5,)))
    apply = eval(f"lambda x, y: x {sign} y")
    got = apply(Tensor(a), Tensor(b)).numpy()
    assert got.dtype == a.dtype
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, apply(a, b))


@given(st.data(), st.sampled_from(list(INTS)))
def test_integer_division_floors_and_is_zero_by_zero(data, name):
    a = data.draw(int_arrays(name, (6,)))
    b = data.draw(int_arrays(name, (6,)))
    x, y = Tensor(a), Tensor(b)
    least = np.iinfo(a.dtype).min
    plain = ~((a == least) & (b == a.dtype.type(-1 if least < 0 else 1)) & (least < 0))
    with np.errstate(all="ignore"):
        down, rest = np.floor_divide(a, b), np.mod(a, b)
    np.testing.assert_array_equal((x // y).numpy()[plain], np.where(b == 0, 0, down)[plain])
    np.testing.assert_array_equal((x % y).numpy()[plain], np.where(b == 0, 0, rest)[plain])
    toward = [0 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
              for p, q in zip(a[plain].tolist(), b[plain].tolist())]  # fmt: skip
    np.testing.assert_array_equal(x.idiv(y).numpy()[plain], np.array(toward, a.dtype))


@given(st.data(), st.sampled_from(list(INTS)), st.integers(-5, 5))
def test_division_by_a_number(data, name, number):
    kind, low, _ = INTS[name]
    if low == 0 and number < 0:
        number = -number
    a = data.draw(hnp.arrays(kind, (4,), elements=st.integers(max(low, -1000) + 1, 100)))
    got_down, got_rest = (Tensor(a) // number).numpy(), (Tensor(a) % number).numpy()
    if number == 0:
        np.testing.assert_array_equal(got_down, 0)
        np.testing.assert_array_equal(got_rest, 0)
    else:
        np.testing.assert_array_equal(got_down, a // kind(number))
        np.testing.assert_array_equal(got_rest, a % kind(number))


@given(hnp.arrays(np.float32, SMALL, elements=st.floats(-1e6, 1e6, width=32)))
def test_rounding(a):
    a = np.concatenate([a.reshape(-1), np.float32([0.5, 1.5, 2.5, -0.5, 0.49999997, 8388609.0])])
    x = Tensor(a)
    np.testing.assert_array_equal(x.floor().numpy(), np.floor(a))
    np.testing.assert_array_equal(x.ceil().numpy(), np.ceil(a))
    np.testing.assert_array_equal(x.trunc().numpy(), np.trunc(a))
    np.testing.assert_array_equal(x.round().numpy(), np.round(a))
    np.testing.assert_array_equal(x.sign().numpy(), np.sign(a))
    np.testing.assert_array_equal(x.abs().numpy(), np.abs(a))
    assert not np.signbit(Tensor([-0.0, 0.0]).abs().numpy()).any()


@given(st.data())
def test_where_broadcasts_three_operands(data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3))
    c, a, b = shapes.input_shapes
    cond = data.draw(hnp.arrays(np.bool_, c))
    x = data.draw(hnp.arrays(np.float32, a, elements=FLOATS))
    y = data.draw(hnp.arrays(np.int32, b, elements=st.integers(-9, 9)))
    got = Tensor(cond).where(Tensor(x), Tensor(y)).numpy()
    np.testing.assert_array_equal(got, np.where(cond, x, y.astype(np.float32)))
    assert got.dtype == np.float32


@given(hnp.arrays(np.float32, (7,), elements=FLOATS), FLOATS, FLOATS)
def test_clamp_keeps_nan(a, low, high):
    a[0] = np.nan
    low, high = min(low, high), max(low, high)
    np.testing.assert_array_equal(Tensor(a).clamp(low, high).numpy(), np.clip(a, low, high))


def test_a_bound_that_is_no_number_makes_none():
    x, nan = Tensor([1.0, 5.0]), math.nan
    for got in (x.clamp(nan, 7), x.clamp(0, nan), x.clamp(nan), Tensor([1, 5]).clamp(0, nan)):
        assert got.isnan().all().item()
    np.testing.assert_array_equal(x.clamp(Tensor([nan, 2.0])).numpy(), [nan, 5])
    np.testing.assert_array_equal(x.clamp(0, np.float32([2, nan])).numpy(), [1, nan])


@given(st.integers(0, 6), st.lists(st.integers(-9, 9), min_size=1, max_size=5))
def test_integer_powers(exponent, base):
    a = np.array(base, np.int32)
    np.testing.assert_array_equal((Tensor(a) ** exponent).numpy(), a**exponent)
    e = np.full_like(a, exponent)
    np.testing.assert_array_equal((Tensor(a) ** Tensor(e)).numpy(), a**e)


def test_powers_of_floats():
    a = np.float32([0.0, 0.5, 1.0, 2.0, 3.5, 10.0])
    for exponent in (-2, 0, 0.5, 1, 2.5, 3, 7, -0.5):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose((Tensor(a) ** exponent).numpy(), a**exponent, rtol=2e-6)
    np.testing.assert_allclose((2.0 ** Tensor(a)).numpy(), 2.0**a, rtol=1e-5)
    np.testing.assert_allclose((Tensor(a) ** Tensor(a)).numpy(), a**a, rtol=1e-5)


@given(st.data(), st.sampled_from(list(INTS)))
def test_shifts(data, name):
    kind, _, _ = INTS[name]
    a = data.draw(int_arrays(name, (5,)))
    by = data.draw(st.integers(0, np.iinfo(kind).bits - 1))
    np.testing.assert_array_equal((Tensor(a) << by).numpy(), np.left_shift(a, kind(by)))
    np.testing.assert_array_equal((Tensor(a) >> by).numpy(), np.right_shift(a, kind(by)))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, -0.0])
def test_special_values_of_tests(value):
    x = Tensor([value, 1.0])
    a = np.float32([value, 1.0])
    np.testing.assert_array_equal(x.isnan().numpy(), np.isnan(a))
    np.testing.assert_array_equal(x.isinf().numpy(), np.isinf(a))
    np.testing.assert_array_equal(x.isfinite().numpy(), np.isfinite(a))
    np.testing.assert_array_equal(
        Tensor([1.0, 2.0]).copysign(x).numpy(), np.copysign(np.float32([1, 2]), a)
    )
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(x.relu().numpy()[0], np.maximum(a[0], np.float32(0)))


RANGES = {
    "exp": (-104, 89), "exp2": (-150, 128), "log": (1e-38, 1e38), "log2": (1e-38, 1e38),
    "log1p": (-0.999, 1e6), "expm1": (-20, 80), "sin": (-100, 100), "cos": (-100, 100),
    "tan": (-1.5, 1.5), "arcsin": (-1, 1), "arccos": (-1, 1), "arctan": (-1e4, 1e4),
    "sinh": (-80, 80), "cosh": (-80, 80), "tanh": (-20, 20), "arcsinh": (-1e6, 1e6),
    "arccosh": (1, 1e6), "arctanh": (-0.999, 0.999), "sqrt": (0, 1e38),
}  # fmt: skip
OURS = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
        "arccosh": "acosh", "arctanh": "atanh"}  # fmt: skip


@pytest.mark.parametrize("kind, rtol", [(np.float32, 2e-6), (np.float64, 4e-14)])
@pytest.mark.parametrize("name", sorted(RANGES))
def test_functions_of_real_numbers(name, kind, rtol):
    low, high = RANGES[name]
    a = np.linspace(low, high, 400).astype(kind)
    a = np.concatenate([a, np.clip(np.array([1e-7, 1e-4, -1e-4, 0.3, 1.0], kind), low, high)])
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a.astype(np.float64))
        tiny = np.finfo(kind).tiny
        keep = (np.abs(expected) > tiny) & (np.abs(expected) < np.finfo(kind).max / 2)
    got = getattr(Tensor(a), OURS.get(name, name))().numpy()
    atol = {"sin": 2e-7, "cos": 3e-7}.get(name, 0) * (1 if kind is np.float32 else 1e-8)
    np.testing.assert_allclose(got[keep], expected[keep], rtol=rtol, atol=atol)


@pytest.mark.parametrize("kind, bound", [(np.float32, 3e-7), (np.float64, 1e-14)])
def test_error_function(kind, bound):
    a = np.linspace(-6, 6, 301).astype(kind)
    expected = np.array([math.erf(v) for v in a])
    assert np.abs(Tensor(a).erf().numpy() - expected).max() < bound


def test_activations_far_out_do_not_overflow():
    x = Tensor([-1e4, -100.0, 0.0, 100.0, 1e4])
    for name in ("sigmoid", "tanh", "gelu", "silu", "softplus", "logsigmoid", "elu", "mish", "erf"):
        values = getattr(x, name)().numpy()
        assert np.isfinite(values).all(), name
    np.testing.assert_array_equal(x.sigmoid().numpy()[[0, 2, 4]], [0, 0.5, 1])


def test_python_numbers_are_weak():
    assert (Tensor([1], dtype="uint8") + 1).dtype is dtypes.uint8
    assert (Tensor([1], dtype="uint8") + 1.0).dtype is dtypes.float32
    assert (Tensor([1.0], dtype="half") + 1.5).dtype is dtypes.half
    assert (Tensor([True]) + 1).dtype is dtypes.int32
    assert (Tensor([1]) / Tensor([2])).dtype is dtypes.float32
    assert (1 - Tensor([1.0])).numpy().tolist() == [0.0]


def test_comparing_with_a_number_the_dtype_cannot_hold():
    x = Tensor([0, 255], dtype="uint8")
    assert (x < -1).tolist() == [False, False]
    assert (x > -1).tolist() == [True, True]
    assert (x < 300).tolist() == [True, True]
    assert (x == 256).tolist() == [False, False]
    assert (x != 256).tolist() == [True, True]
    assert (x >= -1).tolist() == [True, True]
