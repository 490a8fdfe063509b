"""Order along an axis, against NumPy's stable sorts."""

import numpy as np
import pytest

import weft.array_api as xp
from weft.base.errors import IndexingError

A = np.random.default_rng(5).integers(-3, 3, (4, 5, 3)).astype(np.int8)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_order(axis, descending):
    keys = -A.astype(int) if descending else A
    places = np.argsort(keys, axis=axis, kind="stable")
    x = xp.asarray(A)
    got = xp.argsort(x, axis=axis, descending=descending)
    np.testing.assert_array_equal(got.numpy(), places)
    np.testing.assert_array_equal(
        xp.sort(x, axis=axis, descending=descending).numpy(),
        np.take_along_axis(A, places, axis),
    )
    assert got.dtype is xp.int64


def test_special_numbers():
    x = xp.asarray([np.nan, 1.0, -np.inf, np.inf, -0.0, 0.0])
    assert xp.argsort(x).tolist() == [2, 4, 5, 1, 3, 0]
    assert xp.argsort(x, descending=True).tolist() == [0, 3, 1, 4, 5, 2]


def test_of_nothing():
    assert xp.sort(xp.zeros((2, 0))).shape == xp.argsort(xp.zeros((2, 0))).shape == (2, 0)
    with pytest.raises(IndexingError):
        xp.sort(xp.ones(2), axis=1)
