"""Arithmetic of complex tensors against NumPy's."""

import operator

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError
from weft.tensor.complex import arithmetic

A = np.array([[1 + 2j, -3 + 0.5j], [0.25j, 4.0]], np.complex64)
B = np.array([2 - 1j, 0.5 + 3j], np.complex64)
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
OPERANDS = {
    "complex": B, "double": B.astype(np.complex128), "real": np.array([2.0, -3.0], np.float32),
    "float64": np.array([2.0, -3.0]), "ints": np.array([1, 2], np.int32),
    "float": 2.5, "int": 3, "number": 1.5 - 2j, "bools": np.array([True, True]),
}  # fmt: skip


def as_operand(x):
    return Tensor(x) if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize("of", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", sorted(OPERANDS))
@pytest.mark.parametrize("reverse", [False, True], ids=["", "reverse"])
def test_operators(of, kind, reverse):
    x, y = (OPERANDS[kind], A) if reverse else (A, OPERANDS[kind])
    with np.errstate(all="ignore"):
        expected = of(x, y)
    found = of(as_operand(x), as_operand(y))
    assert found.numpy().shape == expected.shape
    assert np.allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6, equal_nan=True)
    double = "double" in kind or kind == "float64"
    assert found.dtype is (dtypes.complex128 if double else dtypes.complex64)


@pytest.mark.parametrize("of", OPERATORS[:4], ids=lambda f: f.__name__)
def test_a_real_tensor_and_a_complex_number(of):
    x = np.array([1.0, -2.0], np.float32)
    assert np.allclose(of(Tensor(x), 1 + 2j).numpy(), of(x, 1 + 2j))
    assert np.allclose(of(1 + 2j, Tensor(x)).numpy(), of(1 + 2j, x))
    assert of(Tensor(x), np.complex64(2j)).dtype is dtypes.complex64


@pytest.mark.parametrize("method", ["add", "sub", "mul", "div", "pow"])
def test_methods_of_real_tensors(method):
    x, z = Tensor([2.0, 3.0]), Tensor(B)
    expected = {
        "add": 2 + B[0],
        "sub": 2 - B[0],
        "mul": 2 * B[0],
        "div": 2 / B[0],
        "pow": 2 ** B[0],
    }
    assert np.isclose(getattr(x, method)(z).numpy()[0], expected[method], rtol=1e-5)


def test_equality():
    z = Tensor([1 + 1j, 2, 3j])
    assert (z == Tensor([1 + 1j, 2, 3])).tolist() == [True, True, False]
    assert (z != 2).tolist() == [True, False, True]
    assert (Tensor([1.0, 2.0, 3.0]) == z).tolist() == [False, True, False]
    assert (Tensor([2.0]) != 2j).tolist() == [True]
    assert (z == None) is False  # noqa: E711


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "maximum", "floor", "mod", "sort"])
def test_what_has_no_order(name):
    z = Tensor([1j])
    with pytest.raises(DTypeError):
        getattr(z, name)(z) if name not in ("floor", "sort") else getattr(z, name)()


def test_division_neither_overflows_nor_underflows():
    z = np.array([1e38 + 1e38j, 1e-38 + 1e-38j], np.complex64)
    assert np.allclose((Tensor(z) / Tensor(z)).numpy(), 1.0)
    assert np.isinf((Tensor([1 + 0j]) / Tensor([0j])).numpy().real)


@pytest.mark.parametrize("name", ["abs", "angle", "conj", "sign", "reciprocal", "square", "neg"])
def test_functions_of_each_element(name):
    numpy_name = {"abs": "abs", "neg": "negative"}.get(name, name)
    found, expected = getattr(Tensor(A), name)(), getattr(np, numpy_name)(A)
    assert np.allclose(found.numpy(), expected, rtol=1e-5)
    assert found.numpy().dtype == expected.dtype


def test_absolute_values_at_the_limits():
    z = np.array([3e38 + 3e37j, complex(np.inf, np.nan), 0j, 1e-40 + 1e-40j, 1e-30 + 1e-30j])
    found = abs(Tensor(z.astype(np.complex64))).numpy()
    assert np.allclose(found, abs(z.astype(np.complex64)), rtol=1e-5)


def test_powers_of_zero():
    zero = Tensor([0j])
    assert (zero**0).item() == 1 and (zero**2.5).item() == 0
    assert (Tensor([0j, 0j]) ** Tensor([0j, 2 + 1j])).tolist() == [1, 0]


def test_in_place():
    z = Tensor([1 + 1j, 2])
    view = z[1:]
    z += 1j
    z *= 2
    assert z.tolist() == [2 + 4j, 4 + 2j] and view.tolist() == [4 + 2j]
    assert z.mul_(2).tolist() == [4 + 8j, 8 + 4j]


def test_closeness():
    z = Tensor([1 + 1j, complex(np.nan, 0.0)])
    assert z.isclose(z, equal_nan=True).tolist() == [True, True]
    assert z.isclose(z).tolist() == [True, False]
    assert z[:1].allclose(z[:1] + 1e-7) and z[:1].equal(z[:1]) and not z.equal(z)


def test_what_is_finite():
    z = Tensor([complex(np.nan, np.inf), 1j])
    assert z.isnan().tolist() == z.isinf().tolist() == [True, False]
    assert z.isfinite().tolist() == [False, True]
    assert Tensor([1.6 - 2.4j]).round().item() == 2 - 2j


def test_every_listed_function_is_there():
    assert all(callable(getattr(arithmetic, name)) for name in arithmetic.METHODS)
