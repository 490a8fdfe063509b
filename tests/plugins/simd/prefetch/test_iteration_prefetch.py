"""Gathered rows, and rows added to sums, are prefetched one iteration before."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits
from weft.device.program import LinearProgram
from weft.testing.reference.run import run_program
from weft.uop import Ops
from weft.uop.args import PREFETCH_L2
from weft_simd import thresholds

CAPS = ComputeCaps(
    vector_widths={dtypes.float: (16,), dtypes.int: (16,)}, vector_bytes=64, vector_registers=32,
    cache_bytes=1 << 18, limits=KernelLimits(scratch_bytes=1 << 20), wide_indices=True,
)  # fmt: skip


def program_of(found: Tensor, **caps: object) -> LinearProgram:
    compute = dataclasses.replace(CAPS, **caps)
    (item,) = (one for one in found.schedule() if one.ast.op is Ops.SINK)
    with settings.override(SPEC=1):
        return lower(item.ast, simd_target(compute))


def prefetches(program: LinearProgram) -> int:
    return sum(node.op is Ops.LOAD and node.arg == PREFETCH_L2 for node in program.uops)


def picked(rows: int, columns: int, count: int) -> Tensor:
    return Tensor.empty(rows, columns)[Tensor.empty(count, dtype=dtypes.int)]


@pytest.mark.parametrize(
    "found, lines",
    [
        (lambda: picked(100, 1024, 70), 1),
        (lambda: picked(100, 1024, 70) * 2 + 1, 1),
        (lambda: Tensor.empty(3, 90, 1024)[:, Tensor.empty(7, dtype=dtypes.int)], 1),
        (lambda: Tensor.empty(512, 1024).sum(0), 16),
        (lambda: Tensor.empty(512, 2048).max(0), 16),
    ],
)
@pytest.mark.parametrize("features", [frozenset(), frozenset({Feature.THREADS})])
def test_the_row_of_the_next_iteration_is_prefetched(
    found: Callable[[], Tensor], lines, features
) -> None:
    assert prefetches(program_of(found(), features=features)) == lines


@pytest.mark.parametrize(
    "found, caps",
    [
        (lambda: picked(100, 1024, 70), {"cache_bytes": 0}),
        (lambda: picked(100, 1024, 70), {"cache_bytes": 1 << 20}),  # the cache holds the rows
        (lambda: picked(1000, 128, 70), {}),  # short ones
        (lambda: picked(4, 1 << 17, 70), {}),  # long ones
        (lambda: picked(100, 1024, 1), {}),
        (lambda: Tensor.empty(100, 1024) * 2, {}),
    ],
)
def test_kernels_without_prefetches(found: Callable[[], Tensor], caps) -> None:
    assert prefetches(program_of(found(), **caps)) == 0


def test_results_are_unchanged(monkeypatch) -> None:
    """The last iteration prefetches its own rows."""
    monkeypatch.setattr(thresholds, "LEAST_ITERATION", 2**-9)
    random = np.random.default_rng(2)
    table = random.standard_normal((30, 64), dtype=np.float32)
    places = random.integers(-30, 30, 7).astype(np.int32)
    program = program_of(picked(30, 64, 7), cache_bytes=1 << 10)
    assert prefetches(program)
    found = np.zeros(7 * 64, np.float32)
    run_program(program, [found, places, table])
    np.testing.assert_array_equal(found.reshape(7, 64), table[places])
    table = random.integers(-9, 9, (256, 1024)).astype(np.float32)
    program = program_of(Tensor.empty(256, 1024).sum(0))
    assert prefetches(program)
    found = np.zeros(1024, np.float32)
    run_program(program, [found, table])
    np.testing.assert_array_equal(found, table.sum(0))
