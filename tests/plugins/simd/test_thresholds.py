"""Thresholds are shares of the caches of a machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.opt.search_space import by_heuristic
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import ComputeCaps
from weft.plugin import MachineModel
from weft.shape.tracker import ShapeTracker
from weft.uop import Ops, UOp
from weft_simd import thresholds

EIGHT = ComputeCaps(vector_widths={dtypes.float: (8,)}, vector_bytes=32)


def test_shares_of_a_usual_machine_are_those_that_were_measured():
    usual = MachineModel()
    assert thresholds.l1_share(usual, thresholds.UNPACKED) == 1 << 12
    assert thresholds.l2_share(usual, thresholds.PANEL) == 1 << 18
    assert thresholds.l2_share(usual, thresholds.NEAR) == 7 << 17
    assert thresholds.l2_share(usual, thresholds.STREAMED_ROWS) == 9 << 14
    assert thresholds.page_share(usual, thresholds.SKINNY_STRIDE) == 2048


def test_shares_follow_the_machine():
    small = MachineModel(l1_bytes=1 << 14, l2_bytes=1 << 18, page_bytes=1 << 14)
    assert thresholds.l1_share(small, thresholds.UNPACKED) == 1 << 11
    assert thresholds.l2_share(small, thresholds.PANEL) == 1 << 16
    assert thresholds.page_share(small, thresholds.LEAST_BLOCK) == 1 << 14


def test_a_last_level_cache_that_is_not_known_is_several_of_the_second():
    assert thresholds.last_level_bytes(MachineModel()) == 1 << 22
    assert thresholds.last_level_bytes(ComputeCaps(cache_bytes=1 << 25).machine) == 1 << 25


@pytest.mark.parametrize(("l2_bytes", "exchanged"), [(1 << 23, False), (1 << 20, True)])
def test_an_operand_that_a_cache_holds_is_not_read_in_strips(l2_bytes, exchanged):
    rows, terms, columns = 512, 128, 768
    extents = (rows, columns, terms)

    def load(slot, size, strides):
        pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)
        return pointer.view(ShapeTracker.from_shape(extents, strides)).load()

    left, right = load(1, rows * terms, (terms, 0, 1)), load(2, terms * columns, (0, 1, columns))
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(rows * columns), (), 0)
    shape = ShapeTracker.from_shape((rows, columns, 1))
    ast = UOp.sink(out.view(shape).store((left * right).reduce(Ops.ADD, (2,))))
    limits = replace(EIGHT.limits, scratch_bytes=0)
    compute = replace(EIGHT, limits=limits, machine=MachineModel(l2_bytes=l2_bytes))
    kinds = [opt.kind for opt in by_heuristic(loops_for(ast, simd_target(compute), True)).opts]
    assert (OptKind.SWAP in kinds) == exchanged
