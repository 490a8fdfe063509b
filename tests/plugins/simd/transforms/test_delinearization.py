"""Loops whose indices are used as quotient and remainder become two."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.codegen.analysis.ranges import Accumulate, extent_of
from weft.uop import Ops, UOp
from weft.uop.args import AxisKind
from weft.uop.node import UOp as Node
from weft_simd.transforms import delinearization

LANES = 4


def pointer(slot: int, size: int) -> Node:
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)


def place(buffer: Node, at: Node) -> Node:
    return UOp(Ops.INDEX, buffer.dtype, (buffer, at))


def number(value: int) -> Node:
    return UOp.const(dtypes.int, value)


def stored(at: Node, *read: Node) -> Node:
    values = [UOp(Ops.LOAD, dtypes.float, (place(pointer(1 + i, 4096), u),))
              for i, u in enumerate(read)]  # fmt: skip
    total = values[0]
    for value in values[1:]:
        total = total + value
    return UOp.sink(UOp(Ops.STORE, dtypes.void, (place(pointer(0, 4096), at), total)))


def loops(sink: Node) -> list[tuple[int, int]]:
    found = {u.arg.id: extent_of(u) for u in sink.toposort() if u.op is Ops.RANGE}
    return sorted(found.items())


def divides(sink: Node) -> bool:
    return any(u.op in (Ops.IDIV, Ops.MOD) for u in sink.toposort())


def test_quotient_and_remainder_have_loops_of_their_own() -> None:
    r = UOp.range(64, 0, AxisKind.LOOP)
    found = delinearization.run(stored(r, r // number(16), r % number(16)), LANES)
    assert [extent for _, extent in loops(found)] == [4, 16] and not divides(found)


def test_several_digits() -> None:
    r = UOp.range(512, 0, AxisKind.LOOP)
    reads = (r // number(16) % number(8), r // number(128), r % number(16))
    found = delinearization.run(stored(r, *reads), LANES)
    assert [extent for _, extent in loops(found)] == [4, 8, 16] and not divides(found)


def test_other_loops_keep_their_order_and_no_two_are_one() -> None:
    a, b, c = (UOp.range(16, i, AxisKind.LOOP) for i in (0, 2, 3))
    r = UOp.range(64, 1, AxisKind.LOOP)
    at = ((a * number(64) + r) * number(16) + b) * number(16) + c
    found = delinearization.run(stored(at, r // number(16) + a, r % number(16) + b + c), LANES)
    assert [extent for _, extent in loops(found)] == [16, 4, 16, 16, 16]


@pytest.mark.parametrize(
    "extent, divisor",
    [(64, 2), (60, 16), (16, 16)],  # too short for lanes, no whole number of them, one iteration
)
def test_loops_that_are_not_split(extent: int, divisor: int) -> None:
    r = UOp.range(extent, 0, AxisKind.LOOP)
    sink = stored(r, r // number(divisor), r % number(divisor))
    assert delinearization.run(sink, LANES) is sink


def test_sums_over_blocks_of_bytes_are_split_as_far_as_bytes_need() -> None:
    s = UOp.range(64, 0, AxisKind.REDUCE)
    halves = UOp(Ops.DEFINE_GLOBAL, dtypes.uchar.ptr(4096), (), 1)
    at = s // number(8) * number(6) + s % number(4)
    read = UOp(Ops.LOAD, dtypes.uchar, (place(halves, at),)).cast(dtypes.float)
    total = UOp(Ops.REDUCE, dtypes.float, (read, s), Accumulate(Ops.ADD))
    sink = UOp.sink(UOp(Ops.STORE, dtypes.void, (place(pointer(0, 1), number(0)), total)))
    found = delinearization.run(sink, LANES)
    assert [extent for _, extent in loops(found)] == [8, 2, 4] and not divides(found)


def test_without_lanes_and_for_sums_nothing_changes() -> None:
    r = UOp.range(64, 0, AxisKind.LOOP)
    sink = stored(r, r // number(16), r % number(16))
    assert delinearization.run(sink, 0) is sink
    s = UOp.range(64, 0, AxisKind.REDUCE)
    sink = stored(s, s // number(16))
    assert delinearization.run(sink, LANES) is sink
