"""Squares that are turned in registers: each row is one load, each column one vector."""

from __future__ import annotations

import numpy as np
import pytest

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.codegen.transpose import columns_of
from weft.device.capabilities import ComputeCaps, Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp

VECTOR = Target(
    ComputeCaps(
        vector_widths=dict.fromkeys((dtypes.float, dtypes.int8), (8, 4)),
        vector_bytes=32,
        vector_registers=32,
    ),
    GroupOp.ALU, None, "py", "vector",
)  # fmt: skip
PLAIN = Target(ComputeCaps(), GroupOp.ALU, None, "py", "plain")


@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_columns(count):
    """Followed lane by lane: CAT and GEP only move what the rows hold."""
    rows = [
        UOp(Ops.CUSTOMI, dtypes.float.vec(count), (), f"row {number}") for number in range(count)
    ]

    def lanes(node):
        if node.op is Ops.CUSTOMI:
            return [(rows.index(node), lane) for lane in range(count)]
        below = [one for source in node.src for one in lanes(source)]
        return below if node.op is Ops.CAT else [below[lane] for lane in node.arg]

    for number, column in enumerate(columns_of(rows)):
        assert column.dtype is rows[0].dtype
        assert lanes(column) == [(row, number) for row in range(count)]


def turned(*shape, order, dtype=dtypes.float):
    """data0 = data1 with its axes in another order"""
    given = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(int(np.prod(shape))), (), 1)
    load = given.view(ShapeTracker.from_shape(shape).permute(order)).load()
    out = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(int(np.prod(shape))), (), 0)
    st = ShapeTracker.from_shape(tuple(shape[axis] for axis in order))
    return UOp.sink(out.view(st).store(load + load))


def program_of(ast, *opts, target=VECTOR):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, target, choose if opts else None)


def run(program, given):
    out = np.zeros_like(given)
    run_program(program, (out, given))
    return out.reshape(-1)


def loads(program):
    return [u.dtype.count for u in program.uops if u.op is Ops.LOAD]


SQUARE = Opt(OptKind.VECTOR, 1, 8), Opt(OptKind.UPCAST, 0, 8)


@pytest.mark.parametrize("rows,columns", [(8, 8), (16, 24), (19, 21)])
def test_a_matrix_is_read_by_rows(rows, columns):
    given = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    program = program_of(turned(rows, columns, order=(1, 0)), *SQUARE)
    assert loads(program) == [8] * 8
    np.testing.assert_array_equal(run(program, given), 2 * given.T.reshape(-1))


def test_axes_around_and_beside_the_square():
    given = np.arange(3 * 16 * 8, dtype=np.float32).reshape(3, 16, 8)
    program = program_of(
        turned(3, 16, 8, order=(0, 2, 1)),
        Opt(OptKind.VECTOR, 2, 8), Opt(OptKind.UPCAST, 1, 8), Opt(OptKind.UPCAST, 0, 3),
    )  # fmt: skip
    assert loads(program) == [8] * 24
    np.testing.assert_array_equal(run(program, given), 2 * given.transpose(0, 2, 1).reshape(-1))


@pytest.mark.parametrize("opts,target,dtype", [
    ((SQUARE[0], Opt(OptKind.UPCAST, 0, 4)), VECTOR, dtypes.float),
    (SQUARE, PLAIN, dtypes.float),
    (SQUARE, VECTOR, dtypes.bool),
])  # fmt: skip
def test_what_is_no_square_is_read_one_by_one(opts, target, dtype):
    ast = turned(16, 24, order=(1, 0), dtype=dtype)
    assert set(loads(program_of(ast, *opts, target=target))) == {1}


def test_the_heuristic_makes_squares():
    program = program_of(turned(64, 64, order=(1, 0)))
    assert loads(program) == [8] * 16  # two squares, for two cache lines in a row
    given = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    np.testing.assert_array_equal(run(program, given), 2 * given.T.reshape(-1))


def test_squares_of_narrow_numbers_have_room_in_registers():
    program = program_of(turned(64, 64, order=(1, 0), dtype=dtypes.int8))
    assert loads(program) == [16] * 16  # of 32 lanes and registers; a square of 16 leaves room


def test_beside_a_long_sum_the_loops_suit_the_sum():
    """What is added across the lanes is read as it comes: its squares would leave no tile."""

    def kinds(terms):
        shape = (64, 64, terms)
        a = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64 * terms), (), 1)
        b = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64 * terms), (), 2)
        beside = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64 * 64), (), 3)
        left = a.view(ShapeTracker.from_shape((64, 1, terms)).expand(shape)).load()
        right = b.view(
            ShapeTracker.from_shape(shape[1:], (1, 64)).reshape((1, 64, terms)).expand(shape)
        )
        total = (left * right.load()).reduce(Ops.ADD, (2,))
        across = beside.view(ShapeTracker.from_shape((64, 64, 1), (1, 64, 0))).load()
        out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64 * 64), (), 0)
        ast = UOp.sink(out.view(ShapeTracker.from_shape((64, 64, 1))).store(total + across))
        return [opt.amount for opt in lower(ast, VECTOR).applied if opt.kind is OptKind.UPCAST]

    assert 8 in kinds(4) and kinds(256) != kinds(4)
