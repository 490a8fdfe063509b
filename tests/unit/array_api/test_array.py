"""The array object: where it differs from Tensor, and what its operators keep to."""

import operator

import numpy as np
import pytest

import weft.array_api as xp
from weft import Tensor, jit
from weft.array_api.array import Array, as_array, both, must_be
from weft.base.errors import ArgumentError, DTypeError, ShapeError


def test_attributes():
    x = xp.ones((2, 3))
    assert (x.size, x.ndim, x.shape) == (6, 2, (2, 3))
    assert isinstance(x.size, int)
    assert x.dtype is xp.float32
    assert x.device == Tensor([1]).device
    assert x.T.shape == x.mT.shape == (3, 2)
    assert x.to_device("REF").device == "REF"


def test_a_transpose_needs_a_matrix():
    with pytest.raises(ShapeError, match="matrices"):
        _ = xp.ones((2, 3, 4)).T
    with pytest.raises(ShapeError, match="matrices"):
        _ = xp.ones(3).mT
    with pytest.raises(ArgumentError, match="stream"):
        xp.ones(3).to_device("REF", stream=1)


def test_one_element_is_a_python_number():
    assert bool(xp.asarray(True)) is True
    assert int(xp.asarray(3)) == 3
    assert float(xp.asarray(1.5)) == 1.5
    assert complex(xp.asarray(1.5)) == 1.5 + 0j
    assert operator.index(xp.asarray(7, dtype=xp.uint8)) == 7
    assert not xp.asarray([0.0])
    with pytest.raises(ShapeError, match="any"):
        bool(xp.ones(2))
    with pytest.raises(TypeError):
        operator.index(xp.asarray(1.0))


def test_results_are_arrays():
    x = xp.asarray([1, 2])
    for y in (
        x + Tensor([1, 2]),
        x + 1,
        1 + x,
        x[0],
        x.reshape(2, 1),
        -x,
        x == x,
        x.sum(),
        x @ x,
        +x,
    ):
        assert isinstance(y, Array)


def test_tensors_become_arrays_over_the_same_graph():
    t = Tensor([1.0], requires_grad=True)
    x = as_array(t)
    assert x._uop is t._uop
    assert x.requires_grad is True
    (x * x).sum().backward()
    assert t.grad is not None or x.grad is not None


def test_operands():
    a, b = both(2, xp.asarray([1.5], dtype=xp.float64))
    assert a.dtype is b.dtype is xp.float64
    with pytest.raises(DTypeError, match="has to be an array"):
        both(1, 2)
    with pytest.raises(DTypeError, match="no array"):
        as_array("one")
    with pytest.raises(DTypeError, match="not for"):
        must_be("signbit", xp.asarray(1), "float")


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
def test_in_place_operators_keep_the_dtype(dtype):
    x = xp.asarray([7, 9], dtype=dtype)
    x += 1
    x *= xp.asarray([2, 3], dtype=dtype)
    x //= 4
    x -= xp.asarray([1, 2], dtype=dtype)
    x %= 3
    assert x.dtype is getattr(xp, dtype)
    expected = ((np.array([8, 10]) * [2, 3]) // 4 - [1, 2]) % 3
    assert x.tolist() == expected.tolist()


def test_in_place_operators_keep_the_shape():
    x = xp.ones(2)
    with pytest.raises(ShapeError):
        x += xp.ones((3, 2))


def test_a_write_reaches_no_copy():
    x = xp.asarray([1, 2, 3])
    y = xp.asarray(x, copy=True)
    x[1] = 9
    assert x.tolist() == [1, 9, 3]
    assert y.tolist() == [1, 2, 3]


def test_division_rounded_down_keeps_the_sign_of_zero():
    x = xp.asarray([0.0, -0.0, 0.5, -0.5])
    got = (x // xp.asarray([-1.0, 1.0, 1.0, 1.0])).numpy()
    np.testing.assert_array_equal(got, [-0.0, -0.0, 0.0, -1.0])
    np.testing.assert_array_equal(np.signbit(got), [True, True, False, True])
    assert (5 // xp.asarray([2])).tolist() == [2]
    assert (5 % xp.asarray([3.5])).tolist() == [1.5]


def test_recordings_give_arrays():
    @jit
    def step(x):
        return x * 2, {"sum": xp.sum(x)}

    for turn in range(4):
        doubled, named = step(xp.asarray([1.0, float(turn)]))
        assert isinstance(doubled, Array) and isinstance(named["sum"], Array)
        assert named["sum"].item() == 1.0 + turn
    assert type(step(Tensor([1.0, 2.0]))[0]) is Tensor
