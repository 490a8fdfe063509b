"""Streaming reductions prefetch their stream, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps
from weft.device.program import LinearProgram
from weft.render import CDialect, CStyleRenderer, VectorStyle
from weft.uop import Ops
from weft.uop.args import PREFETCH_STREAM

CACHE = 1 << 10
SUM = (Opt(OptKind.VECTOR, 1, 4), Opt(OptKind.UNROLL, 1, 4))


class Prefetching(CStyleRenderer):
    """With a statement for each kind of software prefetch."""

    words: ClassVar[dict[object, str]] = {PREFETCH_STREAM: "soon"}

    def prefetch(self, mark: object, pointer: str) -> str:
        word = self.words.get(mark)
        return f"{word}({pointer});" if word else ""


def program_of(found: Tensor, *opts: Opt, cache: int = CACHE) -> LinearProgram:
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    compute = ComputeCaps(
        vector_widths={dtypes.float: (4,), dtypes.int: (4,)}, vector_bytes=16, cache_bytes=cache
    )
    with settings.override(SPEC=1):
        ast = found.schedule()[0].ast
        return lower(ast, simd_target(compute), choose)


def marked(program: LinearProgram) -> int:
    return sum(u.op is Ops.LOAD and u.arg == PREFETCH_STREAM for u in program.uops)


def given(*shape: int) -> Tensor:
    return Tensor.empty(*shape)


def test_rows_larger_than_the_cache() -> None:
    assert marked(program_of(given(16, 64).sum(1), *SUM)) == 4
    assert marked(program_of(given(16, 64).square().max(1), *SUM)) == 4


@pytest.mark.parametrize(
    "found, opts, cache",
    [
        (lambda: given(4, 64).sum(1), SUM, CACHE),  # in the cache
        (lambda: given(16, 64).sum(1), SUM, 0),  # none is known
        (lambda: given(16, 64).sum(1), (Opt(OptKind.VECTOR, 1, 2),), CACHE),  # half registers
        (lambda: given(64, 16).sum(0), (Opt(OptKind.VECTOR, 0, 4),), CACHE),  # not in a row
        (lambda: given(16, 65)[:, 1:].pad(((0, 0), (1, 0))).sum(1), (), CACHE),  # gated
        (lambda: (given(16, 64) * given(16, 64)).sum(1), SUM, CACHE),  # two of them
        (lambda: given(16, 64).sum(1), (*SUM, Opt(OptKind.UPCAST, 0, 2)), CACHE),  # two rows
        (lambda: given(16, 64) + 1, (), CACHE),
    ],
)
def test_streams_without_prefetch(
    found: Callable[[], Tensor], opts: tuple[Opt, ...], cache: int
) -> None:
    assert not marked(program_of(found(), *opts, cache=cache))


def test_how_it_is_spelt() -> None:
    program = program_of(given(16, 64).sum(1), *SUM)
    plain = CStyleRenderer(CDialect(vectors=VectorStyle())).render(program)
    lines = Prefetching(CDialect(vectors=VectorStyle())).render(program).splitlines()
    found_loads = [line.strip() for line in lines if "soon(" in line]
    assert len(found_loads) == 4 and all(line.startswith("soon(data1") for line in found_loads)
    assert [line for line in lines if "soon(" not in line] == plain.splitlines()
