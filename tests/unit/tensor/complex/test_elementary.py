"""Elementary functions of complex tensors against NumPy's, special values among them.

The arguments of all tests of a function are one tensor: it is compiled once for each dtype.
"""

from functools import cache

import numpy as np
import pytest

from weft import Tensor
from weft.tensor.complex.elementary import METHODS, signed

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan]
GRID = np.array([complex(a, b) for a in SPECIAL for b in SPECIAL])
NUMPY_NAMES = {
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "asin": "arcsin",
    "acos": "arccos", "atan": "arctan",
}  # fmt: skip
NOT_OF_C = {"expm1"}  # NumPy has NaN at infinities


def numbers():
    rng = np.random.default_rng(3)
    scales = (1.0, 1e-3, 8.0)
    parts = [
        rng.standard_normal(40) * a + 1j * rng.standard_normal(40) * b
        for a in scales
        for b in scales
    ]
    return np.concatenate(parts)


def large_numbers(dtype):
    top = float(np.finfo(dtype).max)
    parts = (top, -top, top / 2, 1.0, -1.0, 0.0)
    return np.array([complex(a, b) for a in parts for b in parts])


def sides_of_cuts():
    return np.array([complex(a, b) for a in (-2.5, 2.5, 0.0, -0.0) for b in (0.0, -0.0, 2.5, -2.5)])


@cache
def results(name, dtype):
    """The arguments of each test, and what the method `name` gives for them."""
    groups = {
        "values": numbers(), "special": GRID, "large": large_numbers(dtype),
        "sides": sides_of_cuts(),
    }  # fmt: skip
    z = np.concatenate(list(groups.values())).astype(dtype)
    found = getattr(Tensor(z), name)()
    assert found.dtype.name == dtype
    ends = np.cumsum([len(group) for group in groups.values()])[:-1]
    return dict(zip(groups, zip(np.split(z, ends), np.split(found.numpy(), ends))))


def reference(name):
    return getattr(np, NUMPY_NAMES.get(name, name))


@pytest.mark.parametrize("name", sorted(METHODS))
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_values(name, dtype):
    z, found = results(name, dtype)["values"]
    exact = reference(name)(z.astype(np.clongdouble))
    error = abs(found - exact) / abs(exact)
    assert error.max() < 16 * np.finfo(dtype).eps


# the standard does not specify the sign of a zero where this part of the argument is not finite
NO_SIGN = dict.fromkeys(("exp", "expm1", "exp2", "sinh", "cosh", "tanh"), "imag")
NO_SIGN |= dict.fromkeys(("sin", "cos", "tan"), "real")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", sorted(METHODS))
def test_special_values(name, dtype):
    grid, found = results(name, dtype)["special"]
    with np.errstate(all="ignore"):
        expected = reference("exp" if name in NOT_OF_C else name)(grid)
        if name in NOT_OF_C:
            expected = np.where(np.isfinite(grid), reference(name)(grid), expected - 1)
    eps = np.finfo(dtype).eps
    for z, x, y in zip(grid, found, expected):
        signed_zeros = np.isfinite(getattr(z, NO_SIGN.get(name, "real"))) or name not in NO_SIGN
        for a, b, other in ((x.real, y.real, y.imag), (x.imag, y.imag, y.real)):
            if np.isinf(b) and np.isnan(other):  # the sign is not specified
                a, b = abs(a), abs(b)
            same = (np.isnan(a) and np.isnan(b)) or a == b or abs(a - b) < 32 * eps * abs(b)
            if b == 0 and signed_zeros and not np.isnan(z):
                same = same and np.signbit(a) == np.signbit(b)
            assert same, f"{name}({z}) is {x}, not {y}"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["asinh", "acosh", "asin", "acos", "atan", "atanh", "sqrt", "log"])
def test_large_numbers(name, dtype):
    z, found = results(name, dtype)["large"]
    with np.errstate(all="ignore"):
        expected = reference(name)(z)
    for a, b in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_allclose(a, b, rtol=8 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)


def test_next_to_a_branch_point():
    smallest = float(np.finfo(np.float32).smallest_subnormal)
    z = np.array([complex(1, 7 * smallest), complex(-1, -smallest)], np.complex64)
    np.testing.assert_allclose(Tensor(z).atanh().numpy(), np.arctanh(z), rtol=1e-6)


@pytest.mark.parametrize("point", [(np.inf, 0.0), (-np.inf, np.inf), (0.0, -0.0), (-np.inf, 1.0)])
def test_expm1_at_infinity(point):
    expected = {
        (np.inf, 0.0): (np.inf, 0.0), (-np.inf, np.inf): (-1.0, 0.0), (0.0, -0.0): (0.0, -0.0),
        (-np.inf, 1.0): (-1.0, 0.0),
    }[point]  # fmt: skip
    found = Tensor([complex(*point)]).expm1().item()
    assert (found.real, found.imag) == expected


@pytest.mark.parametrize("name", ["sqrt", "log", "asin", "acos", "atan", "atanh", "acosh", "asinh"])
def test_sides_of_branch_cuts(name):
    z, found = results(name, "complex128")["sides"]
    with np.errstate(all="ignore"):
        expected = reference(name)(z)
    assert np.array_equal(np.sign(found.imag), np.sign(expected.imag))
    assert np.allclose(found, expected, rtol=1e-12)


def test_overflow_of_one_part():
    assert Tensor([complex(1e30, 0.0)]).exp().item() == complex(np.inf, 0.0)
    root = Tensor([complex(3e38, 3e38)]).sqrt().item()
    assert np.isclose(root, np.sqrt(complex(3e38, 3e38)), rtol=1e-6)


def test_a_number_with_the_signs_of_a_tensor():
    assert signed(2.0, Tensor([1.0, -0.0])).tolist() == [2.0, -2.0]
