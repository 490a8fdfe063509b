"""Long reduces over awkward numbers of elements: which are cut, and that both parts are a nest."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.codegen.analysis.ranges import loops_of
from weft.codegen.lowering.lowerer import run as lowered_from
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import COMMON_DTYPES, ComputeCaps
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.spec import lowered
from weft.uop import Ops, UOp
from weft_simd.transforms import loop_peeling

LANES = 4
COMPUTE = ComputeCaps(vector_widths=dict.fromkeys(COMMON_DTYPES, (LANES,)), vector_bytes=16)
TARGET = simd_target(COMPUTE)


def ast_of(tensor):
    sink = UOp.sink(tensor.uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    return item.ast


def kernel(tensor):
    return lowered_from(ast_of(tensor))


def turns(sink):
    """For each REDUCE the number of iterations of its loops."""
    reduces = [node for node in sink.toposort() if node.op is Ops.REDUCE]
    return sorted(tuple(loop.src[0].arg for loop in loops_of(node)) for node in reduces)


def product(rows, columns, terms):
    """A product of matrices after a function, and the same by NumPy."""
    generator = np.random.default_rng(columns)
    shapes = ((2, rows, terms), (2, terms, columns), (2, rows, columns))
    a, b, c = (generator.integers(-4, 5, shape).astype(np.float32) for shape in shapes)
    left, right, added = (Tensor(array, "REF:vector") for array in (a, b, c))
    return (left @ right).relu() + added, np.maximum(a @ b, 0) + c


@pytest.mark.parametrize("length", [16, 18, 64, 67, 15, 7])
def test_peeled_loops(length):
    """Vectors first; four side by side in longer rows, what is worth it in short ones."""
    sink = kernel(Tensor.empty(3, length, device="NULL").sum(1))
    cut = loop_peeling.run(sink, TARGET)
    lowered.verify(cut)
    parts = {16: [(16,)], 18: [(2,), (16,)], 64: [(64,)], 67: [(3,), (64,)], 15: [(3,), (12,)],
             7: [(7,)]}  # fmt: skip
    assert turns(cut) == parts[length]


def test_nothing_is_cut_that_does_not_lie_in_a_row():
    sink = kernel(Tensor.empty(18, 3, device="NULL").sum(0))
    assert loop_peeling.run(sink, TARGET) is sink or turns(loop_peeling.run(sink, TARGET)) == [
        (18,)
    ]


def test_of_several_loops_the_innermost_is_cut():
    """The remainders of all rows are a stream of their own; operands of products are not peeled."""
    cut = loop_peeling.run(kernel(Tensor.empty(3, 5, 14, device="NULL").sum((0, 2))), TARGET)
    lowered.verify(cut)
    assert turns(cut) == [(3, 2), (3, 12)]
    left, right = (Tensor.empty(5, 15, device="NULL") for _ in range(2))
    assert turns(loop_peeling.run(kernel(left @ right.T), TARGET)) == [(15,)]


def test_reductions_in_the_same_loops_are_peeled_alike():
    """One of the two has its rows along the other loop."""
    given = Tensor.empty(14, 14, device="NULL")
    ast = ast_of(given.sum() + given.exp2().T.max())
    cut = loop_peeling.run(lowered_from(ast), TARGET)
    lowered.verify(cut)
    reduces = [node for node in cut.toposort() if node.op is Ops.REDUCE]
    for one in reduces:
        for other in reduces:
            shared = set(loops_of(one)) & set(loops_of(other))
            assert not shared or loops_of(one) == loops_of(other)


@pytest.mark.parametrize("reduced", ["sum", "max", "mean", "var", "argmax"])
def test_values_of_short_rows(reduced):
    array = np.random.default_rng(5).integers(-9, 9, (3, 6, 5, 3)).astype(np.float32)
    array[1, 2, 4, 2] = np.nan
    for axes in ((2, 3), (0, 2, 3)):
        flat = np.moveaxis(array, 1, 0).reshape(6, -1) if 0 in axes else array.reshape(3, 6, 15)
        given = Tensor(array, "REF:vector")
        if reduced == "argmax":
            given, axes = (
                given.permute(1, 0, 2, 3).flatten(1) if 0 in axes else given.flatten(2),
                -1,
            )
        more = {"ddof": 1} if reduced == "var" else {}
        wanted = getattr(np, reduced)(flat, -1, **more)
        np.testing.assert_allclose(getattr(given, reduced)(axes).numpy(), wanted, rtol=1e-5)


def test_loops_inside_of_both_parts_are_two():
    """A value read by both parts in one loop would be in two places of the nest."""
    shapes = ((2, 3, 33), (2, 33, 17), (2, 3, 17))
    left, right, added = (Tensor.empty(*shape, device="NULL") for shape in shapes)
    ast = ast_of(((left @ right).relu() + added).sum(-1))
    cut = loop_peeling.run(lowered_from(ast), TARGET)
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
