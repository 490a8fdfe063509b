"""Random calls of Tensor methods compared with PyTorch: values, dtypes, first and second gradients.

The graphs are evaluated by the oracle, so that the operations are what is tested; a smaller sample
runs through the engine. WEFT_TEST_EXAMPLES=20000 explores.
"""

import os
import random

import pytest

from cases import torch_cases
from cases.torch_cases import (
    FAMILIES,
    case,
    check,
    elementwise,
    linear_algebra,
    networks,
    shapes,
    torch_names,
)
from helpers.oracle import evaluated_by_oracle

pytest.importorskip("torch", reason="PyTorch is what weft is compared with")

ASKED = os.environ.get("WEFT_TEST_EXAMPLES")
COUNT = int(ASKED or 600)
FIRST = random.randrange(10**9) if ASKED else 0
MODULES = (elementwise, linear_algebra, networks, shapes, torch_names)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(4))
def test_every_method(part):
    with evaluated_by_oracle():
        for seed in range(FIRST + part, FIRST + COUNT, 4):
            check(case(seed))


@pytest.mark.filterwarnings("ignore")
def test_through_the_engine():
    for seed in range(FIRST + 10**6, FIRST + 10**6 + COUNT // 20):
        check(case(seed))


def test_every_module_has_families():
    assert len(FAMILIES) > 250
    assert all(m.__name__.startswith(torch_cases.__name__) for m in MODULES)
