"""What a RANGE is in terms of the axes that it became."""

import itertools

import pytest

from weft.base.dtype import dtypes
from weft.codegen.analysis.axes import Pad, Split
from weft.codegen.loops.strip_mining import AxisSplits
from weft.uop import Ops, UOp

LOOP = UOp.range(10, 0)


def ranges(**extents):
    return {int(name[1:]): UOp.range(n, 100 + int(name[1:])) for name, n in extents.items()}


def values(splits, number, new):
    """The values an axis takes, the outermost of its new ranges turning slowest."""
    value = splits.value(number, new)
    order = sorted(new)
    found = []
    for turns in itertools.product(*(range(new[one].src[0].arg) for one in order)):
        at = {new[one]: UOp.const(dtypes.int, turn) for one, turn in zip(order, turns)}
        found.append(int(value.substitute(at)))
    return found


def test_an_axis_without_splits_is_its_range():
    new = ranges(_0=10)
    assert AxisSplits({LOOP: 0}).value(0, new) is new[0]


def test_two_splits_visit_every_iteration_once():
    splits = AxisSplits({LOOP: 0}, {0: Split(1, 2, 6, None), 1: Split(3, 4, 2, None)})
    assert values(splits, 0, ranges(_2=6, _3=2, _4=2)) == [
        6 * (2 * three + four) + two for two in range(6) for three in range(2) for four in range(2)
    ]
    assert splits.split_axes(LOOP) == [0, 1]


def test_the_last_part_overlaps_the_one_before_it():
    splits = AxisSplits({LOOP: 0}, {0: Split(1, 2, 4, last=6)})
    assert values(splits, 0, ranges(_1=3, _2=4)) == [0, 1, 2, 3, 4, 5, 6, 7, 6, 7, 8, 9]


def test_the_first_index_of_the_last_part_is_in_canonical_form():
    splits = AxisSplits({LOOP: 0}, {0: Split(1, 2, 4, last=6)})
    new = ranges(_1=3, _2=4)
    (condition,) = (u for u in splits.value(0, new).toposort() if u.op is Ops.CMPLT)
    assert condition is (new[1] < 2)


def test_both_loops_of_a_remainder_are_reported():
    splits = AxisSplits({LOOP: 0}, {0: Split(1, 2, 4, None, remainder=2), 2: Split(3, 4, 2, None)})
    assert splits.remainder_axes() == {1, 2}


def test_iterations_beyond_the_extent_are_invalid():
    splits = AxisSplits({LOOP: 0}, {1: Split(2, 3, 4, None)}, {0: Pad(LOOP, 1, 12, 10)})
    new = ranges(_2=3, _3=4)
    meant = {}
    real = splits.valid_iterations(new, 2, meant)[LOOP]
    (counted,) = (u for u in real.toposort() if u.op is Ops.RANGE)
    assert counted not in (LOOP, *new.values()) and counted.src[0].arg == 12
    assert meant[counted] is splits.value(0, new)
    assert [
        bool(real.substitute({counted: UOp.const(dtypes.int, turn)})) for turn in (0, 9, 10, 11)
    ] == [True, True, False, False]
    assert splits.split_axes(LOOP) == [1]


@pytest.mark.parametrize("taken", ["splits", "pads"])
def test_a_copy_is_split_independently(taken):
    splits = AxisSplits({LOOP: 0})
    getattr(splits.copy(), taken)[0] = None
    assert getattr(splits, taken) == {}
