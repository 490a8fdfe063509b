"""Every optional system switched off, one at a time and all at once: results stay equal."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft.base.errors import NonFiniteError
from weft.testing.programs import EVERYTHING, FUSION, Drawn, Refused, run_program

OFF = {
    "SPLIT_REDUCEOP": 0, "FUSE_ARANGE": 0, "FUSE_CONV_BW": 2, "GROUP_KERNELS": 0,
    "MEMORY_PLANNER": 0, "SCHEDULE_CACHE": 0, "TRACEMETA": 0, "MAX_KERNEL_BUFFERS": 4, "NOOPT": 1,
}  # fmt: skip


def run(data, weights, **overrides):
    try:
        run_program(Drawn(data.draw), weights, most=10, **overrides)
    except Refused:
        pass  # a write from elsewhere in the same memory may be refused, with advice


@pytest.mark.parametrize("name", OFF)
@settings(max_examples=examples(5))
@given(data=st.data())
def test_one_system_off(name, data):
    run(data, EVERYTHING, **{name: OFF[name]})


@settings(max_examples=examples(10))
@given(data=st.data(), chosen=st.sets(st.sampled_from(sorted(OFF))))
def test_any_systems_off_together(data, chosen):
    run(data, FUSION, **{name: OFF[name] for name in chosen})


@settings(max_examples=examples(5))
@given(data=st.data())
def test_all_off(data):
    run(data, EVERYTHING, **OFF)


@settings(max_examples=examples(10))
@given(data=st.data())
def test_checked(data):
    """Method by method the results are those of fused kernels."""
    try:
        run(data, EVERYTHING, CHECK=1)
    except NonFiniteError:
        pass  # the program overflows
