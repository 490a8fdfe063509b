"""Kernels of several passes prefetch the next row, in the pass with most operations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits
from weft.device.program import LinearProgram
from weft.render import CDialect, CStyleRenderer, VectorStyle
from weft.testing.reference.run import run_program
from weft.uop import Ops
from weft.uop.args import PREFETCH_L1, PREFETCH_L2
from weft_simd import thresholds

CAPS = ComputeCaps(
    vector_widths={dtypes.float: (16,), dtypes.int: (16,)}, vector_bytes=64, vector_registers=32,
    cache_bytes=1 << 20, limits=KernelLimits(scratch_bytes=1 << 20),
)  # fmt: skip


class Prefetching(CStyleRenderer):
    """With a statement for each kind of software prefetch."""

    words: ClassVar[dict[object, str]] = {PREFETCH_L1: "soon", PREFETCH_L2: "later"}

    def prefetch(self, mark: object, pointer: str) -> str:
        word = self.words.get(mark)
        return f"{word}({pointer});" if word else ""


def program_of(found: Tensor, compute: ComputeCaps = CAPS) -> LinearProgram:
    with settings.override(SPEC=1):
        return lower(found.schedule()[0].ast, simd_target(compute))


def prefetches(program: LinearProgram) -> int:
    return sum(node.op is Ops.LOAD and node.arg == PREFETCH_L2 for node in program.uops)


def given(rows: int, columns: int) -> Tensor:
    return Tensor.empty(rows, columns)


@pytest.mark.parametrize(
    "found, lines",
    [
        (lambda: given(256, 4096).softmax(-1), 1),
        (lambda: given(256, 4096).logsumexp(-1), 4),  # four vectors in an iteration
        (lambda: given(256, 4096).layernorm(-1), 1),
        (lambda: given(256, 4096).cumsum(1), 1),
        (lambda: (given(256, 4096) + given(256, 4096)).softmax(-1), 2),  # of both
        (lambda: given(256, 4099).softmax(-1), 1),
        (lambda: given(16, 16 * 4096).reshape(4, 4, 16 * 4096).softmax(-1), 1),
    ],
)
def test_the_next_row_is_prefetched(found: Callable[[], Tensor], lines: int) -> None:
    compute = dataclasses.replace(CAPS, cache_bytes=1 << 19)
    assert prefetches(program_of(found(), compute)) == lines


@pytest.mark.parametrize(
    "found, compute",
    [
        (lambda: given(256, 4096).softmax(-1), dataclasses.replace(CAPS, cache_bytes=0)),
        (lambda: given(64, 4096).softmax(-1), CAPS),  # in the cache
        (lambda: given(2048, 1024).softmax(-1), CAPS),  # rows of a page
        (lambda: given(4, 1 << 17).softmax(-1), CAPS),  # rows that are gone again
        (lambda: given(1, 1 << 16).softmax(-1), dataclasses.replace(CAPS, cache_bytes=1 << 17)),
        (lambda: given(256, 4096).exp().sum(1), CAPS),  # one pass
        (lambda: given(256, 4096).var(1), CAPS),  # nothing to do meanwhile
        (lambda: given(256, 4096).argmax(1), CAPS),
    ],
)
def test_kernels_without_prefetches(found: Callable[[], Tensor], compute: ComputeCaps) -> None:
    assert not prefetches(program_of(found(), compute))


def test_how_it_is_written() -> None:
    program = program_of(given(256, 4096).cumsum(1))
    text = Prefetching(CDialect(vectors=VectorStyle())).render(program)
    assert text.count("later(data1") == 1 and "soon(" not in text
    plain = CStyleRenderer(CDialect(vectors=VectorStyle())).render(program)
    assert plain == "".join(line for line in text.splitlines(True) if "later(" not in line)


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize(
    "op, shape",
    [("softmax", (5, 512)), ("softmax", (3, 1030)), ("softmax", (2, 2, 400)), ("cumsum", (3, 512))],
)
def test_prefetches_stay_in_their_buffers(
    monkeypatch, op: str, shape: tuple[int, ...], threads
) -> None:
    """The reference executes prefetches, and refuses what is outside of a buffer."""
    monkeypatch.setattr(thresholds, "LEAST_ROW", 0)
    features = frozenset({Feature.THREADS} if threads else ())
    compute = dataclasses.replace(CAPS, cache_bytes=16, features=features)
    if threads:
        monkeypatch.setattr("weft_simd.thresholds.THREADED", 0)
    x = Tensor.empty(*shape)
    program = program_of(x.softmax(-1) if op == "softmax" else x.cumsum(-1), compute)
    assert prefetches(program)
    values = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    out = np.zeros(values.size, np.float32)
    run_program(program, (out, values.ravel().copy()))
    exp = np.exp(values - values.max(-1, keepdims=True))
    wanted = exp / exp.sum(-1, keepdims=True) if op == "softmax" else values.cumsum(-1)
    np.testing.assert_allclose(out.reshape(shape), wanted, rtol=1e-5, atol=1e-4)
