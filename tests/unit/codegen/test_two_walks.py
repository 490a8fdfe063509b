"""Sums over rows of memory: which are computed two rows at once, half a matrix apart, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt import streams, two_walks
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, Target
from weft.device.program import LinearProgram
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops
from weft.uop.args import PASSING

CAPS = ComputeCaps(
    vector_widths={dtypes.float: (4,), dtypes.int: (4,)}, vector_bytes=16, vector_registers=32,
    cache_bytes=1 << 10, walks=2, features=frozenset({Feature.THREADS}),
)  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_walks, "_ROW", 64)
    monkeypatch.setattr(streams, "_LARGE", 1 << 10)


def program_of(found: Tensor, caps: ComputeCaps = CAPS) -> LinearProgram:
    with settings.override(SPEC=1):
        ast = found.schedule()[-1].ast
        return lower(ast, Target(caps, GroupOp.ALU, None, "c", "walks"))


def given(*shape: int, dtype: str = "float") -> Tensor:
    return Tensor.empty(*shape, dtype=dtype)


def in_two(program: LinearProgram) -> bool:
    marked = any(node.op is Ops.LOAD and node.arg == PASSING for node in program.uops)
    assert marked == any(opt.kind is OptKind.UPCAST for opt in program.applied)
    return marked


@pytest.mark.parametrize("dtype", ["float", "int"])
def test_sums_of_rows(dtype: str) -> None:
    program = program_of(given(128, 256, dtype=dtype).sum(1))
    assert in_two(program)
    assert program.applied[:4] == (
        Opt(OptKind.VECTOR, 1, 4), Opt(OptKind.SPLIT, 0, 64), Opt(OptKind.UPCAST, 0, 0),
        Opt(OptKind.UNROLL, 1, 2),
    )  # fmt: skip


@pytest.mark.parametrize(
    "found",
    [
        lambda: given(128, 256) @ given(256),
        lambda: given(128, 256).square().sum(1),
        lambda: given(128, 256).mean(1) * 3 + given(128),
        lambda: given(4, 64, 256).sum(2),
    ],
)
def test_and_what_is_as_simple(found: Callable[[], Tensor]) -> None:
    assert in_two(program_of(found()))


@pytest.mark.parametrize(
    "found, caps",
    [
        (lambda: given(128, 256).sum(1), replace(CAPS, walks=1)),
        (lambda: given(128, 256).sum(1), replace(CAPS, cache_bytes=0)),
        (lambda: given(128, 256).sum(1), replace(CAPS, cache_bytes=1 << 20)),
        (lambda: given(128, 256).max(1), CAPS),  # too much is done beside its loads
        (lambda: given(128, 256).exp().sum(1), CAPS),
        (lambda: given(129, 256).sum(1), CAPS),  # no two halves
        (lambda: given(64, 256).sum(1), CAPS),  # too few to share out
        (lambda: given(128, 12).sum(1), CAPS),  # short rows
        (lambda: given(128, 258)[:, :256].sum(1), CAPS),  # gaps between them
        (lambda: given(128, 260).sum(1), CAPS),  # not whole vectors
        (lambda: given(256, 128).sum(0), CAPS),  # across memory
        (lambda: (given(128, 256) * given(128, 256)).sum(1), CAPS),  # four walks
        (lambda: given(128, 256).layernorm(), CAPS),  # what is read again
        (lambda: given(128, 256) + 1, CAPS),
    ],
)
def test_what_is_walked_as_ever(found: Callable[[], Tensor], caps: ComputeCaps) -> None:
    program = program_of(found(), caps)
    assert not any(node.op is Ops.LOAD and node.arg == PASSING for node in program.uops)
    assert Opt(OptKind.SPLIT, 0, 64) not in program.applied


def test_values() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.integers(-9, 9, (130, 64)).astype(np.float32)
    vector = rng.integers(-9, 9, 64).astype(np.float32)
    matrix[1, 5], matrix[66, 63], matrix[129, 0] = np.nan, np.inf, -np.inf
    matrix[64:66] = -0.0
    out = np.full(130, 77, np.float32)
    program = program_of(given(130, 64).sum(1))
    assert in_two(program)
    run_program(program, (out, matrix))
    np.testing.assert_array_equal(out, matrix.sum(1))
    program = program_of(given(130, 64) @ given(64))
    assert in_two(program)
    run_program(program, (out, matrix, vector))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(out, (matrix * vector).sum(1))
