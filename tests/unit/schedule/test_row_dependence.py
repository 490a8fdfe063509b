"""For how many rows a read stays in its row."""

import random

import pytest

from weft.base.dtype import dtypes
from weft.schedule.row_dependence import both, rows_of_shape, rows_of_view
from weft.shape import ShapeTracker
from weft.shape.indexing import expr_from_ranges
from weft.uop import UOp


def st(*shape):
    return ShapeTracker.from_shape(shape)


def test_rows_are_products_of_leading_axes():
    assert rows_of_shape((2, 3, 4)) == {1, 2, 6, 24}
    assert rows_of_shape(()) == {1}
    assert rows_of_shape((4, 0)) == frozenset()
    assert rows_of_shape((UOp.variable("n", 1, 4), 2)) == frozenset()


@pytest.mark.parametrize(
    ("view", "size", "rows"),
    [
        (st(4, 6), 24, None),  # the same elements in the same order, however they are cut
        (st(4, 1).expand((4, 6)), 4, {1, 4}),  # one of its own for each row
        (st(1, 6).expand((4, 6)), 6, {1}),  # all rows read the same
        (st(4, 6).permute((1, 0)), 24, {1}),
        (st(2, 3, 4).permute((0, 2, 1)), 24, {1, 2}),
        (st(4, 6).flip((False, True)), 24, {1, 4}),
        (st(4, 6).flip((True, False)), 24, {1}),
        (st(4, 6).shrink(((0, 4), (1, 5))), 24, {1, 4}),
        (st(4, 6).shrink(((1, 3), (0, 6))), 24, {1}),
    ],
)
def test_of_one_view(view, size, rows):
    found = rows_of_view(view, size)
    assert found == rows if rows is None else set(found) == rows


def test_padding_is_never_within_a_row():
    # its addresses would have to be cut in row and place, which only the mask makes right
    assert rows_of_view(st(4, 6).pad(((0, 0), (2, 0))), 24) == frozenset()
    assert rows_of_view(st(4, 6).pad(((1, 1), (0, 0))), 24) == frozenset()


def test_intersection_of_allowed_row_counts():
    assert both(None, frozenset({1, 2})) == {1, 2} and both(None, None) is None
    assert both(frozenset({1, 4}), frozenset({4, 8})) == {4}


def test_allowed_row_counts_hold_element_by_element():
    rng = random.Random(3)
    seen = 0
    for _ in range(300):
        view = st(2, 3, 4)
        for _ in range(rng.randint(1, 3)):
            view = _moved(view, rng)
        shape = view.shape
        total = 1
        for extent in shape:
            total *= extent
        for rows in rows_of_view(view, 24) or rows_of_shape(shape):
            if total % rows or 24 % rows:
                continue
            seen += rows > 1
            for number, index in enumerate(_indices(shape)):
                at, valid = expr_from_ranges(view, [UOp.const(dtypes.int, i) for i in index])
                if valid is None or valid.simplify().arg:
                    place = at if isinstance(at, int) else at.simplify().arg
                    assert place // (24 // rows) == number // (total // rows)
    assert seen > 100


def _moved(view, rng):
    kind = rng.randrange(4)
    shape = view.shape
    if kind == 0:
        order = list(range(len(shape)))
        rng.shuffle(order)
        return view.permute(tuple(order))
    if kind == 1:
        return view.flip(tuple(rng.random() < 0.5 for _ in shape))
    if kind == 2:
        starts = [rng.randint(0, extent - 1) for extent in shape]
        return view.shrink(tuple((a, rng.randint(a + 1, e)) for a, e in zip(starts, shape)))
    return view.reshape((*shape, 1)).expand((*shape, 2))


def _indices(shape):
    if not shape:
        return [()]
    return [(i, *rest) for i in range(shape[0]) for rest in _indices(shape[1:])]
