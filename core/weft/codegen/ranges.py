"""Which loops a lowered node stands in.

A lowered kernel holds RANGE nodes instead of axes. A node depends on the ranges below it; a REDUCE
closes its own, so that what uses it stands outside them.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.uop.analysis import analysis
from weft.uop.args import AxisKind, RangeArg
from weft.uop.node import UOp
from weft.uop.ops import Ops
from weft.uop.text import register_arg

NO_RANGES: frozenset[UOp] = frozenset()


@dataclass(frozen=True, slots=True)
class Accumulate:
    """REDUCE: the operation, and how many leading sources are values; the others are ranges.

    Several values are accumulated one after the other in each turn of the loop.
    """

    op: Ops
    values: int = 1


register_arg(Accumulate)


def loops_of(reduce: UOp) -> tuple[UOp, ...]:
    """The ranges that a REDUCE closes, outermost first."""
    return reduce.src[reduce.arg.values :]


def values_of(reduce: UOp) -> tuple[UOp, ...]:
    """The values that a REDUCE accumulates."""
    return reduce.src[: reduce.arg.values]


def _union(sets: list[frozenset[UOp]]) -> frozenset[UOp]:
    result = NO_RANGES
    for item in sets:
        if item is result or not item:
            continue
        if not result or result < item:
            result = item
        elif not item <= result:
            result = result | item
    return result


@analysis("_ranges")
def ranges_of(node: UOp) -> frozenset[UOp]:
    """The ranges that the value of this node depends on."""
    op = node.op
    if op is Ops.RANGE:
        return _union([ranges_of(source) for source in node.src]) | {node}
    if not node.src:
        return NO_RANGES
    if op is Ops.REDUCE:
        loops = loops_of(node)
        inside = _union([ranges_of(value) for value in values_of(node)])
        ends = [ranges_of(end) for loop in loops for end in loop.src]
        return _union([inside.difference(loops), *ends])
    return _union([ranges_of(source) for source in node.src])


def loop_order(loop: UOp) -> tuple[AxisKind, int]:
    """The key by which ranges are sorted, outermost first."""
    arg: RangeArg = loop.arg
    return (arg.kind, arg.id)


def extent_of(loop: UOp) -> int | UOp:
    """How often a loop turns: an int, or an expression of variables."""
    end = loop.src[0]
    return end.arg if end.op is Ops.CONST else end
