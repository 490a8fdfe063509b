"""Tests that collect garbage again and again look at their own objects only."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _objects_of_earlier_tests_are_frozen() -> Iterator[None]:
    """A collection takes a tenth of a second where it iterates over all that is loaded."""
    gc.collect()
    gc.freeze()
    yield
