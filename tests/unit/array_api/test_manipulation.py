"""Shapes, against NumPy's."""

import numpy as np
import pytest

import weft.array_api as xp
from weft.base.errors import ArgumentError, DTypeError, IndexingError, ShapeError, WrongKind

A = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
X = xp.asarray(A)


def same(got, expected):
    np.testing.assert_array_equal(got.numpy(), expected)


@pytest.mark.parametrize("axis", [0, -1, 1, None])
def test_concat(axis):
    same(xp.concat([X, X], axis=axis), np.concatenate([A, A], axis))


def test_parts_promote():
    mixed = xp.concat([xp.ones(1, dtype=xp.int8), xp.ones(2, dtype=xp.uint8)])
    assert mixed.dtype is xp.int16
    assert xp.stack([xp.ones(1), xp.ones(1, dtype=xp.float64)]).dtype is xp.float64
    with pytest.raises(ArgumentError):
        xp.concat([])
    with pytest.raises(ArgumentError):
        xp.stack([])


@pytest.mark.parametrize("wrong", [None, 3])
def test_non_sequences_are_refused(wrong):
    for joined in (xp.concat, xp.stack):
        with pytest.raises(WrongKind, match="sequence of arrays"):
            joined(wrong)
        with pytest.raises(DTypeError, match="no array"):
            joined([X, wrong])


@pytest.mark.parametrize("axis", [0, 3, -1, -4])
def test_stack_and_new_axes(axis):
    same(xp.stack([X, X], axis=axis), np.stack([A, A], axis))
    same(xp.expand_dims(X, axis=axis), np.expand_dims(A, axis))


@pytest.mark.parametrize("axis", [4, -5])
def test_new_axes_outside(axis):
    with pytest.raises(IndexingError):
        xp.expand_dims(X, axis=axis)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
def test_flip(axis):
    same(xp.flip(X, axis=axis), np.flip(A, axis))


@pytest.mark.parametrize("shift, axis", [(5, None), (-30, 1), (2, (0, 2)), ((1, -1), (0, 2))])
def test_roll(shift, axis):
    same(xp.roll(X, shift, axis=axis), np.roll(A, shift, axis))
    assert xp.roll(xp.asarray(3), 2).item() == 3


def test_axes_in_other_places():
    same(xp.permute_dims(X, (2, 0, -2)), A.transpose(2, 0, 1))
    same(xp.moveaxis(X, 0, -1), np.moveaxis(A, 0, -1))
    same(xp.moveaxis(X, (0, 1), (-1, 0)), np.moveaxis(A, (0, 1), (-1, 0)))
    with pytest.raises(ShapeError):
        xp.permute_dims(X, (0, 0, 1))
    with pytest.raises(ShapeError):
        xp.moveaxis(X, (0, 1), (0, 0))


def test_squeeze():
    assert xp.squeeze(xp.ones((1, 2, 1)), (0, -1)).shape == (2,)
    with pytest.raises(ShapeError):
        xp.squeeze(xp.ones((1, 2)), 1)


@pytest.mark.parametrize("axis", [None, 0, 2])
def test_repeat(axis):
    same(xp.repeat(X, 2, axis=axis), np.repeat(A, 2, axis))
    counts = np.arange(A.size if axis is None else A.shape[axis]) % 3
    same(xp.repeat(X, xp.asarray(counts), axis=axis), np.repeat(A, counts, axis))
    same(xp.repeat(X, 0, axis=axis), np.repeat(A, 0, axis))
    with pytest.raises(ShapeError, match="each element"):
        xp.repeat(X, xp.asarray([1, 2, 3, 4, 5]), axis=1)


@pytest.mark.parametrize("times", [(), (2,), (1, 3, 2), (2, 1, 1, 2), (0, 1)])
def test_tile(times):
    same(xp.tile(X, times), np.tile(A, times))


def test_unstack():
    parts = xp.unstack(X, axis=1)
    assert len(parts) == 3
    same(parts[2], A[:, 2])
    assert xp.unstack(xp.zeros((0, 2))) == ()


def test_broadcasting():
    a, b = xp.broadcast_arrays(xp.ones((3, 1)), xp.ones(2))
    assert a.shape == b.shape == (3, 2)
    assert xp.broadcast_shapes((3, 1), (1, 4)) == (3, 4)
    same(xp.broadcast_to(xp.asarray([1, 2]), (3, 2)), [[1, 2]] * 3)
    with pytest.raises(ShapeError):
        xp.broadcast_to(X, (2, 3, 5))
    with pytest.raises(ShapeError):
        xp.broadcast_to(X, (3, 4))


def test_reshape():
    same(xp.reshape(X, (6, -1)), A.reshape(6, 4))
    copied = xp.reshape(X, (24,), copy=True)
    copied[0] = 99
    assert X[0, 0, 0].item() == 0


def test_an_axis_is_a_whole_number():
    for function in (xp.sort, xp.sum, xp.flip, xp.expand_dims):
        with pytest.raises(WrongKind, match="an axis is a whole number"):
            function(X, axis=0.5)
    with pytest.raises(DTypeError, match="no array"):
        xp.broadcast_arrays(X, [1, 2])


@pytest.mark.parametrize(
    "call",
    [
        lambda: xp.roll(X, "a"),
        lambda: xp.roll(X, (1, "a"), axis=(0, 1)),
        lambda: xp.repeat(X, "a"),
        lambda: xp.clip(X, "a", 2),
        lambda: xp.diff(X, n="a"),
    ],
)
def test_words_are_no_numbers(call):
    with pytest.raises(WrongKind):
        call()


def test_reshape_without_a_copy():
    x = xp.reshape(xp.arange(12), (3, 4))
    flat = xp.reshape(x, (12,), copy=False)
    flat[5] = 50
    assert x[1, 1] == 50 and xp.reshape(x, (3, 4), copy=False).shape == (3, 4)
    with pytest.raises(ValueError, match="without a copy"):
        xp.reshape(x.T, (12,), copy=False)
    copy = xp.reshape(x, (12,), copy=True)
    copy[0] = 9
    assert x[0, 0] == 0
