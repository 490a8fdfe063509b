"""Nothing is recorded where the oracle replaces the engine."""

import os

import pytest


def pytest_collection_modifyitems(items):
    if os.environ.get("WEFT_TEST_ORACLE") == "1":
        skip = pytest.mark.skip(reason="the oracle does not run schedules")
        for item in items:
            if "tensor/jit" in item.nodeid:
                item.add_marker(skip)
