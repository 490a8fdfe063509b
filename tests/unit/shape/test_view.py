"""One view: canonical form and the six moves."""

import copy
import pickle

import pytest

from weft.base.errors import ShapeError
from weft.shape import View
from weft.shape.view import merged_axes, row_major
from weft.uop import Variable


def test_equal_views_are_one_object():
    assert View.create((2, 3)) is View.create((2, 3), (3, 1), 0, ((0, 2), (0, 3)))
    assert View.create((2, 3)) is not View.create((3, 2))


def test_views_survive_copies_and_pickles_as_themselves():
    view = View.create((4, 5), (5, 1), 3, ((1, 3), (0, 5)))
    assert copy.deepcopy(view) is view
    assert pickle.loads(pickle.dumps(view)) is view


def test_axes_of_size_one_have_no_stride():
    assert View.create((1, 4), (77, 1)).strides == (0, 1)
    assert View.create((1, 4), (77, 1)).contiguous
    assert row_major((2, 1, 3)) == (3, 0, 1)


def test_a_mask_that_hides_nothing_is_no_mask():
    assert View.create((2, 2), mask=((0, 2), (0, 2))).mask is None


def test_a_mask_that_leaves_one_index_turns_its_stride_into_offset():
    view = View.create((4, 3), (3, 1), 0, ((2, 3), (0, 3)))
    assert (view.strides, view.offset) == ((0, 1), 6)


def test_a_mask_that_hides_all_says_so_on_every_axis():
    view = View.create((4, 3), (3, 1), 5, ((2, 2), (0, 3)))
    assert view.hides_all and view.mask == ((0, 0), (0, 0)) and view.offset == 0


def test_permute_then_back_is_the_view():
    view = View.create((2, 3, 4))
    assert view.permute((2, 0, 1)).strides == (1, 12, 4)
    assert view.permute((2, 0, 1)).permute((1, 2, 0)) is view


def test_flip_twice_is_the_view():
    view = View.create((4, 5)).pad(((1, 0), (0, 2)))
    once = view.flip((True, False))
    assert once.strides == (-5, 1) and once.mask == ((0, 4), (0, 5))
    assert once.flip((True, False)) is view


def test_shrink_of_a_pad_is_the_view():
    view = View.create((4, 5))
    assert view.pad(((1, 2), (3, 0))).shrink(((1, 5), (3, 8))) is view


def test_shrink_to_padding_only_hides_all():
    assert View.create((4,)).pad(((2, 0),)).shrink(((0, 2),)).hides_all


def test_padding_nothing_is_the_view():
    view = View.create((2, 2))
    assert view.pad(((0, 0), (0, 0))) is view


def test_padding_an_empty_axis_gives_zeros():
    assert View.create((0, 3)).pad(((1, 1), (0, 0))).hides_all


def test_an_expanded_axis_has_stride_zero():
    view = View.create((1, 3)).expand((4, 3))
    assert view.shape == (4, 3) and view.strides == (0, 1)


def test_expanding_a_hidden_axis_keeps_it_hidden():
    view = View.create((2, 3)).pad(((1, 0), (0, 0))).shrink(((0, 1), (0, 3))).expand((5, 3))
    assert view.hides_all


@pytest.mark.parametrize(
    ("new", "strides"),
    [((6, 4), (4, 1)), ((2, 12), (12, 1)), ((1, 24), (0, 1)), ((2, 3, 2, 2), (12, 4, 2, 1))],
)
def test_reshape_of_a_contiguous_view(new, strides):
    assert View.create((2, 3, 4)).reshape(new).strides == strides


def test_reshape_of_transposed_axes_needs_another_view():
    assert View.create((2, 3)).permute((1, 0)).reshape((6,)) is None
    assert View.create((2, 3, 4)).permute((1, 0, 2)).reshape((3, 2, 2, 2)).strides == (4, 12, 2, 1)


def test_reshape_merges_expanded_axes():
    assert View.create((1, 1, 3)).expand((2, 4, 3)).reshape((8, 3)).strides == (0, 1)
    assert View.create((1, 3)).expand((2, 3)).reshape((6,)) is None


def test_reshape_keeps_a_mask_that_stays_a_box():
    view = View.create((4, 6)).pad(((1, 1), (0, 0)))
    assert view.reshape((36,)).mask == ((6, 30),)
    assert view.reshape((36,)).reshape((6, 2, 3)).mask == ((1, 5), (0, 2), (0, 3))


def test_reshape_across_the_border_of_a_mask_needs_another_view():
    view = View.create((4,)).pad(((1, 1),))
    assert view.reshape((2, 3)) is None
    assert View.create((3, 3)).pad(((0, 0), (1, 0))).reshape((12,)) is None


def test_reshape_splits_an_interval_inside_one_block():
    view = View.create((2,)).pad(((4, 2),)).reshape((2, 4))
    assert view.mask == ((1, 2), (0, 2))
    assert view.strides == (0, 1) and view.offset == 0


def test_an_axis_visible_at_one_index_merges_with_the_next():
    # row 1 of two rows is seen: for any stride, the two axes are one
    view = View.create((1, 3), (0, 5)).pad(((1, 0), (0, 0)))
    assert view.reshape((6,)).mask == ((3, 6),)
    assert view.reshape((6,)).strides == (5,)


def test_nothing_visible_cannot_lose_all_its_axes():
    assert View.create((1,)).pad(((1, 0),)).shrink(((0, 1),)).reshape(()) is None


def test_another_number_of_elements_is_refused():
    with pytest.raises(ShapeError) as caught:
        View.create((2, 3)).reshape((7,))
    assert "(2, 3)" in caught.value.asked and "7" in caught.value.because


def test_merged_axes_of_a_row_major_view_are_one():
    offset, axes = merged_axes(View.create((2, 3, 4)))
    assert offset == 0 and [(a.size, a.stride) for a in axes] == [(24, 1)]


def test_symbolic_views():
    n = Variable("n", 1, 10)
    view = View.create((n, 4))
    assert view.contiguous and not view.static
    assert view.reshape(((n * 4).simplify(),)).shape == ((n * 4).simplify(),)
    assert view.permute((1, 0)).strides == (1, 4)
    bound = n.bind(3)
    free, values = View.create((bound, 4)).unbind()
    assert free is view and values == {n: 3}
    assert view.substitute({n: n.const_like(5)}) is View.create((5, 4))


def test_a_symbolic_window_of_one_element_has_a_known_shape():
    n = Variable("n", 0, 7)
    view = View.create((8, 3)).shrink(((n, n + 1), (0, 3)))
    assert view.shape == (1, 3)
    assert view.offset is (n * 3).simplify()
