"""Picking by integer arrays, and the index expressions of the standard."""

import numpy as np
import pytest

import weft.array_api as xp
from weft.base.errors import DTypeError, IndexingError, ShapeError

A = np.arange(12, dtype=np.int32).reshape(3, 4)
X = xp.asarray(A)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take(axis):
    places = np.array([2, 0, -1, 2])
    got = xp.take(X, xp.asarray(places), axis=axis)
    np.testing.assert_array_equal(got.numpy(), np.take(A, places, axis))
    assert xp.take(X, xp.zeros(0, dtype=xp.int32), axis=0).shape == (0, 4)


def test_take_of_a_vector_needs_no_axis():
    assert xp.take(xp.asarray([5, 6, 7]), xp.asarray([2, 0])).tolist() == [7, 5]
    with pytest.raises(ShapeError):
        xp.take(X, xp.asarray([0]))
    with pytest.raises(DTypeError):
        xp.take(X, xp.asarray([0.5]), axis=0)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_along_axis(axis):
    shape = (2, 4) if axis == 0 else (3, 2)
    places = np.random.default_rng(1).integers(-3, 3, shape)
    got = xp.take_along_axis(X, xp.asarray(places), axis=axis)
    np.testing.assert_array_equal(got.numpy(), np.take_along_axis(A, places, axis))


def test_take_along_axis_broadcasts():
    got = xp.take_along_axis(X, xp.asarray([[1], [0]]), axis=0)
    np.testing.assert_array_equal(got.numpy(), A[[1, 0]])
    assert xp.take_along_axis(X, xp.zeros((3, 0), dtype=xp.int32)).shape == (3, 0)
    with pytest.raises(ShapeError):
        xp.take_along_axis(X, xp.asarray([0]))


@pytest.mark.parametrize(
    "key",
    [
        (), 1, -1, (1, 2), (..., 0), slice(None, None, -1), (slice(1, 3), slice(3, 0, -2)),
        (None, 1, ..., None), (0, ..., slice(2)), True, False, (..., False), (slice(None), True),
    ],
)  # fmt: skip
def test_index_expressions(key):
    np.testing.assert_array_equal(X[key].numpy(), A[key])


@pytest.mark.parametrize("shape", [(3, 4), (3,), (), (0,), (3, 0)])
def test_masks(shape):
    mask = np.random.default_rng(2).integers(0, 2, shape).astype(bool)
    np.testing.assert_array_equal(X[xp.asarray(mask)].numpy(), A[mask])


@pytest.mark.parametrize("shape", [(4,), (3, 3), (3, 4, 1)])
def test_masks_that_do_not_fit(shape):
    with pytest.raises(IndexingError):
        X[xp.ones(shape, dtype=xp.bool)]


def test_writing_under_a_mask_without_axes():
    for held in (True, False):
        for key in (held, (slice(1), held), (..., held)):
            x, expected = xp.asarray(X, copy=True), A.copy()
            expected[key] = np.array([7])
            x[key] = xp.asarray([7])
            np.testing.assert_array_equal(x.numpy(), expected)
        number = xp.asarray(1.0)
        number[xp.asarray(held)] = xp.asarray([5.0])[: int(held)]
        assert number.item() == (5.0 if held else 1.0)


def test_writing():
    x = xp.asarray(X, copy=True)
    x[0, 1] = 50
    x[1, ::-2] = xp.asarray(60)
    x[xp.asarray(A == 8)] = 70
    expected = A.copy()
    expected[0, 1], expected[1, ::-2], expected[A == 8] = 50, 60, 70
    np.testing.assert_array_equal(x.numpy(), expected)
    np.testing.assert_array_equal(X.numpy(), A)
