"""The padding that avoids bank conflicts of a warp."""

from __future__ import annotations

from weft.codegen.workgroups.bank_padding import Access, Banks, banks_of, cycles, strides_of
from weft.device.capabilities import ComputeCaps
from weft.device.machine import MachineModel

BANKS = Banks(32, 4, 32)
ROWS, COLUMNS = 32, 32
DOWN = Access(((0, 32, 1),), 4, 1)  # each lane has a row of its own
ALONG = Access(((1, 32, 1),), 4, 1)


def test_lanes_of_one_bank_are_serialized():
    assert cycles((32, 1), 4, ALONG, BANKS) == 1
    assert cycles((32, 1), 4, DOWN, BANKS) == 32
    assert cycles((33, 1), 4, DOWN, BANKS) == 1
    assert cycles((34, 1), 4, DOWN, BANKS) == 2


def test_lanes_that_read_one_word_do_not():
    everyone = Access(((0, 32, 0),), 4, 1)
    assert cycles((32, 1), 4, everyone, BANKS) == 1


def test_wide_accesses_take_several_cycles():
    assert cycles((1,), 4, Access(((0, 32, 4),), 16, 1), BANKS) == 4
    assert cycles((1,), 4, Access(((0, 32, 8),), 16, 1), BANKS) == 8


def test_rows_that_are_read_down_a_column_are_padded():
    strides, size = strides_of((ROWS, COLUMNS), 4, 1, (DOWN, ALONG), BANKS)
    assert (strides, size) == ((33, 1), 33 * 32)


def test_no_padding_without_need():
    assert strides_of((ROWS, COLUMNS), 4, 1, (ALONG,), BANKS) == ((32, 1), 32 * 32)


def test_padding_keeps_vector_accesses_contiguous():
    wide = Access(((0, 32, 1),), 16, 1)
    strides, _ = strides_of((ROWS, COLUMNS), 4, 4, (wide,), BANKS)
    assert strides == (36, 1) and cycles(strides, 4, wide, BANKS) == 4


def test_padding_between_planes():
    """Lanes take eight planes of four rows each: rows side by side, planes apart."""
    access = Access(((1, 4, 1), (0, 8, 1)), 4, 1)
    strides, _ = strides_of((8, 4, 8), 4, 1, (access,), BANKS)
    assert cycles((32, 8, 1), 4, access, BANKS) == 8 and cycles(strides, 4, access, BANKS) == 1


def test_banks_are_those_of_the_machine():
    machine = ComputeCaps(warp_size=64, machine=MachineModel(banks=16, bank_bytes=8)).machine
    assert banks_of(machine) == Banks(16, 8, 64)
    assert banks_of(MachineModel(banks=16)).lanes == 16, "a bank for each lane"


def test_fewer_and_wider_banks_conflict_in_other_places():
    narrow, wide = Banks(16, 4, 32), Banks(32, 8, 32)
    along = Access(((0, 32, 1),), 4, 1)
    assert cycles((1,), 4, along, narrow) == 2, "two lanes to a bank"
    assert cycles((1,), 4, along, wide) == 1, "two lanes to a word"
