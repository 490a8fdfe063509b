"""Fixtures of the tests of ONNX operators."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    """Random numbers that are the same in each run."""
    return np.random.default_rng(0)
