"""Programs that are run again over other memory and other values: results are right every time,
with and without schedule cache and memory planning."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft.schedule.cache import schedules
from weft.testing import program_lines
from weft.testing.programs import EVERYTHING, Refused, Seeded, run_program

SETTINGS = [
    {},
    {"SCHEDULE_CACHE": 0},
    {"MEMORY_PLANNER": 0},
    {"SCHEDULE_CACHE": 0, "MEMORY_PLANNER": 0},
    {"GROUP_KERNELS": 0},
    {"MAX_KERNEL_BUFFERS": 3, "GROUP_KERNELS": 0},
]
_filled = program_lines.filled


def run_again(seed, times, **overrides):
    """One program, each time with other numbers in its arrays."""
    with pytest.MonkeyPatch.context() as patch:
        for turn in range(times):
            patch.setattr(
                program_lines,
                "filled",
                # parity says whether floats are whole numbers, so it stays
                lambda shape, kind, seed, turn=turn: _filled(shape, kind, seed + 2 * turn),
            )
            try:
                run_program(Seeded(seed), EVERYTHING, **overrides)
            except Refused:
                pass  # a write from elsewhere in the same memory may be refused, with advice


@pytest.mark.parametrize("overrides", SETTINGS, ids=str)
@settings(max_examples=examples(10))
@given(seed=st.integers(0, 1 << 30))
def test_programs_run_again(overrides, seed):
    run_again(seed, 3, **overrides)


def test_they_are_looked_up():
    schedules.clear()
    schedules.hits = schedules.misses = 0
    for seed in range(5):
        run_again(seed, 3)
    assert schedules.hits > schedules.misses > 0
