"""NumPy's functions over tensors: tensors come out where weft has the function."""

import math

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError, ShapeError
from weft.tensor.numpy_functions import call_function, call_ufunc

A = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], np.float32)


def tensor(a=A):
    return Tensor(a)


def is_tensor(got, expected, tolerance=1e-5):
    assert isinstance(got, Tensor)
    np.testing.assert_allclose(got.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "name",
    [
        "negative", "positive", "absolute", "fabs", "square", "exp", "exp2", "expm1", "sin", "cos",
        "tan", "sinh", "cosh", "tanh", "arctan", "arcsinh", "floor", "ceil", "trunc", "rint",
        "sign", "isnan", "isinf", "isfinite", "logical_not", "reciprocal", "deg2rad", "degrees",
        "signbit", "conjugate",
    ],
)  # fmt: skip
def test_functions_of_one(name):
    is_tensor(getattr(np, name)(tensor()), getattr(np, name)(A))


@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "log1p", "arccosh"])
def test_functions_of_positive_numbers(name):
    a = np.abs(A) + 1
    is_tensor(getattr(np, name)(Tensor(a)), getattr(np, name)(a))


@pytest.mark.parametrize(
    "name",
    [
        "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum",
        "copysign", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
        "logical_and", "logical_or", "logical_xor", "arctan2", "hypot", "logaddexp", "logaddexp2",
        "fmax", "fmin", "fmod", "heaviside",
    ],
)  # fmt: skip
def test_functions_of_two(name):
    b = np.array([1.0, -2.0, 2.0], np.float32)
    function = getattr(np, name)
    expected = function(A, b)
    is_tensor(function(tensor(), b), expected)
    is_tensor(function(A, Tensor(b)), expected)
    is_tensor(function(tensor(), Tensor(b)), expected)
    is_tensor(function(2.0, Tensor(b)), function(np.float32(2), b))


def test_whole_numbers():
    a, b = np.array([12, 7], np.int32), np.array([10, 2], np.int32)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "power"):
        is_tensor(getattr(np, name)(a, Tensor(b)), getattr(np, name)(a, b))
    is_tensor(np.invert(Tensor(a)), ~a)
    quotient, rest = np.divmod(Tensor(a), 5)
    assert (quotient.tolist(), rest.tolist()) == ([2, 1], [2, 2])


def test_operators_of_arrays():
    x = tensor()
    is_tensor(A + x, A + A)
    is_tensor(A - x, A - A)
    is_tensor(A @ x.T, A @ A.T)
    is_tensor(A < x * 2, A < A * 2)
    assert (np.arange(3) + x).dtype is dtypes.float32


def test_scalars_of_numpy_are_weak():
    assert (np.float64(2) * tensor()).dtype is dtypes.float32
    assert (np.int64(2) + Tensor([1], dtype=dtypes.int8)).dtype is dtypes.int8


def test_folds():
    is_tensor(np.add.reduce(tensor()), A.sum(0))
    is_tensor(np.multiply.reduce(tensor(), axis=None), A.prod())
    is_tensor(np.maximum.reduce(tensor(), axis=1, keepdims=True), A.max(1, keepdims=True))
    is_tensor(np.add.accumulate(tensor(), axis=1), A.cumsum(1))


def test_out_and_dtype():
    into = np.zeros((2, 3), np.float32)
    assert np.add(tensor(), 1, out=into) is into
    np.testing.assert_array_equal(into, A + 1)
    target = Tensor.zeros(2, 3).contiguous()
    assert np.multiply(A, tensor(), out=target) is target
    np.testing.assert_allclose(target.numpy(), A * A)
    into += tensor()
    np.testing.assert_allclose(into, A + 1 + A)
    with pytest.raises(TypeError):
        np.add(tensor(), 1, out=np.zeros((2, 3), np.int32))
    assert np.add(tensor(), 1, dtype=np.float64).dtype is dtypes.float64


def test_unsupported_functions_are_type_errors():
    with pytest.raises(TypeError, match="gcd does not take tensors"):
        np.gcd(Tensor([4]), 2)
    with pytest.raises(TypeError, match="where"):
        np.add(tensor(), 1, where=A > 0)
    with pytest.raises(DTypeError, match="outer"):
        np.add.outer(tensor(), tensor())
    with pytest.raises(DTypeError, match="numpy.frexp"):
        call_ufunc(tensor(), np.frexp, "__call__", [tensor()], {})
    with pytest.raises(ShapeError):
        np.add(tensor(), np.ones(4))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.sum(a), lambda a: np.sum(a, axis=0, keepdims=True),
        lambda a: np.prod(a, axis=1), lambda a: np.mean(a, 1), lambda a: np.max(a, axis=0),
        lambda a: np.min(a), lambda a: np.std(a), lambda a: np.var(a, axis=1, ddof=1),
        lambda a: np.any(a > 1), lambda a: np.all(a > 1, axis=0), lambda a: np.argmax(a),
        lambda a: np.argmin(a, axis=1), lambda a: np.cumsum(a), lambda a: np.cumsum(a, axis=0),
        lambda a: np.concatenate([a, a]), lambda a: np.concatenate([a, a], axis=None),
        lambda a: np.stack([a, a], axis=1), lambda a: np.where(a > 0, a, 0.0),
        lambda a: np.clip(a, -1, 1), lambda a: np.reshape(a, (3, 2)), lambda a: np.ravel(a),
        lambda a: np.transpose(a), lambda a: np.swapaxes(a, 0, 1), lambda a: np.squeeze(a[:1]),
        lambda a: np.expand_dims(a, 1), lambda a: np.flip(a), lambda a: np.flip(a, 1),
        lambda a: np.dot(a, a.T), lambda a: np.sort(a), lambda a: np.argsort(a, axis=0),
        lambda a: np.tril(a), lambda a: np.triu(a, 1), lambda a: np.zeros_like(a),
        lambda a: np.ones_like(a), lambda a: np.full_like(a, 3), lambda a: np.round(a),
        lambda a: np.isclose(a, a + 1e-9), lambda a: np.copy(a),
    ],
)  # fmt: skip
def test_other_functions(call):
    is_tensor(call(tensor()), call(A))


@pytest.mark.parametrize(
    "shapes",
    [
        ((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((3,), (2, 3, 4)), ((2, 2, 3), (3,)),
        ((2, 2, 3), (3, 4)), ((2, 2, 3), (2, 3, 4)), ((), (2, 3)), ((2,), ()), ((), ()),
    ],
)  # fmt: skip
def test_dot_has_no_batches(shapes):
    a, b = (np.arange(math.prod(s), dtype=np.float32).reshape(s) - 2 for s in shapes)
    is_tensor(np.dot(Tensor(a), Tensor(b)), np.dot(a, b))
    is_tensor(np.dot(a, Tensor(b)), np.dot(a, b))
    is_tensor(np.dot(Tensor(a), 2.5), np.dot(a, np.float32(2.5)))


@pytest.mark.parametrize("axes", [(0, 1), (-1, 0), [3, 1], (-3, -1), ()])
def test_several_new_axes(axes):
    is_tensor(np.expand_dims(tensor(), axes), np.expand_dims(A, axes))


def test_an_axis_is_new_once():
    with pytest.raises(ValueError, match="repeated"):
        np.expand_dims(tensor(), (0, 0))


def test_the_reciprocal_of_integers_is_no_float_to_numpy():
    is_tensor(np.reciprocal(tensor() + 3), np.reciprocal(A + 3))
    with pytest.raises(DTypeError, match="reciprocal"):
        np.reciprocal(Tensor([2]))


def test_the_rest_get_the_values():
    x = tensor()
    assert isinstance(np.median(x), np.floating)
    assert np.allclose(x, A) is True
    assert np.array_equal(x, A)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6
    np.testing.assert_array_equal(np.concatenate([x, x], dtype=np.float64), np.concatenate([A, A]))
    np.testing.assert_allclose(np.percentile(x, 50), np.percentile(A, 50))
    np.testing.assert_allclose(call_function(np.einsum, ["ij->j", x], {}), A.sum(0))
    np.testing.assert_allclose(x, A)


def test_mistakes_stay_weft_s_own():
    with pytest.raises(ShapeError):
        np.reshape(tensor(), (4, 2))


def test_nothing_is_computed_for_a_tensor():
    before = Tensor.empty(3, device="NULL")
    assert (np.exp(before) + np.ones(3, np.float32).sum()).device == "NULL"
    assert np.sum(np.stack([before, before])).device == "NULL"
