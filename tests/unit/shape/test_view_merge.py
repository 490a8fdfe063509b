"""Two views as one, and the cases where there is none."""

from weft.shape import View
from weft.shape.view_merge import compose
from weft.uop import Variable


def row(n):
    return View.create((n,))


def test_over_memory_in_order_the_upper_view_is_all():
    upper = View.create((3, 2), (1, 3), 1)
    assert compose(upper, row(7)) is upper


def test_a_permuted_matrix_read_in_windows_is_one_view():
    lower = View.create((4, 6)).permute((1, 0))
    upper = View.create((3, 4), (8, 1))  # every other row of the transposed
    assert compose(upper, lower) is View.create((3, 4), (2, 6))


def test_a_row_major_read_of_a_transposed_matrix_is_two():
    assert compose(row(24), View.create((4, 6)).permute((1, 0))) is None


def test_the_diagonal_and_the_other_diagonal():
    lower = View.create((3, 3)).permute((1, 0))
    assert compose(View.create((3,), (4,)), lower).strides == (4,)
    other = compose(View.create((3,), (2,), 2), lower)
    assert (other.strides, other.offset) == ((-2,), 6)


def test_windows_over_repeated_rows():
    # the way a convolution takes its windows: repeat, cut, fold
    lower = View.create((1, 8)).expand((4, 8))
    upper = View.create((3, 6), (9, 1))
    assert compose(upper, lower) is View.create((3, 6), (1, 1))


def test_windows_that_run_over_the_end_of_a_row_are_two():
    lower = View.create((1, 8)).expand((4, 8))
    assert compose(View.create((3, 7), (9, 1)), lower) is None


def test_a_mask_below_becomes_a_mask_above():
    lower = View.create((4,)).pad(((2, 2),))
    merged = compose(View.create((4,), (2,)), lower)
    assert merged is View.create((4,), (2,), -2, ((1, 3),))


def test_a_mask_below_read_backwards():
    lower = View.create((4,)).pad(((1, 3),))
    merged = compose(View.create((8,), (-1,), 7), lower)
    assert merged is View.create((4,)).pad(((1, 3),)).flip((True,))


def test_a_mask_on_a_sum_of_axes_is_no_box():
    lower = View.create((8,)).pad(((1, 0),)).reshape((1, 9)).expand((4, 9))
    assert compose(View.create((3, 6), (10, 1)), lower) is None


def test_a_mask_that_is_never_met_hides_all():
    lower = View.create((2, 3)).pad(((2, 0), (0, 0))).permute((1, 0))
    merged = compose(View.create((3, 2), (4, 1)), lower)
    assert merged.hides_all


def test_a_mask_that_is_always_met_is_dropped():
    lower = View.create((2, 3)).pad(((2, 0), (0, 0))).permute((1, 0))
    merged = compose(View.create((3, 2), (4, 1), 2), lower)
    assert merged.mask is None and merged.strides == (1, 3)


def test_a_mask_that_misses_is_looked_at_only_when_the_map_is_affine():
    # coordinate 0 seems constant over the first block, which the mask hides
    lower = View.create((2, 3, 3)).pad(((1, 2), (0, 2), (0, 2)))
    assert compose(row(125), lower) is None


def test_a_mask_above_is_kept():
    lower = View.create((4, 6)).permute((1, 0))
    upper = View.create((6, 4)).pad(((1, 1), (0, 2)))
    assert compose(upper, lower) is lower.pad(((1, 1), (0, 2)))


def test_nothing_visible_below_is_nothing_visible_above():
    lower = View.create((2,)).pad(((3, 0),)).shrink(((0, 3),))
    assert compose(View.create((3, 1)), lower).hides_all
    assert compose(View.create(()), lower) is None


def test_symbolic_views_compose_by_their_factors():
    n = Variable("n", 2, 9)
    lower = View.create((4, n)).permute((1, 0))
    assert compose(View.create((n, 4), (4, 1)), lower) is lower
    halves = compose(View.create((n, 2, 2)), lower)
    assert halves is not None and halves.strides[1:] == ((n * 2).simplify(), n)
