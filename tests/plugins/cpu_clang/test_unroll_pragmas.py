"""Unroll pragmas: loops of a product's tile, and loops around others."""

import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.device.program import LinearProgram
from weft.render import CStyleRenderer
from weft.uop import Ops, UOp
from weft.uop.args import PREFETCH_L1, AxisKind, RangeArg
from weft_cpu_clang.renderer import ClangRenderer, clang_dialect
from weft_cpu_clang.unroll_pragmas import (
    FEW_ITERATIONS,
    LEAST_PRODUCTS,
    MANY_NODES,
    MOST_PRODUCTS,
    UNROLL_FACTOR,
    outer_loops,
    tile_loops,
)

DATA = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(1 << 12, AddrSpace.GLOBAL), (), 0)
LONG = 4 * UNROLL_FACTOR


def opened(number, extent=LONG, kind=AxisKind.REDUCE):
    end = extent if isinstance(extent, UOp) else UOp.const(dtypes.int, extent)
    return UOp(Ops.RANGE, dtypes.int, (end,), RangeArg(number, kind))


def closed(loop):
    return UOp(Ops.ENDRANGE, dtypes.void, (loop,))


def products(count, at):
    """As many, and what they are made of."""
    load = UOp(Ops.LOAD, dtypes.float, (UOp(Ops.INDEX, DATA.dtype, (DATA, at)),))
    steps = []
    for number in range(count):
        factor = UOp.const(dtypes.float, number)
        steps += [factor, UOp(Ops.MULACC, dtypes.float, (load, factor, load))]
    return [load.src[0], load, *steps]


def sources(program):
    """The lines of a program in plain C and in clang's C."""
    dialect = clang_dialect()
    renderers = (CStyleRenderer(dialect), ClangRenderer(dialect))
    return [renderer.render(program).splitlines() for renderer in renderers]


@pytest.mark.parametrize(
    "count, is_one",
    [
        (LEAST_PRODUCTS - 1, False),
        (LEAST_PRODUCTS, True),
        (MOST_PRODUCTS, True),
        (MOST_PRODUCTS + 1, False),
    ],
)
def test_tiles_have_so_many_products(count, is_one):
    loop = opened(0)
    found = tile_loops([DATA, loop, *products(count, loop), closed(loop)])
    assert found == ({loop} if is_one else frozenset())


def test_only_long_loops_over_terms_are():
    variable = UOp(Ops.DEFINE_VAR, dtypes.int, (), ("n", 1, 1000))
    for loop in (opened(0, LONG - 1), opened(0, LONG, AxisKind.LOOP), opened(0, variable)):
        assert not tile_loops([DATA, loop, *products(LEAST_PRODUCTS, loop), closed(loop)])


def test_only_innermost_loops_are():
    outer, inner = opened(0), opened(1)
    many = products(LEAST_PRODUCTS, outer)
    uops = [DATA, outer, *many, inner, *products(1, inner), closed(inner), *many, closed(outer)]
    assert not tile_loops(uops)
    uops = [DATA, outer, inner, *products(LEAST_PRODUCTS, inner), closed(inner), closed(outer)]
    assert tile_loops(uops) == {inner}


def test_elements_under_gates_are_not_tested_several_at_a_time():
    loop = opened(0)
    gate = UOp(Ops.CMPLT, dtypes.bool, (loop, UOp.const(dtypes.int, 9)))
    place = UOp(Ops.INDEX, DATA.dtype, (DATA, loop, gate))
    for arg, found in (
        (None, frozenset()),
        (PREFETCH_L1, {loop}),
    ):  # a prefetch is no read
        load = UOp(Ops.LOAD, dtypes.float, (place,), arg)
        uops = [DATA, loop, *products(LEAST_PRODUCTS, loop), gate, place, load, closed(loop)]
        assert tile_loops(uops) == found


def test_the_pragma_precedes_the_loop():
    loop = opened(0)
    stored = UOp(Ops.INDEX, DATA.dtype, (DATA, loop))
    steps = products(LEAST_PRODUCTS, loop)
    store = UOp(Ops.STORE, dtypes.void, (stored, steps[-1]))
    program = LinearProgram("k", (DATA, loop.src[0], loop, *steps, store, closed(loop)))
    plain, lines = sources(program)
    pragma = f"#pragma clang loop unroll_count({UNROLL_FACTOR})"
    (place,) = [n for n, line in enumerate(lines) if line.strip() == pragma]
    assert lines[place + 1].strip().startswith("for (")
    assert lines[:place] + lines[place + 1 :] == plain


def nested(few, nodes):
    outer, inner = opened(0, few), opened(1, 3)
    many = products(nodes - 2, inner)  # in addition to the address and the element
    return outer, [DATA, outer, inner, *many, closed(inner), closed(outer)]


@pytest.mark.parametrize(
    "few, nodes, is_one",
    [
        (FEW_ITERATIONS, MANY_NODES, True),
        (FEW_ITERATIONS + 1, MANY_NODES, False),
        (FEW_ITERATIONS, MANY_NODES - 1, False),
    ],
)
def test_short_loops_around_much_stay_loops(few, nodes, is_one):
    outer, uops = nested(few, nodes)
    assert outer_loops(uops) == ({outer} if is_one else frozenset())


def test_loops_around_none_are_nobodys_outer_ones():
    loop = opened(0, 3)
    assert not outer_loops([DATA, loop, *products(MANY_NODES, loop), closed(loop)])


def test_outer_loops_are_marked_not_to_unroll():
    outer, uops = nested(3, MANY_NODES)
    stored = UOp(Ops.INDEX, DATA.dtype, (DATA, uops[2]))
    store = UOp(Ops.STORE, dtypes.void, (stored, uops[-3]))
    ends = [uops[1].src[0], uops[2].src[0]]
    program = LinearProgram("k", (DATA, *ends, *uops[1:-2], store, *uops[-2:]))
    plain, lines = sources(program)
    pragma = "#pragma clang loop unroll(disable)"
    (place,) = [n for n, line in enumerate(lines) if line.strip() == pragma]
    assert f"ridx{outer.arg.id} " in lines[place + 1]
    assert lines[:place] + lines[place + 1 :] == plain
