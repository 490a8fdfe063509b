import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.device.tensor_core import FragmentLayout, TensorCore

# 2 x 2 fragments over 2 lanes with 2 elements each
BY_ROW = FragmentLayout(lane=((1, 0),), element=((0, 1),))
BY_COLUMN = FragmentLayout(lane=((0, 1),), element=((1, 0),))


def test_coordinates_are_sums_of_steps():
    assert [BY_ROW.coordinate(lane, e) for lane in (0, 1) for e in (0, 1)] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    assert BY_COLUMN.coordinate(1, 0) == (0, 1)


def test_covering():
    assert BY_ROW.covers(2, 2) and not BY_ROW.covers(2, 4)
    assert not FragmentLayout(((1, 0),), ((1, 0),)).covers(2, 2)
    shared = FragmentLayout(lane=((1, 0), (0, 0)), element=((0, 1),))
    assert shared.covers(2, 2), "two lanes may hold the same element"


def test_a_unit_with_valid_layouts():
    unit = TensorCore("mma", (2, 2, 2), 2, dtypes.half, dtypes.float, BY_ROW, BY_COLUMN, BY_ROW)
    assert unit.dims == (2, 2, 2)


@pytest.mark.parametrize(
    "dims,threads,operand", [((2, 2, 4), 2, "a"), ((2, 4, 2), 2, "b"), ((2, 2, 2), 4, "a")]
)
def test_a_layout_that_leaves_holes_is_refused(dims, threads, operand):
    with pytest.raises(ArgumentError) as caught:
        TensorCore("mma", dims, threads, dtypes.half, dtypes.float, BY_ROW, BY_ROW, BY_ROW)
    assert f"layout {operand}" in caught.value.summary
