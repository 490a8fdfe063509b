"""Dead writes, and copies that only the next copy reads."""

import pytest

from helpers.graph_passes import agree, change, edited, memory
from helpers.graphs import kernels
from weft.base.dtype import dtypes
from weft.schedule.dead_write_elimination import dead_write_edits
from weft.schedule.use_def import uses_in
from weft.uop import Ops, UOp


def write(target, value):
    return UOp(Ops.ASSIGN, target.dtype, (target, value))


def row(number=0, device="X"):
    return memory(number, 6, device=device)


def written():
    return write(row(), row(1) * 2.0)


CASES = {
    "write_over_a_write": lambda: write(written(), row(2) + 1.0),
    "write_of_what_was_written": lambda: write(written(), written() + 1.0),
    "three_writes": lambda: (lambda second: write(second, second.sqrt()))(
        write(written(), written() + 1.0)
    ),
    "copy_of_a_copy": lambda: row().copy_to_device("Y").reshape((2, 3)).copy_to_device("Z"),
}


@pytest.mark.parametrize("name", CASES)
def test_rule(name, golden):
    before = CASES[name]()
    (after,) = edited(dead_write_edits, before)
    assert change(before, after) == golden.file(f"passes/dead_write_elimination/{name}.uop")
    agree(before, after)
    assert len(kernels(before)) == 1


def unchanged(*nodes):
    return not dead_write_edits(uses_in(UOp.sink(*nodes)))


def test_a_write_that_others_read_stays():
    first = written()
    last = write(first, row(2) + 1.0)
    assert unchanged(last, first * 3.0)
    assert unchanged(last, first)


def test_a_write_that_is_read_at_other_places_stays():
    first = written()
    assert unchanged(write(first, first.flip((True,))))
    total = first.reduce(Ops.ADD, (0,)).reshape((1,)).expand((6,))
    assert unchanged(write(first, first * total))


def test_copies_that_others_read_stay():
    there = row().copy_to_device("Y")
    assert unchanged(there.copy_to_device("Z"), there + 1.0)
    assert unchanged(there.copy_to_device("Z"), there)


def test_dtypes_are_kept():
    whole = memory(0, 4, dtype=dtypes.int)
    (after,) = edited(dead_write_edits, write(write(whole, whole + 1), write(whole, whole + 1) * 3))
    assert after is write(whole, (whole + 1) * 3)
