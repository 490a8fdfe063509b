"""The choice for one processor, where no other test of this folder says it."""

from __future__ import annotations

import pytest

from helpers.graphs import buffer, kernels
from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.opt.search_space import by_heuristic
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import ComputeCaps
from weft.uop import Ops, UOp
from weft.uop.args import Reduce

LANES = 8
TARGET = simd_target(ComputeCaps(
        vector_widths={dtypes.float: (LANES, 2 * LANES, 4 * LANES)},
        vector_bytes=4 * LANES,
        vector_registers=16,
    ))  # fmt: skip


def lanes_of(steps: int, size: int = 4096) -> int:
    """How many lanes a chain of so many operations on each element is given."""
    value = buffer(size)
    for step in range(steps):
        value = value * UOp.const(dtypes.float, step + 2.0)
    (ast,) = kernels(value.contiguous())
    opts = by_heuristic(loops_for(ast, TARGET, True)).opts
    (amount,) = (opt.amount for opt in opts if opt.kind is OptKind.VECTOR)
    return amount


@pytest.mark.parametrize(("steps", "vectors"), [(3, 1), (12, 1), (24, 4), (60, 4)])
def test_a_long_chain_of_operations_has_several_vectors(steps, vectors):
    assert lanes_of(steps) == vectors * LANES


def test_there_must_be_enough_for_several_vectors():
    assert lanes_of(60, size=2 * LANES) == 2 * LANES
    assert lanes_of(60, size=LANES) == LANES


def test_gathered_lanes_have_few_unrolled_terms():
    """Ten terms of a short row keep the pipeline busy; rows side by side would only be longer."""
    rows = buffer(512 * 10).reshape((512, 10))
    total = UOp(Ops.REDUCE_AXIS, rows.dtype, (rows,), Reduce(Ops.ADD, (1,)))
    (ast,) = kernels(total.contiguous())
    kinds = [opt.kind for opt in by_heuristic(loops_for(ast, TARGET, True)).opts]
    assert OptKind.VECTOR in kinds and OptKind.UPCAST not in kinds


@pytest.mark.parametrize(
    ("rows", "columns", "written_out"), [(8, 3, []), (256, 3, [2]), (8, 1, [0]), (256, 1, [4])]
)
def test_few_terms_of_gathered_lanes_are_unrolled(rows, columns, written_out):
    """The first of three columns: to pick lanes takes longer than a sum waits for the one before.

    rows: so many vectors of them.
    """
    value = buffer(rows * LANES * columns).reshape((rows * LANES, columns))
    value = first = value.shrink(((0, rows * LANES), (0, 1)))
    for step in range(8):
        value = value * first + UOp.const(dtypes.float, step + 2.0)
    total = UOp(Ops.REDUCE_AXIS, value.dtype, (value,), Reduce(Ops.ADD, (0,)))
    (ast,) = kernels(total.contiguous())
    opts = by_heuristic(loops_for(ast, TARGET, True)).opts
    assert OptKind.VECTOR in [opt.kind for opt in opts]
    assert [opt.amount for opt in opts if opt.kind is OptKind.UNROLL] == written_out


def of_rows(terms: int, pitch: int, scaled: bool = False) -> set[OptKind]:
    """What is done to sums of so many neighbours, each so far behind the one before."""
    rows = buffer(512 * pitch).reshape((512, pitch)).shrink(((0, 512), (0, terms)))
    if scaled:
        rows = rows * buffer(terms).reshape((1, terms)).expand((512, terms))
    total = UOp(Ops.REDUCE_AXIS, rows.dtype, (rows,), Reduce(Ops.ADD, (1,)))
    (ast,) = kernels(total.contiguous())
    return {opt.kind for opt in by_heuristic(loops_for(ast, TARGET, True)).opts}


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("terms", [2, 3, 4, 5, 7])
def test_sums_of_short_rows_have_no_lanes(terms, scaled):
    """The compiler makes better vectors of a plain loop."""
    assert of_rows(terms, terms, scaled) == {OptKind.UNROLL}


def test_sums_of_rows_that_are_longer_or_lie_apart_have_lanes():
    assert OptKind.VECTOR in of_rows(8, 8) & of_rows(2, 9)


@pytest.mark.parametrize(("steps", "written_out"), [(2, 0), (8, 0), (12, 4), (30, 4)])
def test_few_long_chains_are_unrolled(steps, written_out):
    """All sixteen vectors of a row, but not where what they hold does not fit registers."""
    value = buffer(8 * 16 * LANES).reshape((8, 16 * LANES))
    for step in range(steps):
        value = value * value + UOp.const(dtypes.float, step + 2.0)
    total = UOp(Ops.REDUCE_AXIS, value.dtype, (value,), Reduce(Ops.ADD, (1,)))
    (ast,) = kernels(total.contiguous())
    opts = by_heuristic(loops_for(ast, TARGET, True)).opts
    assert [opt.amount for opt in opts if opt.kind is OptKind.UNROLL] == [written_out]
