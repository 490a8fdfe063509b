"""Reductions and running sums, against NumPy's."""

import math

import numpy as np
import pytest

import weft.array_api as xp
from weft.base.errors import ArgumentError, IndexingError, ShapeError

A = np.random.default_rng(3).standard_normal((2, 3, 4))
SUMS = {
    "int8": "int64", "int16": "int64", "int32": "int64", "int64": "int64", "uint8": "uint64",
    "uint16": "uint64", "uint32": "uint64", "uint64": "uint64", "float32": "float32",
    "float64": "float64",
}  # fmt: skip


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "std", "var", "any", "all"])
def test_reductions(name, axis, keepdims):
    got = getattr(xp, name)(xp.asarray(A), axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(
        got.numpy(), getattr(np, name)(A, axis=axis, keepdims=keepdims), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("dtype", SUMS)
def test_dtypes_of_sums(dtype):
    x = xp.ones((2, 2), dtype=dtype)
    wide = getattr(xp, SUMS[dtype])
    for name in ("sum", "prod"):
        assert getattr(xp, name)(x).dtype is wide
        assert getattr(xp, name)(x, dtype=xp.float64).dtype is xp.float64
    for name in ("cumulative_sum", "cumulative_prod"):
        assert getattr(xp, name)(x, axis=0).dtype is wide
    assert xp.max(x).dtype is xp.min(x).dtype is x.dtype


def test_of_nothing():
    none = xp.zeros((0, 2))
    assert xp.sum(none, axis=0).tolist() == [0.0, 0.0]
    assert xp.prod(none, axis=0).tolist() == [1.0, 1.0]
    assert xp.all(none).item() is True and xp.any(none).item() is False
    assert all(math.isnan(v) for v in xp.mean(none, axis=0).tolist())
    for function in (xp.max, xp.min):
        with pytest.raises(ShapeError, match="no elements"):
            function(none)
        assert function(none, axis=1).shape == (0,)


def test_corrections():
    x = xp.asarray([1.0, 2.0, 4.0])
    assert xp.var(x, correction=1).item() == pytest.approx(np.var([1, 2, 4], ddof=1))
    assert xp.std(x, correction=0.5).item() == pytest.approx(np.std([1, 2, 4], ddof=0.5))
    assert math.isnan(xp.var(x, correction=3).item())
    assert math.isnan(xp.std(x, correction=5).item())


def test_nan_is_not_zero():
    x = xp.asarray([math.nan, 1.0])
    assert xp.all(x).item() is xp.any(x).item() is True
    assert math.isnan(xp.max(x).item()) and math.isnan(xp.min(x).item())
    assert xp.count_nonzero(x).item() == 2


def test_count_nonzero():
    x = xp.asarray([[1, 0, 2], [0, 0, 3]])
    assert xp.count_nonzero(x, axis=0).tolist() == [1, 0, 2]
    assert xp.count_nonzero(x, keepdims=True).tolist() == [[3]]
    assert xp.count_nonzero(x).dtype is xp.int64


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running(axis):
    a = np.arange(1, 13, dtype=np.int32).reshape(3, 4) % 5
    x = xp.asarray(a)
    np.testing.assert_array_equal(xp.cumulative_sum(x, axis=axis).numpy(), a.cumsum(axis))
    np.testing.assert_array_equal(xp.cumulative_prod(x, axis=axis).numpy(), a.cumprod(axis))
    started = xp.cumulative_sum(x, axis=axis, include_initial=True)
    assert started.shape[axis] == a.shape[axis] + 1
    np.testing.assert_array_equal(np.diff(started.numpy(), axis=axis), a)


def test_running_along_nothing():
    assert xp.cumulative_sum(xp.asarray([1, 2])).tolist() == [1, 3]
    none = xp.zeros((0, 2))
    assert xp.cumulative_sum(none, axis=0, include_initial=True).tolist() == [[0.0, 0.0]]
    assert xp.cumulative_prod(xp.zeros(0), include_initial=True).tolist() == [1.0]
    with pytest.raises(ShapeError):
        xp.cumulative_sum(none)
    with pytest.raises(ShapeError):
        xp.cumulative_sum(xp.asarray(1))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("axis", [0, -1])
def test_differences(axis, n):
    np.testing.assert_allclose(
        xp.diff(xp.asarray(A[0]), axis=axis, n=n).numpy(), np.diff(A[0], n, axis), rtol=1e-12
    )


def test_differences_with_ends():
    got = xp.diff(xp.asarray([3, 7]), prepend=xp.asarray([1]), append=xp.asarray([0]))
    assert got.tolist() == [2, 4, -7]
    assert xp.diff(xp.asarray([True, True, False])).tolist() == [False, True]
    with pytest.raises(ArgumentError):
        xp.diff(xp.asarray(1))


def test_axes_that_are_not_there():
    with pytest.raises(IndexingError):
        xp.sum(xp.ones((2, 3)), axis=2)
    with pytest.raises(ShapeError, match="twice"):
        xp.sum(xp.ones((2, 3)), axis=(0, -2))
