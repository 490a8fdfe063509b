"""Inverse movement leads back to the shape before a move."""

import pytest

from weft.base.errors import ArgumentError
from weft.shape import ShapeTracker, inverse_move
from weft.shape.movement import moved_shape
from weft.uop import Ops


@pytest.mark.parametrize(
    ("op", "arg"),
    [
        (Ops.RESHAPE, (3, 8)),
        (Ops.PERMUTE, (2, 0, 1)),
        (Ops.FLIP, (True, False, True)),
        (Ops.PAD, ((1, 2), (0, 0), (3, 0))),
    ],
)
def test_inverse_moves_lead_back(op, arg):
    there = ShapeTracker.from_shape((2, 3, 4)).move(op, arg)
    assert there.shape == moved_shape(op, arg, (2, 3, 4))
    assert there.move(*inverse_move(op, arg, (2, 3, 4))) is ShapeTracker.from_shape((2, 3, 4))


def test_inverses_that_gradients_need():
    assert inverse_move(Ops.SHRINK, ((1, 3), (0, 5)), (4, 5)) == (Ops.PAD, ((1, 1), (0, 0)))
    assert inverse_move(Ops.EXPAND, (4, 3, 2), (1, 3, 1)) == (Ops.REDUCE_AXIS, (0, 2))
    for function in (inverse_move, moved_shape):
        with pytest.raises(ArgumentError):
            function(Ops.ADD, None, (1,))
