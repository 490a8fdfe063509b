"""Random modules by torch.compile and torch.export beside eager PyTorch, with gradients."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")
sys.path.insert(0, str(Path(__file__).parent))

from fuzz_programs import check_program

from helpers.example_counts import examples


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(examples(6)))
def test_random_program(seed):
    check_program(seed)
