"""Sums over matrices that are read once: which they are, and in what runs they are read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import Ops, UOp
from weft.uop.args import Reduce
from weft_simd import thresholds
from weft_simd.choice.streaming_reductions import run_length

TARGET = simd_target(
    ComputeCaps(vector_widths={dtypes.float: (4, 8, 16)}, vector_bytes=64, vector_registers=32)
)


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


def applied(ast, where=TARGET):
    return [(opt.kind, opt.amount) for opt in lower(ast, where).applied]


def test_rows_are_one_access_stream():
    opts = applied(by_vector(4096, 1024))
    assert (OptKind.VECTOR, 16) in opts
    assert OptKind.UPCAST not in dict(opts), "rows side by side are as many access streams"
    assert dict(opts)[OptKind.UNROLL] >= 4


@pytest.mark.parametrize(
    ("read_streams", "rows", "beside"), [(8, 4096, 8), (8, 4095, 7), (8, 4099, None), (2, 4096, 2)]
)
def test_rows_are_interleaved_if_several_streams_are_prefetched(read_streams, rows, beside):
    where = simd_target(replace(TARGET.compute, read_streams=read_streams))
    opts = dict(applied(by_vector(rows, 1024), where))
    assert opts[OptKind.VECTOR] == 16
    assert opts.get(OptKind.UPCAST) == beside, "of a prime number of rows none come out even"


def test_columns_are_read_in_long_runs():
    opts = applied(by_vector(2048, 512, transposed=True))
    assert opts[:2] == [(OptKind.VECTOR, 16), (OptKind.UPCAST, 16)]


def test_reused_operands_have_tiles():
    opts = applied(by_vector(4096, 1024, columns=64))
    assert [kind for kind, _ in opts].count(OptKind.UPCAST) == 2


def test_a_small_matrix_has_a_tile_of_rows():
    assert (OptKind.UPCAST, 8) in applied(by_vector(128, 256))


@pytest.mark.parametrize(
    "vectors, registers, run",
    [(192, 32, 16), (48, 32, 12), (144, 32, 16), (17, 32, 0), (192, 16, 12), (32, 32, 16)],
)
def test_runs_are_long_and_can_be_shared_out(vectors, registers, run):
    compute = ComputeCaps(vector_bytes=2 * registers, vector_registers=registers)
    assert run_length(vectors, compute.machine) == run


def keeping(scratch=1 << 20, cache=1 << 14, read_streams=1):
    compute = ComputeCaps(
        vector_widths={dtypes.float: (4,)}, vector_bytes=16, vector_registers=32, cache_bytes=cache,
        read_streams=read_streams,
        limits=KernelLimits(scratch_bytes=scratch), features=frozenset({Feature.THREADS}),
    )  # fmt: skip
    return simd_target(compute)


def down(shape, reduced=Ops.ADD, by=None):
    """The sum over axis 1 of (parts, rows, columns); by: of products with one number a row."""
    parts, rows, columns = shape
    size = parts * rows * columns

    def load(slot, size, tracker):
        pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)
        return pointer.view(tracker).load()

    order = (0, 2, 1)
    term = load(1, size, ShapeTracker.from_shape(shape).permute(order))
    if by:
        view = ShapeTracker.from_shape((1, rows, 1)).expand(shape).permute(order)
        term = term * load(2, rows, view)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(parts * columns), (), 0)
    kept = ShapeTracker.from_shape((parts, columns, 1))
    return UOp.sink(out.view(kept).store(term.reduce(reduced, (2,))))


def kinds(ast, where):
    with settings.override(SPEC=1):
        return [opt.kind for opt in lower(ast, where).applied]


@pytest.mark.parametrize("shape", [(1, 64, 4096), (3, 64, 4096), (1, 67, 4096), (64, 32, 1024)])
def test_sums_of_long_rows_are_kept_while_more_rows_are_added(shape):
    applied = kinds(down(shape), keeping())
    assert OptKind.KEEP in applied and applied[-1] is OptKind.THREAD
    assert (OptKind.UPCAST in applied) == (shape[1] == 67), "less of them than there are at a time"
    assert OptKind.KEEP in kinds(down(shape, by=True), keeping())


@pytest.mark.parametrize(
    ("shape", "where"),
    [
        ((1, 64, 4096), keeping(cache=1 << 21)),
        ((1, 64, 4096), keeping(cache=0)),
        ((1, 64, 4096), keeping(scratch=0)),
        ((1, 1024, 128), keeping()),
    ],
    ids=["in a cache", "of which nothing is known", "no room", "short rows of memory"],
)
def test_no_partial_accumulators_of_rows(shape, where):
    assert OptKind.KEEP not in kinds(down(shape), where)


def test_sums_are_in_a_local_array_if_several_streams_are_prefetched():
    several = keeping(cache=1 << 26, read_streams=8)
    assert OptKind.KEEP in kinds(down((1, 768, 768)), several)
    assert OptKind.KEEP not in kinds(down((1, 768, 768)), keeping(cache=1 << 26))
    assert OptKind.KEEP not in kinds(down((1, 64, 768)), several), "the second-level cache does"


@pytest.mark.parametrize(
    ("columns", "nbytes"),
    [(1024, 2048), (2048, 2048), (3072, 3072), (4096, 4096), (6144, 4096), (16384, 8192)],
)
def test_a_run_of_kept_sums_is_a_page_where_enough_are_left_to_share_out(columns, nbytes):
    chosen = lower(down((1, 64, columns)), keeping()).applied
    (part,) = (opt.amount for opt in chosen if opt.kind is OptKind.SPLIT)
    (lanes,) = (opt.amount for opt in chosen if opt.kind is OptKind.VECTOR)
    assert part * lanes * dtypes.float.itemsize == nbytes


@pytest.mark.parametrize("reduced", [Ops.ADD, Ops.MAX])
@pytest.mark.parametrize("shape", [(1, 32, 128), (2, 37, 160), (3, 21, 160)])
def test_values_of_kept_sums(shape, reduced, monkeypatch):
    for name, value in (("SUMMED_RUN", 0), ("NARROWEST_RUN", 1 / 32)):
        monkeypatch.setattr(thresholds, name, value)
    monkeypatch.setattr(thresholds, "STRIP", 1 / 128)
    by = reduced is Ops.ADD
    program = lower(down(shape, reduced, by), keeping(cache=1))
    assert OptKind.KEEP in [opt.kind for opt in program.applied]
    draw = np.random.default_rng(shape[1])
    array = draw.integers(-9, 9, shape).astype(np.float32)
    array[0, -1, 3] = np.nan
    each = draw.integers(-9, 9, shape[1]).astype(np.float32)
    out = np.full((shape[0], shape[2]), 77, np.float32)
    run_program(program, (out, array, each) if by else (out, array))
    wanted = (array * each[:, None]).sum(1) if by else array.max(1)
    np.testing.assert_array_equal(out, wanted)


def test_rows_that_fit_in_registers_are_one_access_stream():
    where = keeping()
    ast = down((3, 4096, 48))
    assert [(opt.kind, opt.amount) for opt in lower(ast, where).applied][:2] == [
        (OptKind.VECTOR, 4), (OptKind.UPCAST, 12),
    ]  # fmt: skip
    program = lower(down((2, 61, 20), Ops.MAX), keeping(cache=1))
    assert (OptKind.UPCAST, 5) in [(opt.kind, opt.amount) for opt in program.applied]
    array = np.random.default_rng(7).integers(-9, 9, (2, 61, 20)).astype(np.float32)
    out = np.full((2, 20), 77, np.float32)
    run_program(program, (out, array))
    np.testing.assert_array_equal(out, array.max(1))
