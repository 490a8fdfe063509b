"""Loop dependence: find the loops that each lowered node depends on.

A lowered kernel holds RANGE nodes instead of axes. A node depends on the ranges of its sources.
A REDUCE and a FILL close ranges: their users are outside of these loops.

Source: S. Muchnick, 'Advanced Compiler Design and Implementation' (1997), loop invariants; LLVM's
LoopInfo answers the same question.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from weft.base.dtype import AddrSpace, PtrDType
from weft.device.tensor_core import TensorCore
from weft.uop import AxisKind, Ops, RangeArg, UOp, memo_slot, register_arg

NO_RANGES: frozenset[UOp] = frozenset()


@dataclass(frozen=True, slots=True)
class Accumulate:
    """REDUCE: the operation, and the number of leading sources that are values, not ranges.

    Several values are accumulated in order in each iteration.
    """

    op: Ops
    values: int = 1


@dataclass(frozen=True, slots=True)
class Fill:
    """FILL: the number of leading sources that are STOREs to a local array; the others are ranges.

    A LOAD of the array has the FILL as its last source, and so follows it.
    barrier: FILLs of shared memory with this name in one loop share one barrier; none of them
    depends on another one's array.
    depth: the number of tiles in the array (multi-buffering). If there are several, STOREs inside
    the loop overwrite the tile of the previous iteration; STOREs outside fill the first tiles.
    async_width: the number of contiguous elements that one asynchronous copy may store; 0: none.
    """

    values: int = 1
    barrier: str = ""
    depth: int = 1
    async_width: int = 0


@dataclass(frozen=True, slots=True)
class Fragment:
    """WMMA before expansion: the tensor core, and the numbers of ranges of its two factors.

    The sources are the left and right factor, the ranges over the elements that one lane holds of
    each (lowest bit first), and the VECTOR range over the elements it holds of the result. The
    node closes the ranges of the factors and depends on the last range.
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
    """The FILL of the local array that a LOAD reads; None for a LOAD of other memory."""
    last = load.src[-1]
    return last if last.op is Ops.FILL else None


def alternative_of(load: UOp) -> UOp | None:
    """The value of a gated LOAD where its gate is false; None for a LOAD without a gate."""
    return load.src[1] if len(load.src) > 1 and load.src[1].op is not Ops.FILL else None


def address_space(pointer: UOp) -> AddrSpace | None:
    """The address space of a pointer or INDEX; None for other nodes."""
    dtype = pointer.dtype
    return dtype.space if isinstance(dtype, PtrDType) else None


def _union(nodes: Iterable[UOp]) -> frozenset[UOp]:
    """The union of the cached ranges of `nodes`; one of their own sets if it is the union."""
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
    """The ranges that the value of this node depends on. Cached on the node."""
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


def cache_ranges(nodes: Iterable[UOp]) -> None:
    """Cache the result of `ranges_of` for `nodes`, a complete topological order."""
    for node in nodes:
        if node._ranges is None:
            _set_ranges(node, _ranges(node))


def _ranges(node: UOp) -> frozenset[UOp]:
    """The ranges of a node, from the cached ranges of its sources."""
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
    # the extent of a loop may depend on another loop that the node closes
    return (inside | _union([end for loop in loops for end in loop.src])).difference(loops)


def loop_order(loop: UOp) -> tuple[AxisKind, int]:
    """The sort key of ranges, outermost first."""
    arg: RangeArg = loop.arg
    return (arg.kind, arg.id)


def max_trip_count(loop: UOp) -> int:
    """The largest trip count of a loop."""
    end = loop.src[0]
    return int(end.arg if end.op is Ops.CONST else end.vmax)


def extent_of(loop: UOp) -> int | UOp:
    """The trip count of a loop: an int, or an expression of variables."""
    end = loop.src[0]
    return end.arg if end.op is Ops.CONST else end


def trip_count(loop: UOp, unknown: int = 0) -> int:
    """The trip count of a loop; `unknown` if it is not constant."""
    end = loop.src[0]
    return int(end.arg) if end.op is Ops.CONST else unknown


def iteration_count(loops: Iterable[UOp], unknown: int = 0) -> int:
    """The number of iterations of a loop nest; `unknown` replaces each unknown trip count."""
    return math.prod(trip_count(loop, unknown) for loop in loops)
