"""Innermost loops with many stores."""

from weft.base.dtype import AddrSpace, dtypes
from weft.device.program import LinearProgram
from weft.render import CStyleRenderer
from weft.uop import Ops, UOp
from weft.uop.args import AxisKind, RangeArg
from weft_cpu_clang.alias_checks import MOST_STORES, store_heavy_loops
from weft_cpu_clang.renderer import ClangRenderer, clang_dialect

DATA = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(1 << 12, AddrSpace.GLOBAL), (), 0)


def opened(number):
    return UOp(Ops.RANGE, dtypes.int, (UOp.const(dtypes.int, 7),), RangeArg(number, AxisKind.LOOP))


def closed(loop):
    return UOp(Ops.ENDRANGE, dtypes.void, (loop,))


def stores(count, at):
    """As many, and what they are made of."""
    made = []
    for number in range(count):
        place = UOp(Ops.ADD, dtypes.int, (at, UOp.const(dtypes.int, 10 * number)))
        index = UOp(Ops.INDEX, DATA.dtype, (DATA, place))
        made += [place, index, UOp(Ops.STORE, dtypes.void, (index, at))]
    return made


def test_loops_are_crowded_from_so_many_stores_on():
    loop = opened(0)
    for count, found in ((MOST_STORES, frozenset()), (MOST_STORES + 1, {loop})):
        assert store_heavy_loops([DATA, loop, *stores(count, loop), closed(loop)]) == found


def test_only_innermost_loops_are():
    outer, inner = opened(0), opened(1)
    many = stores(2 * MOST_STORES, outer)
    uops = [DATA, outer, *many, inner, *stores(1, inner), closed(inner), *many, closed(outer)]
    assert not store_heavy_loops(uops)
    uops = [DATA, outer, inner, *stores(2 * MOST_STORES, inner), closed(inner), closed(outer)]
    assert store_heavy_loops(uops) == {inner}


def test_stores_outside_of_loops_and_of_two_loops_do_not_add_up():
    first, second = opened(0), opened(1)
    half = MOST_STORES - 2
    start = UOp.const(dtypes.int, 3)
    uops = [DATA, start, *stores(half, start), first, *stores(half, first), closed(first)]
    uops += [second, *stores(half, second), closed(second), *stores(half, start)]
    assert not store_heavy_loops(uops)


def test_the_index_of_a_launch_is_a_loop():
    index = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 9),), "gidx0")
    assert store_heavy_loops([DATA, index, *stores(MOST_STORES + 1, index)]) == {index}


def test_a_barrier_at_the_head_of_the_loop():
    loop, barrier = opened(0), '    __asm__ volatile("");'
    for count in (1, MOST_STORES + 1):
        uops = UOp.sink(*stores(count, loop)).toposort()
        uops = (*(u for u in uops if u.op is not Ops.SINK), closed(loop))
        program = LinearProgram(name="k", uops=uops)
        plain = CStyleRenderer(clang_dialect()).render(program).splitlines()
        text = ClangRenderer(clang_dialect()).render(program).splitlines()
        assert barrier not in plain
        assert [line for line in text if line != barrier] == plain
        assert (len(text) - len(plain)) == (count > 1)
        if count > 1:
            place = text.index(barrier)
            assert text[place - 1].startswith("  for (")
