"""Square tiles that are transposed in registers: where the strategy makes them."""

from __future__ import annotations

import numpy as np
from tests.unit.codegen.vectorization import test_register_transpose as kernels
from tests.unit.codegen.vectorization.test_register_transpose import loads, run, transposed

from helpers.simd import with_simd
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.shape.tracker import ShapeTracker
from weft.uop import Ops, UOp

VECTOR = with_simd(kernels.VECTOR)


def program_of(ast):
    return lower(ast, VECTOR)


def test_the_heuristic_makes_squares():
    program = program_of(transposed(64, 64, order=(1, 0)))
    assert loads(program) == [8] * 16  # two squares, for two cache lines in a row
    given = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    np.testing.assert_array_equal(run(program, given), 2 * given.T.reshape(-1))


def test_squares_of_narrow_numbers_fit_in_registers():
    program = program_of(transposed(64, 64, order=(1, 0), dtype=dtypes.int8))
    assert loads(program) == [16] * 16  # of 32 lanes and registers: a square of 16 fits


def test_loops_around_a_long_reduction_suit_the_reduction():
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
