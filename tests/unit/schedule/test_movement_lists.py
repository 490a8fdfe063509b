"""Movement nodes as lists."""

from helpers.graph_passes import agree
from helpers.graphs import buffer
from weft.schedule.movement_lists import (
    apply_moves,
    invert_moves,
    is_static,
    moves_between,
    transfer_moves,
)
from weft.uop import Variable


def test_moves_are_taken_off_and_put_on():
    a, b = buffer(6), buffer(6)
    moved = a.reshape((2, 3)).permute((1, 0)).flip((True, False))
    moves = moves_between(moved, a)
    assert [move.arg for move in moves] == [(2, 3), (1, 0), (True, False)]
    assert apply_moves(a, moves) is moved and moves_between(a, a) == []
    assert transfer_moves(moved, a, b) is apply_moves(b, moves)


def test_rearrangements_are_taken_back():
    a = buffer(24).reshape((2, 3, 4))
    moved = a.permute((2, 0, 1)).reshape((8, 3)).flip((False, True)).permute((1, 0))
    back = invert_moves(moved, moves_between(moved, a))
    assert back.shape == a.shape
    agree(a, back)


def test_symbolic_extents_are_not_static():
    a = buffer(6)
    assert is_static(a)
    assert not is_static(a.shrink(((0, Variable("n", 1, 6)),)))
