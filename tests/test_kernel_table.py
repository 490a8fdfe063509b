"""The programs of the benchmarks: one kernel, where claimed, moves what it must and no more."""

import importlib
import sys
from pathlib import Path

import pytest

from weft import Tensor

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
CLAIMED = (
    "softmax", "log_softmax", "layernorm", "rmsnorm", "variance", "argmax",
    "matmul + bias + gelu", "two outputs of one input", "sum + max of one input",
)  # fmt: skip


@pytest.fixture(scope="module")
def benchmarks():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("kernel_table")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize("name", CLAIMED)
def test_one_kernel_moves_each_input_and_each_output_once(benchmarks, name):
    program = next(p for p in benchmarks.PROGRAMS if p.name == name)
    found = benchmarks.count_tensors(program.build(Tensor))
    assert found["kernels"] == program.goal == 1
    assert found["moved"] <= 1.1 * found["ideal moved"]


def test_the_ideal_counts_every_node_once(benchmarks):
    x = Tensor.empty(4, 8)
    found = benchmarks.count_tensors([(x + x).sum(1)])
    assert found["ideal moved"] == 4 * 8 * 4 + 4 * 4
    assert found["ideal flops"] == found["flops"] == 2 * 4 * 8


def test_the_line_through_a_power_law_has_its_exponent(benchmarks):
    cost = importlib.import_module("schedule_cost")
    assert cost.exponent([(n, 3.0 * n**1.5) for n in (1, 2, 8)]) == pytest.approx(1.5)
