"""Shared rows that can be private."""

from __future__ import annotations

import numpy as np
import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.codegen.workgroups import private_rows
from weft.uop.args import AxisKind
from weft.uop.node import UOp

PARTS = 8
THREAD = UOp.range(PARTS, 0, AxisKind.GROUP_REDUCE)
TURN = UOp.range(4, 1, AxisKind.LOOP)


def array(size):
    return dtypes.float.ptr(size, AddrSpace.REG)


def times(node, factor):
    return node * UOp.const(dtypes.int, factor)


def plus(node, more):
    return node + UOp.const(dtypes.int, more)


NEIGHBOURS = times(TURN, 16) + times(THREAD, 2)  # two adjacent elements, in four iterations
STRETCH = times(THREAD, 8) + times(TURN, 2)  # eight elements that lie together


@pytest.mark.parametrize("at, length", [(NEIGHBOURS, 2), (STRETCH, 8)])
def test_each_work_item_has_its_own(at, length):
    indices = [at, plus(at, 1)]
    assert private_rows.private_length(array(64), indices, PARTS) == length


def test_the_last_round_need_not_be_full():
    assert private_rows.private_length(array(62), [NEIGHBOURS], PARTS) == 2
    assert private_rows.length(array(62), 2, PARTS) == private_rows.length(array(64), 2, PARTS) == 8


def test_its_elements_are_numbered_without_the_others():
    def places(at, length):
        made = {THREAD: THREAD, TURN: TURN}
        found = private_rows.within(at, length, PARTS, made)
        return [found.substitute({TURN: TURN.const_like(n)}).simplify().arg for n in range(4)]

    assert places(NEIGHBOURS, 2) == [0, 2, 4, 6]
    assert places(plus(NEIGHBOURS, 17), 2) == [3, 5, 7, 9]
    assert places(plus(STRETCH, 1), 8) == [1, 3, 5, 7]


@pytest.mark.parametrize(
    "indices, size",
    [
        ([NEIGHBOURS, plus(NEIGHBOURS, 2)], 64),  # the next work item's
        ([NEIGHBOURS, TURN], 64),  # all read the same
        ([NEIGHBOURS, STRETCH], 64),  # filled one way, read another
        ([times(THREAD, 2) + times(TURN, 3)], 64),  # parts overlap
        ([times(TURN, 512) + times(THREAD, 64)], 2048),  # too many for registers
        ([times(THREAD % UOp.const(dtypes.int, 4), 2)], 64),  # two have the same
    ],
)
def test_arrays_read_by_other_work_items_stay_shared(indices, size):
    assert private_rows.private_length(array(size), indices, PARTS) is None


def test_all_elements_are_met_once():
    """Over all iterations the numbers of one work item are those of its part of the array."""
    made = {THREAD: THREAD, TURN: TURN}
    found = [
        private_rows.within(plus(NEIGHBOURS, lane), 2, PARTS, made)
        .substitute({TURN: TURN.const_like(turn)}).simplify().arg
        for turn in range(4) for lane in range(2)
    ]  # fmt: skip
    np.testing.assert_array_equal(sorted(found), range(64 // PARTS))
