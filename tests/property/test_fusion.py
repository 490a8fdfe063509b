"""Deep graphs of computing, reducing and movement, realized late, against NumPy.

Nothing is written to memory here, so nothing may ever be refused.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft.testing.programs import FUSION, Drawn, run_program


@settings(max_examples=examples(40))
@given(st.data())
def test_graphs(data):
    run_program(Drawn(data.draw), FUSION, most=14)


@pytest.mark.parametrize("limit", [3, 4, 8])
@settings(max_examples=examples(8))
@given(data=st.data())
def test_graphs_within_a_limit_of_buffers(limit, data):
    run_program(Drawn(data.draw), FUSION, most=14, MAX_KERNEL_BUFFERS=limit)
