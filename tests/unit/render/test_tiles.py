"""Innermost loops that add to many registers."""

import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.device.program import LinearProgram
from weft.render import CDialect, CStyleRenderer
from weft.render.tiles import LEAST_REGISTERS, tile_loops
from weft.uop import Ops, UOp
from weft.uop.args import AxisKind, RangeArg

ZERO = UOp.const(dtypes.int, 0)
ONE = UOp.const(dtypes.float, 1.0)
DATA = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64, AddrSpace.GLOBAL), (), 0)
REGISTERS = [
    UOp(Ops.DEFINE_REG, dtypes.float.ptr(1, AddrSpace.REG), (), number) for number in range(16)
]
ARRAYS = [
    UOp(Ops.DEFINE_REG, dtypes.float.ptr(8, AddrSpace.REG), (), number) for number in range(16)
]


def opened(number):
    return UOp(Ops.RANGE, dtypes.int, (UOp.const(dtypes.int, 7),), RangeArg(number, AxisKind.LOOP))


def closed(loop):
    return UOp(Ops.ENDRANGE, dtypes.void, (loop,))


def stores(memory):
    return [one.index(ZERO).store(ONE) for one in memory]


@pytest.mark.parametrize(
    ("memory", "is_tile"),
    [
        (REGISTERS[:LEAST_REGISTERS], True),
        (REGISTERS[: LEAST_REGISTERS - 1], False),
        (REGISTERS[: LEAST_REGISTERS - 1] + REGISTERS[:1], False),
        (ARRAYS, False),
        ([DATA] * 16, False),
    ],
    ids=["many", "few", "one of them twice", "arrays", "memory"],
)
def test_loops_that_store_to_many_registers(memory, is_tile):
    loop = opened(0)
    assert tile_loops([loop, *stores(memory), closed(loop)]) == ({loop} if is_tile else set())


def test_only_innermost_loops_are():
    """Registers are cleared in the loop around the one that adds to them."""
    outer, inner, after = opened(0), opened(1), opened(2)
    uops = [outer, *stores(REGISTERS), inner, *stores(REGISTERS), closed(inner)]
    uops += [after, *stores(REGISTERS[:2]), closed(after), *stores(REGISTERS), closed(outer)]
    assert tile_loops(uops) == {inner}


def test_a_dialect_says_what_stands_before_them():
    outer, inner = opened(0), opened(1)
    within = [u for u in UOp.sink(*stores(REGISTERS)).toposort() if u.op is not Ops.SINK]
    put = DATA.index(outer).store(ONE)
    last = [u for u in UOp.sink(put).toposort() if u not in within and u.op is not Ops.SINK]
    first = [u for u in last if u in outer.toposort()]
    rest = [u for u in last if u not in first]
    uops = [*first, *inner.src, inner, *within, closed(inner), *rest, closed(outer)]
    program = LinearProgram.of("k", dict.fromkeys(uops))
    plain = CStyleRenderer(CDialect()).render(program).splitlines()
    text = CStyleRenderer(CDialect(tiled="#once")).render(program).splitlines()
    place = text.index("    #once")
    assert text[place + 1].startswith("    for (int ridx1")
    assert text[:place] + text[place + 1 :] == plain
