"""Which sums are stored in a local row buffer before expensive operations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import ComputeCaps, KernelLimits
from weft.shape.infer import shape_of
from weft.shape.tracker import ShapeTracker
from weft.spec import kernel_ast
from weft.testing.reference.run import run_program
from weft.uop import Ops, UOp
from weft.uop.args import Row
from weft.uop.text import to_text
from weft_simd.transforms import reduction_rows


def target(vectors=True, limits=KernelLimits()):
    widths = {dtypes.float: (8, 4)} if vectors else {}
    caps = ComputeCaps(
        vector_widths=widths, vector_bytes=32 * vectors, vector_registers=16, limits=limits
    )
    return simd_target(caps)


WIDE = target()


def shape(*extents):
    return ShapeTracker.from_shape(extents)


def pointer(slot, size):
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)


def product(m, k, n, slot=2, transposed=True):
    """x @ w.T, or x @ w, as (m, n)."""
    a = pointer(1, m * k).view(shape(m, 1, k).expand((m, n, k))).load()
    st = shape(1, n, k) if transposed else shape(k, n).permute((1, 0)).reshape((1, n, k))
    b = pointer(slot, k * n).view(st.expand((m, n, k))).load()
    return (a * b).reduce(Ops.ADD, (2,)).view(shape(m, n, 1).reshape((m, n)))


def costly(value):
    power = UOp(Ops.EXP2, value.dtype, (value,))
    return power * value + value


def sink(value):
    extents = shape_of(value)
    st = shape(*extents)
    return UOp.sink(pointer(0, math.prod(extents)).view(st).store(value))


def rows_of(ast):
    return [node.arg for node in ast.toposort() if isinstance(node.arg, Row)]


def test_a_sum_along_its_lanes_becomes_a_row():
    after = reduction_rows.run(sink(costly(product(4, 16, 24))), WIDE)
    kernel_ast.verify(after)
    assert rows_of(after) == [Row(1)]


def test_the_ast_before_and_after_is_that_of_the_golden(golden):
    before = sink(costly(product(4, 16, 24)))
    both = to_text(before) + "\n" + to_text(reduction_rows.run(before, WIDE))
    assert both == golden.file("lowered/epilogue.uop")


@pytest.mark.parametrize(
    "value,why",
    [
        (product(4, 16, 24) + 1.0, "nothing costly is done"),
        (costly(product(4, 16, 24, transposed=False)), "its lanes are those of the output"),
        (costly(product(4, 16, 4)), "there are too few for a vector"),
        (costly(product(2, 16, 5000)), "the row is too long"),
        (costly(product(4, 16, 24)).view(shape(4, 24).permute((1, 0))), "read across rows"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_others_stay_as_they_are(value, why):
    ast = sink(value)
    assert reduction_rows.run(ast, WIDE) is ast, why


@pytest.mark.parametrize("scratch, rows", [(1 << 17, 0), (0, 1)])
def test_weights_that_many_rows_share_are_packed_instead(scratch, rows):
    where = target(limits=KernelLimits(scratch_bytes=scratch))
    after = reduction_rows.run(sink(costly(product(32, 16, 24))), where)
    assert len(rows_of(after)) == rows
    assert rows_of(reduction_rows.run(sink(costly(product(31, 16, 24))), where)) == [Row(1)]


def test_a_sum_that_another_needs_as_well_stays_where_it_is():
    x = pointer(1, 64).view(shape(4, 16)).load()
    mean = x.reduce(Ops.ADD, (1,)) * (1 / 16)
    less = x - mean.view(shape(4, 1).expand((4, 16)))
    ast = sink(costly((less * less).reduce(Ops.ADD, (1,)) + mean))
    assert reduction_rows.run(ast, WIDE) is ast


def test_targets_without_vectors_or_with_a_grid_have_no_use_for_it():
    ast = sink(costly(product(4, 16, 24)))
    grid = KernelLimits(global_size=(64, 64, 64), local_size=(8, 8, 8))
    none = KernelLimits(row_bytes=0)
    for other in (target(vectors=False), target(limits=grid), target(limits=none)):
        assert reduction_rows.run(ast, other) is ast


@pytest.mark.parametrize("gated", [False, True], ids=["one product", "two products"])
def test_results_are_the_same_without_it(gated):
    value = costly(product(6, 16, 24))
    if gated:
        value = value * product(6, 16, 24, slot=3)
    rng = np.random.default_rng(0)
    x, w, v = (rng.standard_normal(s).astype(np.float32) / 4 for s in ((6, 16), (24, 16), (24, 16)))
    found = []
    for choose in (None, nothing):
        program = lower(sink(value), WIDE, choose)
        arrays = {0: np.zeros((6, 24), np.float32), 1: x, 2: w, 3: v}
        run_program(program, arrays)
        found.append(arrays[0])
    y = x @ w.T
    wanted = np.exp2(y) * y + y
    np.testing.assert_allclose(found[0], wanted * (x @ v.T) if gated else wanted, rtol=1e-5)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
