"""Random programs of views and writes, compared with NumPy; gradients with PyTorch.

WEFT_TEST_EXAMPLES=20000 explores.
"""

import os
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from helpers.view_gradients import check_gradients
from helpers.view_programs import check_files, check_program
from weft.testing.program_lines import Drawn

pytestmark = pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1",
    reason="the oracle runs no kernels",
)


@settings(max_examples=examples(25))
@given(data=st.data())
def test_programs_as_written(data):
    check_program(Drawn(data.draw), kinds=("as written",))


@settings(max_examples=examples(25))
@given(data=st.data())
def test_captured_programs(data):
    check_program(Drawn(data.draw), kinds=("captured",))


@settings(max_examples=examples(10))
@given(data=st.data())
def test_programs_of_arrays(data):
    check_program(Drawn(data.draw), kinds=("as arrays",))


@settings(max_examples=examples(10))
@given(data=st.data())
def test_captured_programs_of_arrays(data):
    check_program(Drawn(data.draw), kinds=("as captured arrays",))


@pytest.mark.parametrize("how", ["on several devices", "captured on several devices"])
@settings(max_examples=examples(10))
@given(data=st.data())
def test_programs_on_several_devices(how, data):
    check_program(Drawn(data.draw), kinds=(how,))


@settings(max_examples=examples(20))
@given(data=st.data())
def test_programs_in_files(data):
    pytest.importorskip("weft_disk")
    with tempfile.TemporaryDirectory() as folder:
        check_files(Drawn(data.draw), folder, "disk")


@settings(max_examples=examples(40))
@given(data=st.data())
def test_gradients_of_writes_through_views_equal_torch(data):
    pytest.importorskip("torch")
    check_gradients(Drawn(data.draw))
