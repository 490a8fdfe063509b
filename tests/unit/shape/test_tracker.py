"""Stacks of views."""

import pickle

import pytest

from weft.base.errors import ArgumentError
from weft.shape import ShapeTracker, View, expr_from_ranges
from weft.shape.indexing import symbolic_ranges
from weft.uop import Ops, UOp, Variable, from_text, to_text


def make(*shape):
    return ShapeTracker.from_shape(shape)


def test_equal_trackers_are_one_object():
    assert make(4, 4).permute((1, 0)).permute((1, 0)) is make(4, 4)
    assert pickle.loads(pickle.dumps(make(2, 3).pad(((1, 1), (0, 0))))) is make(2, 3).pad(
        ((1, 1), (0, 0))
    )


def test_a_tracker_has_a_view():
    with pytest.raises(ArgumentError):
        ShapeTracker(())


def test_moves_that_one_view_cannot_say_take_another():
    twice = make(4, 6).permute((1, 0)).reshape((24,))
    assert len(twice.views) == 2 and twice.shape == (24,) and twice.size == 24


def test_views_that_undo_each_other_vanish():
    assert make(4, 6).permute((1, 0)).reshape((24,)).reshape((6, 4)).permute((1, 0)) is make(4, 6)


def test_contiguous():
    assert make(4, 6).contiguous
    assert not make(4, 6).shrink(((1, 3), (0, 6))).contiguous
    assert not make(4, 6).pad(((1, 0), (0, 0))).contiguous


def test_addition_reads_the_right_over_the_left():
    a = make(4, 6).permute((1, 0))
    b = make(6, 4).permute((1, 0))
    assert a + b is make(4, 6)


def test_pooling_windows_are_one_view():
    windows = make(1, 8).expand((4, 8)).reshape((32,)).shrink(((0, 27),)).reshape((3, 9))
    assert len(windows.views) == 2
    assert windows.shrink(((0, 3), (0, 6))) is ShapeTracker((View.create((3, 6), (1, 1)),))


def test_real_strides():
    assert make(4, 6).permute((1, 0)).real_strides() == (1, 6)
    assert make(4, 6).permute((1, 0)).reshape((24,)).real_strides() == (None,)
    padded = make(4, 6).pad(((1, 1), (0, 0)))
    assert padded.real_strides() == (None, 1)
    assert padded.real_strides(ignore_valid=True) == (6, 1)
    split = make(4, 6).permute((1, 0)).reshape((24,)).reshape((6, 4))
    assert split.real_strides() == (1, 6)


@pytest.mark.parametrize(
    "moved",
    [
        make(4, 6).permute((1, 0)),
        make(4, 6).permute((1, 0)).reshape((24,)),
        make(4, 6).flip((True, False)).permute((1, 0)).reshape((3, 8)),
        make(4, 6).reshape((1, 24, 1)),
    ],
)
def test_the_inverse_of_a_rearrangement(moved):
    assert moved + moved.invert((4, 6)) is make(4, 6)


def test_views_that_drop_or_repeat_elements_have_no_inverse():
    assert make(4, 6).shrink(((0, 2), (0, 6))).invert((4, 6)) is None
    assert make(1, 6).expand((4, 6)).invert((1, 6)) is None
    assert make(4, 6).pad(((1, 0), (0, 0))).invert((4, 6)) is None


def test_move_takes_the_arg_of_the_op():
    assert make(4, 6).move(Ops.PERMUTE, (1, 0)) is make(4, 6).permute((1, 0))
    assert make(1, 6).move(Ops.EXPAND, (3, 6)) is make(1, 6).expand((3, 6))


def test_a_symbolic_window_over_a_cache():
    start = Variable("start", 0, 31)
    bound = start.bind(5)
    cache = make(2, 32, 4).shrink(((0, 2), (bound, bound + 1), (0, 4)))
    assert cache.shape == (2, 1, 4)
    free, values = cache.unbind()
    assert values == {start: 5} and free.vars() == {start}
    index, gate = expr_from_ranges(free, symbolic_ranges(free.shape))
    assert gate is None
    assert index.vmax == 128 + 31 * 4 + 3


def test_expanding_an_axis_with_a_symbolic_mask():
    n = Variable("n", 0, 2)
    padded = make(1, 3).pad(((n, 2 - n), (0, 0))).shrink(((1, 2), (0, 3))).expand((4, 3))
    assert padded.shape == (4, 3) and len(padded.views) == 2


def test_nothing_visible_without_axes():
    scalar = make(1).pad(((1, 0),)).shrink(((0, 1),)).reshape(())
    _, gate = expr_from_ranges(scalar, ())
    assert gate.op is Ops.CONST and gate.arg is False


def test_trackers_in_nodes_print_and_parse():
    n = Variable("n", 1, 8)
    for tracker in (make(4, 6).pad(((1, 1), (0, 0))), make(n, 4).permute((1, 0))):
        node = UOp(Ops.VALID, n.dtype, (), tracker)
        assert from_text(to_text(node)) is node
