"""Random programs of every step against NumPy, and with settings that must not change results."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft.testing.programs import EVERYTHING, Drawn, Refused, run_program

SETTINGS = [
    {"NOOPT": 1},
    {"SPEC": 1},
    {"GROUP_KERNELS": 0},
    {"FUSE_ARANGE": 0},
    {"FUSE_CONV_BW": 2},
    {"MAX_KERNEL_BUFFERS": 3},
    {"MAX_KERNEL_BUFFERS": 5},
    {"MAX_KERNEL_BUFFERS": 8},
    {"NOOPT": 1, "MAX_KERNEL_BUFFERS": 4},
]


def run(data, **overrides):
    try:
        run_program(Drawn(data.draw), EVERYTHING, **overrides)
    except Refused:
        pass  # a write from elsewhere in the same memory may be refused, with advice


@settings(max_examples=examples(40))
@given(st.data())
def test_programs(data):
    run(data)


@pytest.mark.parametrize("overrides", SETTINGS, ids=str)
@settings(max_examples=examples(6))
@given(data=st.data())
def test_settings_change_no_result(overrides, data):
    run(data, **overrides)
