"""Transposes in registers: each row is one load, each column one vector or one store."""

from __future__ import annotations

import numpy as np
import pytest

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.codegen.vectorization.register_transpose import columns_of, runs_of
from weft.device.capabilities import ComputeCaps, Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp
from weft.uop.args import Reduce

VECTOR = Target(
    ComputeCaps(
        vector_widths=dict.fromkeys((dtypes.float, dtypes.int8), (8, 4)),
        vector_bytes=32,
        vector_registers=32,
    ),
    GroupOp.ALU, None, "py", "vector",
)  # fmt: skip
PLAIN = Target(ComputeCaps(), GroupOp.ALU, None, "py", "plain")


def rows_of(count, lanes, dtype=dtypes.float):
    return [UOp(Ops.CUSTOMI, dtype.vec(lanes), (), f"row {number}") for number in range(count)]


def held(node, rows):
    """Of which (row, lane) the lanes are: CAT and GEP only move what the rows hold."""
    if node.op is Ops.CUSTOMI:
        return [(rows.index(node), lane) for lane in range(node.dtype.count)]
    below = [one for source in node.src for one in held(source, rows)]
    return below if node.op is Ops.CAT else [below[lane] for lane in node.arg]


@pytest.mark.parametrize("count,columns", [
    (2, 2), (4, 4), (8, 8), (16, 16), (16, 8), (16, 4), (8, 4), (16, 2), (32, 4),
])  # fmt: skip
def test_columns(count, columns):
    rows = rows_of(count, columns)
    found = columns_of(rows)
    assert len(found) == columns
    for number, column in enumerate(found):
        assert column.dtype is dtypes.float.vec(count)
        assert held(column, rows) == [(row, number) for row in range(count)]


@pytest.mark.parametrize("count,lanes,dtype", [
    (2, 2, dtypes.float), (2, 16, dtypes.float), (4, 8, dtypes.float), (8, 16, dtypes.float),
    (16, 16, dtypes.float), (8, 8, dtypes.double), (4, 16, dtypes.half), (16, 16, dtypes.int8),
])  # fmt: skip
def test_runs(count, lanes, dtype):
    rows = rows_of(count, lanes, dtype)
    found = runs_of(rows)
    assert len(found) == lanes and len({value for value, _ in found}) == count
    for lane, (value, at) in enumerate(found):
        assert value.dtype is rows[0].dtype
        assert held(value, rows)[at : at + count] == [(row, lane) for row in range(count)]


def transposed(*shape, order, dtype=dtypes.float):
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
    program = program_of(transposed(rows, columns, order=(1, 0)), *SQUARE)
    assert loads(program) == [8] * 8
    np.testing.assert_array_equal(run(program, given), 2 * given.T.reshape(-1))


def test_axes_outside_and_inside_of_the_square():
    given = np.arange(3 * 16 * 8, dtype=np.float32).reshape(3, 16, 8)
    program = program_of(
        transposed(3, 16, 8, order=(0, 2, 1)),
        Opt(OptKind.VECTOR, 2, 8), Opt(OptKind.UPCAST, 1, 8), Opt(OptKind.UPCAST, 0, 3),
    )  # fmt: skip
    assert loads(program) == [8] * 24
    np.testing.assert_array_equal(run(program, given), 2 * given.transpose(0, 2, 1).reshape(-1))


@pytest.mark.parametrize("up,widths", [
    (4, [4] * 8),
    (5, [4] * 16),  # of five, the first four and the last four
    (6, [4] * 16),
    (12, [8] * 16),  # as many as lanes, and the last as many
    (24, [8] * 24),
    (3, [1] * 24),  # too few for a row to be worth a load
])  # fmt: skip
@pytest.mark.parametrize("rows", [16, 19])
def test_parts_with_fewer_columns_than_lanes_are_read_by_rows(up, widths, rows):
    columns = 2 * up if up < 24 else 24
    given = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    program = program_of(
        transposed(rows, columns, order=(1, 0)), SQUARE[0], Opt(OptKind.UPCAST, 0, up)
    )
    assert loads(program) == widths
    np.testing.assert_array_equal(run(program, given), 2 * given.T.reshape(-1))


@pytest.mark.parametrize("terms", [5, 8, 10])
def test_short_sums_of_which_each_lane_has_a_row_are_read_by_rows(terms):
    given = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(16 * terms), (), 1)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(16), (), 0)
    load = given.view(ShapeTracker.from_shape((16, terms))).load()
    total = UOp(Ops.REDUCE_AXIS, dtypes.float, (load,), Reduce(Ops.ADD, (1,)))
    ast = UOp.sink(out.view(ShapeTracker.from_shape((16, 1))).store(total))
    program = program_of(ast, Opt(OptKind.VECTOR, 0, 8), Opt(OptKind.UNROLL, 1, 0))
    assert set(loads(program)) == {4 if terms == 5 else 8}
    values = np.random.default_rng(terms).integers(-9, 9, 16 * terms).astype(np.float32)
    result = np.zeros(16, np.float32)
    run_program(program, (result, values))
    np.testing.assert_array_equal(result, values.reshape(16, terms).sum(1))


@pytest.mark.parametrize("opts,target,dtype", [
    ((SQUARE[0], Opt(OptKind.UPCAST, 0, 2)), VECTOR, dtypes.float),
    (SQUARE, PLAIN, dtypes.float),
    (SQUARE, VECTOR, dtypes.bool),
])  # fmt: skip
def test_loads_without_contiguous_rows_are_scalar(opts, target, dtype):
    ast = transposed(16, 24, order=(1, 0), dtype=dtype)
    assert set(loads(program_of(ast, *opts, target=target))) == {1}


def stored_across(*shape, order, dtype=dtypes.float):
    """data0 = 3 * data1 with its axes in another order, looped over as data1 lies"""
    size = int(np.prod(shape))
    given, out = (UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot) for slot in (1, 0))
    st = ShapeTracker.from_shape(tuple(shape[axis] for axis in order))
    back = st.permute(tuple(order.index(axis) for axis in range(len(shape))))
    load = given.view(ShapeTracker.from_shape(shape)).load()
    return UOp.sink(out.view(back).store(load + load + load))


def stores(program):
    return [u.src[1].dtype.count for u in program.uops if u.op is Ops.STORE]


@pytest.mark.parametrize("rows,opts,widths", [
    (8, (8, 8), [8] * 8),
    (16, (4, 8), [4] * 8),
    (14, (7, 8), [4] * 16),  # of seven, four and the last four
    (6, (6, 4), [4] * 8),
    (21, (3, 8), [2] * 16),
    (15, (5, 2), [2] * 6),  # no more at once than there are lanes
    (16, (1, 8), [1] * 8),
])  # fmt: skip
@pytest.mark.parametrize("dtype,kind", [(dtypes.float, np.float32), (dtypes.int8, np.int8)])
def test_neighbours_of_lanes_that_lie_apart_are_one_store(rows, opts, widths, dtype, kind):
    up, wide = opts
    given = np.arange(rows * 24).reshape(rows, 24).astype(kind)
    made = [Opt(OptKind.VECTOR, 1, wide)] + [Opt(OptKind.UPCAST, 0, up)] * (up > 1)
    program = program_of(stored_across(rows, 24, order=(1, 0), dtype=dtype), *made)
    assert stores(program) == widths
    np.testing.assert_array_equal(run(program, given), (3 * given).T.reshape(-1))


def test_axes_outside_and_inside_of_a_transposed_store():
    given = np.arange(3 * 12 * 8, dtype=np.float32).reshape(3, 12, 8)
    program = program_of(
        stored_across(3, 12, 8, order=(0, 2, 1)),
        Opt(OptKind.VECTOR, 2, 8), Opt(OptKind.UPCAST, 1, 4), Opt(OptKind.UPCAST, 0, 3),
    )  # fmt: skip
    assert stores(program) == [4] * 24
    np.testing.assert_array_equal(run(program, given), 3 * given.transpose(0, 2, 1).reshape(-1))


def test_stores_without_neighbours_are_scalar():
    """Rows that are not next to each other, truth values, arithmetic of one number at a time."""
    three = stored_across(16, 8, 2, order=(1, 0, 2))
    apart = Opt(OptKind.VECTOR, 1, 8), Opt(OptKind.UPCAST, 0, 8)
    assert set(stores(program_of(three, *apart))) == {1}
    across = stored_across(16, 8, order=(1, 0))
    assert set(stores(program_of(across, *apart, target=PLAIN))) == {1}


def test_vectors_of_another_number_of_lanes_are_stored_one_by_one():
    """Rows of five and of six are no halves that could change places."""
    given = np.arange(8 * 30, dtype=np.float32).reshape(8, 30)
    for lanes in (5, 6):
        opts = Opt(OptKind.SPLIT, 1, lanes), Opt(OptKind.VECTOR, 2, 0), Opt(OptKind.UPCAST, 0, 4)
        program = program_of(stored_across(8, 30, order=(1, 0)), *opts)
        assert set(stores(program)) == {1}
        np.testing.assert_array_equal(run(program, given), (3 * given).T.reshape(-1))
