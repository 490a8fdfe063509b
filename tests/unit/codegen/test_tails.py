"""Long reduces over awkward numbers of elements: which are cut, and that both parts are a nest."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor
from weft.codegen import tails
from weft.codegen.lowerer import run as lowered_from
from weft.codegen.pipeline import lower, nothing
from weft.codegen.ranges import loops_of
from weft.device.capabilities import COMMON_DTYPES, ComputeCaps, Target
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.spec import lowered
from weft.uop import GroupOp, Ops, UOp

LANES = 4
COMPUTE = ComputeCaps(vector_widths=dict.fromkeys(COMMON_DTYPES, (LANES,)), vector_bytes=16)
TARGET = Target(COMPUTE, GroupOp.ALU, None, "py", "vector")


def ast_of(tensor):
    sink = UOp.sink(tensor.uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    return item.ast


def kernel(tensor):
    return lowered_from(ast_of(tensor))


def turns(sink):
    """For each REDUCE how often its loops turn."""
    reduces = [node for node in sink.toposort() if node.op is Ops.REDUCE]
    return sorted(tuple(loop.src[0].arg for loop in loops_of(node)) for node in reduces)


def product(rows, columns, terms):
    """A product of matrices after a function, and the same by NumPy."""
    generator = np.random.default_rng(columns)
    shapes = ((2, rows, terms), (2, terms, columns), (2, rows, columns))
    a, b, c = (generator.integers(-4, 5, shape).astype(np.float32) for shape in shapes)
    left, right, added = (Tensor(array, "REF:vector") for array in (a, b, c))
    return (left @ right).relu() + added, np.maximum(a @ b, 0) + c


@pytest.mark.parametrize("length", [16, 18, 64, 67, 15])
def test_what_is_cut(length):
    """Vectors first, from four of them; four side by side in longer ones."""
    sink = kernel(Tensor.empty(3, length, device="NULL").sum(1))
    cut = tails.run(sink, TARGET)
    lowered.verify(cut)
    parts = {16: [(16,)], 18: [(2,), (16,)], 64: [(64,)], 67: [(3,), (64,)], 15: [(15,)]}
    assert turns(cut) == parts[length]


def test_nothing_is_cut_that_does_not_lie_in_a_row():
    sink = kernel(Tensor.empty(18, 3, device="NULL").sum(0))
    assert tails.run(sink, TARGET) is sink or turns(tails.run(sink, TARGET)) == [(18,)]


def test_loops_inside_of_both_parts_are_two():
    """What both parts read in one loop would stand in two places of the nest."""
    shapes = ((2, 3, 33), (2, 33, 17), (2, 3, 17))
    left, right, added = (Tensor.empty(*shape, device="NULL") for shape in shapes)
    ast = ast_of(((left @ right).relu() + added).sum(-1))
    cut = tails.run(lowered_from(ast), TARGET)
    lowered.verify(cut)
    reduces = [node for node in cut.toposort() if node.op is Ops.REDUCE]
    assert turns(cut) == [(1,), (16,), (33,), (33,)]
    assert len({loop for node in reduces for loop in loops_of(node)}) == 4
    lower(ast, TARGET, nothing, prepared=True)  # it has an order


@pytest.mark.parametrize("columns", [17, 33, 35])
@pytest.mark.parametrize("reduced", ["sum", "max"])
def test_values_of_a_reduce_of_reduces(columns, reduced):
    value, array = product(3, columns, 33)
    np.testing.assert_array_equal(getattr(value, reduced)(-1).numpy(), getattr(array, reduced)(-1))
