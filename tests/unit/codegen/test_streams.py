"""Sums over matrices that are read once: which they are, and in what runs they are read."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.opt.streams import run_of
from weft.codegen.pipeline import lower
from weft.shape.tracker import ShapeTracker
from weft.testing.fakes import fake_target
from weft.uop import Ops, UOp
from weft.uop.args import Reduce

TARGET = fake_target(
    vector_widths={dtypes.float: (4, 8, 16)}, vector_bytes=64, vector_registers=32
)  # fmt: skip


def by_vector(rows, terms, transposed=False, columns=1):
    """(rows, terms) by (terms, columns)."""
    shape = (rows, columns, terms)

    def load(slot, size, strides):
        pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)
        return UOp(Ops.LOAD, dtypes.float, (pointer.view(ShapeTracker.from_shape(shape, strides)),))

    matrix = load(1, rows * terms, (1, 0, rows) if transposed else (terms, 0, 1))
    vector = load(2, terms * columns, (0, 1 if columns > 1 else 0, columns))
    total = UOp(Ops.REDUCE_AXIS, dtypes.float, (matrix * vector,), Reduce(Ops.ADD, (2,)))
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(rows * columns), (), 0)
    return UOp.sink(out.view(ShapeTracker.from_shape((rows, columns, 1))).store(total))


def applied(ast):
    return [(opt.kind, opt.amount) for opt in lower(ast, TARGET).applied]


def test_rows_are_walked_one_after_the_other():
    opts = applied(by_vector(4096, 1024))
    assert (OptKind.VECTOR, 16) in opts
    assert OptKind.UPCAST not in dict(opts), "rows side by side are as many walks"
    assert dict(opts)[OptKind.UNROLL] >= 4


def test_columns_are_read_in_long_runs():
    opts = applied(by_vector(4096, 1024, transposed=True))
    assert opts[:2] == [(OptKind.VECTOR, 16), (OptKind.UPCAST, 16)]


def test_what_is_read_again_has_tiles():
    opts = applied(by_vector(4096, 1024, columns=64))
    assert [kind for kind, _ in opts].count(OptKind.UPCAST) == 2


def test_a_small_matrix_has_rows_side_by_side():
    assert (OptKind.UPCAST, 8) in applied(by_vector(128, 256))


@pytest.mark.parametrize(
    "vectors, registers, run",
    [(192, 32, 16), (48, 32, 12), (144, 32, 16), (17, 32, 0), (192, 16, 12), (32, 32, 16)],
)
def test_runs_are_long_and_can_be_shared_out(vectors, registers, run):
    assert run_of(vectors, registers) == run
