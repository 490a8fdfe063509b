"""Where things are, against NumPy's."""

import numpy as np
import pytest

import weft.array_api as xp
from weft.base.errors import ArgumentError, ShapeError

A = np.array([[3, 1, 3, 0], [5, 5, 2, 2]], dtype=np.int16)
X = xp.asarray(A)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extremes(name, axis, keepdims):
    got = getattr(xp, name)(X, axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(got.numpy(), getattr(np, name)(A, axis=axis, keepdims=keepdims))
    assert got.dtype is xp.int64


def test_extremes_of_numbers_and_nothing():
    assert xp.argmax(xp.asarray(3)).item() == 0
    with pytest.raises(ShapeError):
        xp.argmin(xp.zeros(0))


def test_nonzero():
    for got, expected in zip(xp.nonzero(X), np.nonzero(A), strict=True):
        np.testing.assert_array_equal(got.numpy(), expected)
    assert [p.shape for p in xp.nonzero(xp.zeros((2, 0)))] == [(0,), (0,)]
    with pytest.raises(ShapeError):
        xp.nonzero(xp.asarray(1))


def test_where():
    mask = xp.asarray([True, False])
    a, b = xp.asarray([1, 2], dtype=xp.int8), xp.asarray([3, 4], dtype=xp.uint8)
    assert xp.where(mask, a, b).tolist() == [1, 4]
    assert xp.where(mask, a, b).dtype is xp.int16
    assert xp.where(mask, a, 9).dtype is xp.int8
    assert xp.where(mask, 9, a).tolist() == [9, 2]
    assert xp.where(mask, 1.5, 2.5).tolist() == [1.5, 2.5]


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side):
    rows, values = np.array([1, 3, 3, 8]), np.array([[0, 3], [4, 9]])
    got = xp.searchsorted(xp.asarray(rows), xp.asarray(values), side=side)
    np.testing.assert_array_equal(got.numpy(), np.searchsorted(rows, values, side))
    mixed, order = np.array([8, 3, 1, 3]), np.array([2, 1, 3, 0])
    got = xp.searchsorted(
        xp.asarray(mixed), xp.asarray(values), side=side, sorter=xp.asarray(order)
    )
    np.testing.assert_array_equal(got.numpy(), np.searchsorted(rows, values, side))
    assert xp.searchsorted(xp.asarray(rows), 3, side=side).item() in (1, 3)


def test_searchsorted_in_nothing():
    assert xp.searchsorted(xp.zeros(0), xp.ones(2)).tolist() == [0, 0]
    assert xp.searchsorted(xp.ones(2), xp.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(ArgumentError, match="side"):
        xp.searchsorted(xp.ones(2), xp.ones(1), side="middle")
    with pytest.raises(ShapeError):
        xp.searchsorted(X, X)


def test_isin():
    assert xp.isin(X[0], xp.asarray([3, 9])).tolist() == [True, False, True, False]
    assert xp.isin(X[0], 3, invert=True).tolist() == [False, True, False, True]
    assert xp.isin(X[0], xp.zeros(0, dtype=xp.int16)).tolist() == [False] * 4
