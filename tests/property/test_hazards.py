"""Writes among readers of what is overwritten: no write changes the value of another tensor.

NumPy's side makes a new array for every write, so readers of the old one see the old one.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft.testing.programs import HAZARDS, Drawn, Refused, Seeded, run_program


def run(chooser, **overrides):
    try:
        run_program(chooser, HAZARDS, most=16, **overrides)
    except Refused:
        pass  # a write from elsewhere in the same memory may be refused, with advice


@settings(max_examples=examples(50))
@given(st.data())
def test_writes(data):
    run(Drawn(data.draw))


@pytest.mark.parametrize("overrides", [{"SPEC": 1}, {"MAX_KERNEL_BUFFERS": 3}], ids=str)
@settings(max_examples=examples(15))
@given(data=st.data())
def test_writes_under_all_settings(overrides, data):
    run(Drawn(data.draw), **overrides)


@pytest.mark.parametrize("seed", range(examples(25)))
def test_programs_of_seeds(seed):
    """The same programs on every machine: hypothesis' own are new on each run."""
    run(Seeded(seed))


def test_few_programs_are_refused():
    refused, count = 0, examples(30)
    for seed in range(1000, 1000 + count):
        try:
            run_program(Seeded(seed), HAZARDS, most=16)
        except Refused:
            refused += 1
    assert refused <= max(3, count // 10)
