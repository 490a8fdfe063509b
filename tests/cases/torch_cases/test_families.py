"""Every family of cases makes one, and it agrees."""

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
MODULES = (elementwise, linear_algebra, networks, shapes, torch_names)  # which enter their families


def test_every_module_is_of_the_package():
    assert all(module.__name__.startswith(f"{torch_cases.__name__}.") for module in MODULES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FAMILIES)
def test_family(name):
    with evaluated_by_oracle():
        check(case(11, [name]))
