"""Random programs over tensors on several devices compared with NumPy.

The layouts of the tensors alternate (see weft.testing.program_shards); sizes that do not divide,
and parts without elements, come up all the time.
"""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft.testing.programs import EVERYTHING, HAZARDS, Drawn, Refused, Seeded, run_program

TWO = ("REF", "REF:1")
FOUR = ("REF", "REF:1", "REF:2", "REF:3")

pytestmark = pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle knows one device"
)


def run(chooser, weights, devices, **overrides):
    try:
        run_program(chooser, weights, devices=devices, **overrides)
    except Refused:
        pass  # a write from elsewhere in the same memory may be refused, with advice


@settings(max_examples=examples(25))
@given(st.data())
def test_programs_on_two_devices(data):
    run(Drawn(data.draw), EVERYTHING, TWO)


@settings(max_examples=examples(15))
@given(st.data())
def test_writes_on_four_devices(data):
    run(Drawn(data.draw), HAZARDS, FOUR)


@pytest.mark.parametrize(
    "overrides", [{"RING": 0}, {"RING": 2}, {"SPEC": 1}, {"MAX_KERNEL_BUFFERS": 3}], ids=str
)
@settings(max_examples=examples(5))
@given(data=st.data())
def test_settings_change_no_result(overrides, data):
    run(Drawn(data.draw), EVERYTHING, FOUR[:3], **overrides)


@pytest.mark.parametrize("seed", range(examples(15)))
def test_programs_of_seeds(seed):
    """The same programs on every machine: hypothesis' own are new on each run."""
    devices = FOUR[: 2 + seed % 3]
    run(Seeded(seed), HAZARDS if seed % 2 else EVERYTHING, devices, RING=seed % 3)
