"""Elementary functions of complex tensors against NumPy's, special values among them."""

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


def numbers(dtype):
    rng = np.random.default_rng(3)
    scales = (1.0, 1e-3, 8.0)
    parts = [
        rng.standard_normal(40) * a + 1j * rng.standard_normal(40) * b
        for a in scales
        for b in scales
    ]
    return np.concatenate(parts).astype(dtype)


def reference(name):
    return getattr(np, NUMPY_NAMES.get(name, name))


@pytest.mark.parametrize("name", sorted(METHODS))
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_values(name, dtype):
    z = numbers(dtype)
    found = getattr(Tensor(z), name)()
    assert found.dtype.name == dtype
    exact = reference(name)(z.astype(np.clongdouble))
    error = abs(found.numpy() - exact) / abs(exact)
    assert error.max() < 16 * np.finfo(dtype).eps


@pytest.mark.parametrize("name", sorted(set(METHODS) - NOT_OF_C))
def test_special_values(name):
    with np.errstate(all="ignore"):
        expected = reference(name)(GRID)
    found = getattr(Tensor(GRID), name)().numpy()
    for z, x, y in zip(GRID, found, expected):
        for a, b, other in ((x.real, y.real, y.imag), (x.imag, y.imag, y.real)):
            if np.isinf(b) and np.isnan(other):  # the sign is not specified
                a, b = abs(a), abs(b)
            same = (np.isnan(a) and np.isnan(b)) or a == b or abs(a - b) < 1e-12 * abs(b)
            assert same, f"{name}({z}) is {x}, not {y}"


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
    z = np.array([complex(a, b) for a in (-2.5, 2.5, 0.0, -0.0) for b in (0.0, -0.0, 2.5, -2.5)])
    with np.errstate(all="ignore"):
        expected = reference(name)(z)
    found = getattr(Tensor(z), name)().numpy()
    assert np.array_equal(np.sign(found.imag), np.sign(expected.imag))
    assert np.allclose(found, expected, rtol=1e-12)


def test_overflow_of_one_part():
    assert Tensor([complex(1e30, 0.0)]).exp().item() == complex(np.inf, 0.0)
    root = Tensor([complex(3e38, 3e38)]).sqrt().item()
    assert np.isclose(root, np.sqrt(complex(3e38, 3e38)), rtol=1e-6)


def test_a_number_with_the_signs_of_a_tensor():
    assert signed(2.0, Tensor([1.0, -0.0])).tolist() == [2.0, -2.0]
