"""A launch grid as a loop of which each call does a part."""

from __future__ import annotations

import re

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.device.program import LinearProgram
from weft.render import CStyleRenderer
from weft.uop import Ops, UOp
from weft_cpu_clang import thread_loop
from weft_cpu_clang.renderer import ClangRenderer, clang_dialect

PARTS = ClangRenderer(clang_dialect(vectors=False))


def sums(end: UOp) -> LinearProgram:
    """data0[i] = the sum of data1[0..3], for every i of the grid; the accumulator comes first."""
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 0)
    given = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(3), (), 1)
    zero = UOp.const(dtypes.int, 0)
    register = UOp(Ops.DEFINE_REG, dtypes.float.ptr(1, space=out.dtype.space.REG), (), 0)
    held = register.index(zero)
    clear = UOp(Ops.STORE, dtypes.void, (held, UOp.const(dtypes.float, 0.0)))
    loop = UOp.range(3, 7)
    place = given.index(loop)
    load, so_far = place.load(), UOp(Ops.LOAD, dtypes.float, (held, clear, loop))
    more = so_far + load
    add = UOp(Ops.STORE, dtypes.void, (held, more))
    close = UOp(Ops.ENDRANGE, dtypes.void, (loop,))
    total = UOp(Ops.LOAD, dtypes.float, (held, add))
    index = UOp(Ops.SPECIAL, dtypes.int, (end,), "gidx0")
    target = out.index(index)
    ends = list(end.toposort())
    nodes = [
        out, given, register, *(u for u in ends if u is not zero), zero, held,
        clear.src[1], clear, *(u for u in loop.src if u not in ends), loop, place, load, so_far,
        more, add, close, total, index, target,
        UOp(Ops.STORE, dtypes.void, (target, total)),
    ]  # fmt: skip
    return LinearProgram.of("sums", list(dict.fromkeys(nodes)))


def test_all_nodes_are_in_the_thread_loop():
    text = PARTS.render(sums(UOp.const(dtypes.int, 64)))
    head = text.index("for (int gidx0 = (int)((long long)(64) * part0 / parts0); gidx0 < last0;")
    assert head < text.index("acc0 = 0.0f"), "it would be cleared once for all turns"
    assert text.count("{") == text.count("}")


def test_the_second_function_takes_words():
    n = UOp.variable("n", 1, 64)
    text = PARTS.render(sums(n))
    assert "void sums(float* restrict data0, const float* restrict data1, const int n," in text
    assert "void sums_part(const long long* words0, const long long part0," in text
    call = re.search(r"  sums\((.*)\);", text)
    assert call is not None
    assert call[1] == ("(float*)words0[0], (const float*)words0[1], (int)words0[2], part0, parts0")
    assert "(long long)(n) * part0 / parts0" in text


def test_without_a_grid_nothing_changes():
    loop = UOp.range(4, 0)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(4), (), 0)
    nodes = [u for u in UOp.sink(out.index(loop).store(loop)).toposort() if u.op is not Ops.SINK]
    program = LinearProgram.of("k", [*nodes, UOp(Ops.ENDRANGE, dtypes.void, (loop,))])
    assert PARTS.render(program) == CStyleRenderer(PARTS.dialect).render(program)
    assert thread_loop.index_first(program.uops) is program.uops


def test_other_launch_indices_are_refused():
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(4), (), 0)
    index = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 4),), "lidx0")
    nodes = [u for u in UOp.sink(out.index(index).store(index)).toposort() if u.op is not Ops.SINK]
    with pytest.raises(CapabilityError, match="launch indices"):
        PARTS.render(LinearProgram.of("k", nodes))


def test_the_kernel_is_not_inlined_in_the_second_function():
    text = PARTS.render(sums(UOp.const(dtypes.int, 64)))
    assert text.count("__attribute__((noinline)) void sums(float* restrict data0") == 1
    with pytest.raises(CapabilityError):  # plain C has no launch grid
        CStyleRenderer().render(sums(UOp.const(dtypes.int, 64)))
