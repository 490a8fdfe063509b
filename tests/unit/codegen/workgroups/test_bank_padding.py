"""Where a gap goes so that a warp does not wait for banks of shared memory."""

from __future__ import annotations

from weft.codegen.workgroups.bank_padding import Access, strides_of, waits

ROWS, COLUMNS = 32, 32
DOWN = Access(((0, 32, 1),), 4, 1)  # each lane has a row of its own
ALONG = Access(((1, 32, 1),), 4, 1)


def test_lanes_of_one_bank_wait_for_each_other():
    assert waits((32, 1), 4, ALONG) == 1
    assert waits((32, 1), 4, DOWN) == 32
    assert waits((33, 1), 4, DOWN) == 1
    assert waits((34, 1), 4, DOWN) == 2


def test_lanes_that_read_one_word_do_not():
    everyone = Access(((0, 32, 0),), 4, 1)
    assert waits((32, 1), 4, everyone) == 1


def test_wide_accesses_are_several_turns_at_best():
    assert waits((1,), 4, Access(((0, 32, 4),), 16, 1)) == 4
    assert waits((1,), 4, Access(((0, 32, 8),), 16, 1)) == 8


def test_rows_that_are_read_downwards_are_drawn_apart():
    strides, size = strides_of((ROWS, COLUMNS), 4, 1, (DOWN, ALONG))
    assert (strides, size) == ((33, 1), 33 * 32)


def test_there_is_no_gap_without_need():
    assert strides_of((ROWS, COLUMNS), 4, 1, (ALONG,)) == ((32, 1), 32 * 32)


def test_gaps_keep_together_what_is_accessed_together():
    wide = Access(((0, 32, 1),), 16, 1)
    strides, _ = strides_of((ROWS, COLUMNS), 4, 4, (wide,))
    assert strides == (36, 1) and waits(strides, 4, wide) == 4


def test_a_gap_may_lie_between_planes():
    """Lanes take eight planes of four rows each: rows side by side, planes apart."""
    access = Access(((1, 4, 1), (0, 8, 1)), 4, 1)
    strides, _ = strides_of((8, 4, 8), 4, 1, (access,))
    assert waits((32, 8, 1), 4, access) == 8 and waits(strides, 4, access) == 1
