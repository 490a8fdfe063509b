"""A large matrix of a product with few rows is read row by row."""

from __future__ import annotations

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
from weft_simd import thresholds


def target(scratch=1 << 20):
    compute = ComputeCaps(
        vector_widths={dtypes.float: (4,)}, vector_bytes=16, vector_registers=16,
        limits=KernelLimits(scratch_bytes=scratch), features=frozenset({Feature.THREADS}),
    )  # fmt: skip
    return simd_target(compute)


def product(m, k, n, turned=False):
    def pointer(slot, size):
        return UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)

    rows = pointer(1, m * k).view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load()
    there = ShapeTracker.from_shape((n, k) if turned else (k, n))
    there = there if turned else there.permute((1, 0))
    columns = pointer(2, k * n).view(there.reshape((1, n, k)).expand((m, n, k))).load()
    total = (rows * columns).reduce(Ops.ADD, (2,))
    return UOp.sink(pointer(0, m * n).view(ShapeTracker.from_shape((m, n, 1))).store(total))


def kinds(ast, where):
    with settings.override(SPEC=1):
        return [opt.kind for opt in lower(ast, where).applied]


def test_sums_are_kept_while_rows_of_the_matrix_are_read():
    applied = kinds(product(16, 2048, 2048), target())
    assert applied.count(OptKind.SPLIT) >= 2
    assert applied.index(OptKind.KEEP) < applied.index(OptKind.THREAD)


@pytest.mark.parametrize(
    ("ast", "where"),
    [
        (product(4, 2048, 2048), target()),
        (product(16, 512, 256), target()),
        (product(16, 65536, 64), target()),
        (product(16, 2048, 2048, turned=True), target()),
        (product(16, 2048, 2048), target(scratch=0)),
    ],
    ids=["fewer rows", "in a cache", "short rows of memory", "rows along the sum", "no room"],
)
def test_no_partial_accumulators(ast, where):
    assert OptKind.KEEP not in kinds(ast, where)


@pytest.mark.parametrize("shape", [(13, 67, 250)])
def test_results_are_equal(shape, monkeypatch):
    monkeypatch.setattr(thresholds, "SKINNY", 0)
    monkeypatch.setattr(thresholds, "SKINNY_STRIDE", 0)
    m, k, n = shape
    program = lower(product(m, k, n), target())
    assert OptKind.KEEP in [opt.kind for opt in program.applied]
    draw = np.random.default_rng(k)
    a, b = (draw.integers(-9, 9, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    out = np.full((m, n), 77, np.float32)
    run_program(program, (out, a, b))
    np.testing.assert_array_equal(out, a @ b)
