"""Loop dependence: find the loops that each lowered node depends on.

A lowered kernel holds RANGE nodes instead of axes. A node depends on the ranges below it; a REDUCE
and a FILL close their own, so that what uses them stands outside these.

Source: none known; sound because a node depends on the union of the loops of its sources.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from weft.device.tensor_core import TensorCore
from weft.uop.args import AxisKind, RangeArg
from weft.uop.node import UOp, memo_slot
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


@dataclass(frozen=True, slots=True)
class Fill:
    """FILL: how many leading sources are STOREs to memory on chip; the others are ranges.

    A LOAD of that memory has the FILL as its last source, and so comes after it. meet: memory that
    a workgroup shares is full after a barrier; those of one name that stand in one loop have one
    barrier together, and none of them is filled with what another one holds.

    depth: how many tiles memory has room for. With several, the STOREs that stand in the loop fill
    the one that was read in the turn before; the others fill the first ones before the loop.
    flies: STOREs of so many neighbours, loaded as they are, may be copies that arrive later; or 0.
    """

    values: int = 1
    meet: str = ""
    depth: int = 1
    flies: int = 0


@dataclass(frozen=True, slots=True)
class Fragment:
    """WMMA before expansion: the unit, and over how many ranges its two factors are.

    Sources are the left and the right factor, the ranges over what one lane holds of each (the
    lowest bit first), and the VECTOR range over what it holds of the result. The first two sets are
    closed; the value depends on the last.
    """

    core: TensorCore
    left: int
    right: int


register_arg(Fragment)
register_arg(Accumulate)
register_arg(Fill)
CLOSING = frozenset({Ops.REDUCE, Ops.FILL})


def loops_of(closing: UOp) -> tuple[UOp, ...]:
    """The ranges that a REDUCE or FILL closes, outermost first."""
    return closing.src[closing.arg.values :]


def values_of(closing: UOp) -> tuple[UOp, ...]:
    """The values that a REDUCE accumulates, the STOREs of a FILL."""
    return closing.src[: closing.arg.values]


def fill_of(load: UOp) -> UOp | None:
    """The FILL after which memory on chip is read; None for a LOAD of other memory."""
    last = load.src[-1]
    return last if last.op is Ops.FILL else None


def alternative_of(load: UOp) -> UOp | None:
    """What a gated LOAD gives where its gate is false."""
    return load.src[1] if len(load.src) > 1 and load.src[1].op is not Ops.FILL else None


def _union(nodes: Iterable[UOp]) -> frozenset[UOp]:
    """The ranges of all of `nodes`, which know theirs; one of their sets where one will do."""
    result = NO_RANGES
    for node in nodes:
        item = node._ranges
        if not item or item is result:
            continue
        if not result or result < item:
            result = item
        elif not item <= result:
            result = result | item
    return result


_set_ranges = memo_slot("_ranges")


def ranges_of(node: UOp) -> frozenset[UOp]:
    """The ranges that the value of this node depends on. Kept on the node."""
    known = node._ranges
    if known is not None:
        return known
    path, pending = [node], [iter(node.src)]
    while path:
        for source in pending[-1]:
            if source._ranges is None:
                path.append(source)
                pending.append(iter(source.src))
                break
        else:
            current = path.pop()
            pending.pop()
            known = _ranges(current)
            _set_ranges(current, known)
    return known  # type: ignore[return-value]


def know_ranges(nodes: Iterable[UOp]) -> None:
    """Have `ranges_of` know all of `nodes`, which are in topological order, with all below them."""
    for node in nodes:
        if node._ranges is None:
            _set_ranges(node, _ranges(node))


def _ranges(node: UOp) -> frozenset[UOp]:
    """Of a node whose sources know theirs."""
    if not node.src:
        return NO_RANGES
    op = node.op
    if op is Ops.RANGE:
        return _union(node.src) | {node}
    if op is Ops.WMMA and isinstance(node.arg, Fragment):
        return _union(node.src[:2]).difference(node.src[2:-1]) | {node.src[-1]}
    if op not in CLOSING:
        return _union(node.src)
    loops = loops_of(node)
    inside = _union(values_of(node))
    # the end of a loop may depend on one that is closed with it
    return (inside | _union([end for loop in loops for end in loop.src])).difference(loops)


def loop_order(loop: UOp) -> tuple[AxisKind, int]:
    """The key by which ranges are sorted, outermost first."""
    arg: RangeArg = loop.arg
    return (arg.kind, arg.id)


def most_of(loop: UOp) -> int:
    """How often a loop turns at most."""
    end = loop.src[0]
    return int(end.arg if end.op is Ops.CONST else end.vmax)


def extent_of(loop: UOp) -> int | UOp:
    """How often a loop turns: an int, or an expression of variables."""
    end = loop.src[0]
    return end.arg if end.op is Ops.CONST else end
