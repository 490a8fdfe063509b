"""Arguments of movement: what is taken, what is refused, and what the refusal says."""

import numpy as np
import pytest

from weft.base.errors import IndexingError, ShapeError
from weft.shape.movement import (
    SymbolicShape,
    as_size,
    broadcast_shapes,
    definite,
    expand_arg,
    fits_always,
    flip_arg,
    normalise_axes,
    normalise_axis,
    pad_arg,
    permute_arg,
    reshape_arg,
    shrink_arg,
    split_padding,
)
from weft.uop import Variable

N = Variable("n", 1, 8)


def test_sizes():
    assert as_size(np.int64(3), "") == 3 and type(as_size(np.int64(3), "")) is int
    assert as_size(N, "") is N and as_size(N - N + 4, "") == 4
    for wrong in (2.0, "2", None, True):
        with pytest.raises(ShapeError):
            as_size(wrong, "a test")


def test_axes_count_from_either_end():
    assert normalise_axis(-1, 3) == 2 and normalise_axis(0, 3) == 0 and normalise_axis(0, 0) == 0
    assert normalise_axes(None, 3) == (0, 1, 2)
    assert normalise_axes((-1, 0), 3) == (0, 2) and normalise_axes(1, 3) == (1,)
    with pytest.raises(IndexingError) as caught:
        normalise_axis(3, 3)
    assert "-3" in caught.value.because
    with pytest.raises(ShapeError):
        normalise_axes((0, -3), 3)


@pytest.mark.parametrize(
    ("shape", "new", "expected"),
    [
        ((2, 3, 4), (6, 4), (6, 4)),
        ((2, 3, 4), (-1, 4), (6, 4)),
        ((2, 3, 4), (None, -1), (2, 12)),
        ((), (1, 1), (1, 1)),
        ((0, 3), (-1, 3), (0, 3)),
        ((0, 3), (0, 7), (0, 7)),
        ((N, 4), (-1,), ((N * 4).simplify(),)),
        ((N, 4), (-1, 2), ((N * 2).simplify(), 2)),
        ((N, 4), (2, 2, -1), (2, 2, N)),
    ],
)
def test_reshape(shape, new, expected):
    assert reshape_arg(shape, new) == expected


@pytest.mark.parametrize(
    ("shape", "new"),
    [
        ((2, 3), (7,)),
        ((2, 3), (-1, -1)),
        ((2, 3), (-1, 4)),
        ((2, 3), (-2, 3)),
        ((2, 3), (2, None, None)),
        ((N, 4), (N, 5)),
        ((2, 3), (2.0, 3)),
    ],
)
def test_reshape_refuses(shape, new):
    with pytest.raises(ShapeError) as caught:
        reshape_arg(shape, new)
    assert "reshape" in caught.value.asked


def test_permute():
    assert permute_arg((2, 3, 4), (2, 0, -2)) == (2, 0, 1)
    for wrong in ((0, 1), (0, 0, 1)):
        with pytest.raises(ShapeError):
            permute_arg((2, 3, 4), wrong)
    with pytest.raises(IndexingError):
        permute_arg((2, 3), (0, 2))


def test_expand():
    assert expand_arg((1, 3), (4, -1)) == (4, 3)
    assert expand_arg((3,), (2, 4, 3)) == (2, 4, 3)
    assert expand_arg((1, 3), (N, None)) == (N, 3)
    assert expand_arg((1,), (0,)) == (0,)
    for shape, new in (((2, 3), (4, 3)), ((2, 3), (3,)), ((1,), (-2,))):
        with pytest.raises(ShapeError):
            expand_arg(shape, new)


def test_pad():
    assert pad_arg((2, 3), (1, 2)) == ((0, 0), (1, 2))
    assert pad_arg((2, 3), (1, 2, 3, 4)) == ((3, 4), (1, 2))
    assert pad_arg((2, 3), ((1, 2), None)) == ((1, 2), (0, 0))
    assert pad_arg((2, 3), 1) == ((0, 0), (1, 1))
    for wrong in ((1, 2, 3), (1, 2, 3, 4, 5, 6), ((1, 2),), ((1, 2, 3), None)):
        with pytest.raises(ShapeError):
            pad_arg((2, 3), wrong)


def test_negative_padding_cuts():
    assert split_padding((4, 5), ((-1, 2), (0, -2))) == (((1, 4), (0, 3)), ((0, 2), (0, 0)))
    with pytest.raises(ShapeError):
        split_padding((4,), ((-3, -2),))


def test_shrink():
    assert shrink_arg((4, 5), ((1, 3), None)) == ((1, 3), (0, 5))
    assert shrink_arg((8,), ((N - 1, N),)) == (((N - 1).simplify(), N),)
    for wrong in (((0, 5),), ((-1, 2),), ((3, 2),), ((0, 1), (0, 1))):
        with pytest.raises(ShapeError):
            shrink_arg((4,), wrong)


def test_flip():
    assert flip_arg((2, 3), -1) == (False, True)
    assert flip_arg((2, 3), None) == (True, True)


def test_broadcasting():
    assert broadcast_shapes((2, 1, 3), (4, 1), ()) == (2, 4, 3)
    assert broadcast_shapes((N, 1), (4,)) == (N, 4)
    assert broadcast_shapes((0, 1), (1, 3)) == (0, 3)
    assert broadcast_shapes() == ()
    with pytest.raises(ShapeError) as caught:
        broadcast_shapes((2, 3), (4, 3))
    assert "axis -2" in caught.value.because


def test_sizes_of_bound_variables():
    n, m = N.bind(3), Variable("m", 1, 8).bind(4)
    assert definite((n, 2, n + m)) == (3, 2, 7)
    assert definite((N, 2)) is None and definite((2, 3)) == (2, 3)
    assert fits_always((n, 4), (2, n, 2)) and not fits_always((n, 4), (12,))
    assert reshape_arg((n, 4), (12,)) == (12,) and reshape_arg((12,), (n, 4)) == (n, 4)
    assert reshape_arg((12,), (n, -1)) == (n, 4)
    with pytest.raises(ShapeError, match="n is 3 here"):
        reshape_arg((n, 4), (13,))


def test_a_shape_with_variables_is_printed_as_people_write_it():
    shape = SymbolicShape((N, N + 1, 4))
    assert repr(shape) == "(n, (n+1), 4)" and shape == (N, N + 1, 4)
    assert f"{SymbolicShape((N,))}" == "(n,)"
