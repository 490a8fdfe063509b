"""Outputs that exceed the last-level cache have non-temporal stores."""

from __future__ import annotations

import pytest

from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps
from weft.render import CDialect, CStyleRenderer, VectorStyle
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.renderer import PythonRenderer
from weft.uop import GroupOp, Ops, UOp
from weft.uop.args import NON_TEMPORAL

CACHE = 1 << 10


def target(cache=CACHE):
    compute = ComputeCaps(
        vector_widths={dtypes.float: (4,), dtypes.int: (4,)}, vector_bytes=16, cache_bytes=cache
    )
    return simd_target(compute)


def program_of(ast, lanes=4, **given):
    def choose(kernel: Kernel) -> list[Opt]:
        if lanes:
            kernel.apply(Opt(OptKind.VECTOR, 0, lanes))
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, target(**given), choose)


def doubled(size, place=2, dtype=dtypes.float):
    """data0[i] = data{place}[i] + data{place}[i]"""
    st = ShapeTracker.from_shape((size,))
    given = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), place).view(st).load()
    out = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), 0).view(st)
    return UOp.sink(out.store(given + given))


def streamed(program):
    return [u for u in program.uops if u.op is Ops.STORE and u.arg == NON_TEMPORAL]


def test_large_outputs_are_streamed_and_no_others():
    elements = CACHE // 4
    assert len(streamed(program_of(doubled(elements + 16)))) == 1
    assert not streamed(program_of(doubled(elements)))
    assert not streamed(program_of(doubled(elements * 4), cache=0)), "the target cannot"


@pytest.mark.parametrize("lanes, count", [(0, 0), (2, 1), (4, 1)])
def test_vectors_of_any_width_are_that_follow_each_other(lanes, count):
    assert len(streamed(program_of(doubled(CACHE), lanes=lanes))) == count


@pytest.mark.parametrize("unrolled, count", [(1, 0), (2, 2)])
def test_rows_are_if_their_parts_fill_cache_lines(unrolled, count):
    """Parts of 32 bytes of a row, the next one in the next row: two of them fill a line."""
    rows, columns = 64, 64
    shape = columns // 8, rows, 8
    given = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(rows * columns), (), 1)
    given = given.view(ShapeTracker.from_shape(shape)).load()
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(rows * columns), (), 0)
    out = out.view(ShapeTracker.from_shape(shape, (8, columns, 1)))

    def choose(kernel: Kernel) -> list[Opt]:
        kernel.apply(Opt(OptKind.VECTOR, 2, 8))
        if unrolled > 1:
            kernel.apply(Opt(OptKind.UPCAST, 0, unrolled))
        return kernel.applied

    compute = ComputeCaps(vector_widths={dtypes.float: (8,)}, vector_bytes=32, cache_bytes=CACHE)
    program = lower(UOp.sink(out.store(given + given)), simd_target(compute), choose)
    assert len(streamed(program)) == count


def test_stores_to_memory_that_is_also_read_are_temporal():
    assert not streamed(program_of(doubled(CACHE, place=0)))


class Streaming(CStyleRenderer):
    store_fence = "fence();"

    def non_temporal_store(self, pointer, kind, nbytes, value, plain):
        return f"past({pointer}, {kind}, {nbytes}, {value}); // {plain}"


def test_the_statement():
    style = VectorStyle()
    dialect = CDialect(vectors=style, native_ops=GroupOp.ALU)
    program = program_of(doubled(CACHE))
    text = Streaming(dialect).render(program)
    line = next(line for line in text.splitlines() if "past(" in line).strip()
    assert line.startswith("past(data0 + alu0, f32x4, 16, alu1); // *(f32x4_m*)(data0 + alu0) =")
    assert text.rstrip().endswith("  }\n  fence();\n}")
    plain = CStyleRenderer(CDialect(vectors=style, native_ops=GroupOp.ALU)).render(program)
    assert "*(f32x4_m*)(data0 + alu0) = " in plain
    small = Streaming(dialect).render(program_of(doubled(16)))
    assert "past(" not in small and "fence" not in small
    assert PythonRenderer().render(program), "who knows nothing of caches stores as always"
