"""Neighbours in memory are one access, where a target's arithmetic is scalar."""

from __future__ import annotations

import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.codegen.vectorization.memory_accesses import Place, neighbours
from weft.device.capabilities import ComputeCaps, KernelLimits, Target
from weft.shape.tracker import ShapeTracker
from weft.uop import GroupOp, Ops, UOp

GRID = Target(
    ComputeCaps(
        limits=KernelLimits(global_size=(65535, 65535, 64), local_size=(64, 64, 64)),
        vector_widths={dtypes.float: (4, 2)},
    ),
    GroupOp.ALU, None, "c", "grid",
)  # fmt: skip
POINTER = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 0)
BASE = UOp.range(8, 0)


def places(*offsets, pointer=POINTER, base=BASE, gate=None):
    return [
        Place(pointer.index(base + UOp.const(dtypes.int, at)), gate, None, base, at)
        for at in offsets
    ]


@pytest.mark.parametrize(
    "offsets, groups",
    [
        ((0, 1, 2, 3), [[[0], [1], [2], [3]]]),
        ((3, 2, 1, 0), [[[3], [2], [1], [0]]]),  # whatever their order
        ((0, 1, 2, 3, 4, 5), [[[0], [1], [2], [3]], [[4], [5]]]),
        ((1, 2, 3, 4), [[[0]], [[1], [2]], [[3]]]),  # wide ones begin at multiples of their width
        ((0, 2, 4), [[[0]], [[1]], [[2]]]),
        ((0, 0, 1, 1), [[[0, 1], [2, 3]]]),  # several want the same
    ],
)
def test_runs_are_cut_to_widths(offsets, groups):
    assert neighbours(places(*offsets), (2, 4)) == groups


def test_only_accesses_with_equal_base_and_gate_are_merged():
    gate = BASE < 3
    other = UOp.range(8, 1)
    mixed = places(0) + places(1, base=other) + places(2, gate=gate) + places(3, gate=gate)
    assert neighbours(mixed, (2, 4)) == [[[0]], [[1]], [[2], [3]]]


def test_registers_have_no_neighbours():
    register = UOp(Ops.DEFINE_REG, dtypes.float.ptr(8, AddrSpace.REG), (), 0)
    assert neighbours(places(0, 1, pointer=register), (2, 4)) == [[[0]], [[1]]]


def test_instances_that_lie_side_by_side_are_one_load_and_one_store():
    flat = ShapeTracker.from_shape((64,))
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 0).view(flat)
    value = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 1).view(flat).load()
    ast = UOp.sink(out.store(value * 2.0))
    with settings.override(SPEC=1):
        program = lower(ast, GRID, lambda kernel: [Opt(OptKind.UPCAST, 0, 4)])
    (load,) = (u for u in program.uops if u.op is Ops.LOAD)
    (store,) = (u for u in program.uops if u.op is Ops.STORE)
    assert load.dtype == store.src[1].dtype == dtypes.float.vec(4)
    products = [u for u in program.uops if u.op is Ops.MUL and u.dtype is dtypes.float]
    assert len(products) == 4, "arithmetic stays scalar"
