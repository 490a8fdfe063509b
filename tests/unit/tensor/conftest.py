"""With WEFT_TEST_ORACLE=1 the tests of this folder realize by the oracle instead of the engine."""

import os
from contextlib import nullcontext

import pytest

from helpers.oracle import evaluated_by_oracle


@pytest.fixture(autouse=True, scope="session")
def _way_of_running():
    with evaluated_by_oracle() if os.environ.get("WEFT_TEST_ORACLE") == "1" else nullcontext():
        yield
