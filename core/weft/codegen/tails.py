"""A long reduce over an awkward number of elements becomes a reduce over a round one, and a rest.

in:  spec.lowered
out: spec.lowered in which such reduces can be turned into vectors: op(reduce of all but the last
     few, reduce of the last few)

Only where what is reduced lies in a row in memory, so that vectors are worth having.
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.codegen.affine import affine
from weft.codegen.ranges import CLOSING, extent_of, loops_of, ranges_of, values_of
from weft.codegen.substitute import substitute_ranges
from weft.device.capabilities import Target
from weft.uop.args import AxisKind, RangeArg
from weft.uop.node import UOp
from weft.uop.ops import Ops

_ROUND = 4  # vectors that are accumulated side by side


def _cut(loop: UOp, lanes: int) -> int:
    """How many turns are left to the rest; 0 where the extent is round, unknown or short."""
    extent = extent_of(loop)
    if loop.arg.kind is not AxisKind.REDUCE or not isinstance(extent, int) or extent < 4 * lanes:
        return 0
    if loop.dtype is not dtypes.int:
        return 0
    if extent % lanes == 0:
        return 0
    return extent % (lanes * _ROUND) if extent >= 16 * lanes else extent % lanes


def _in_a_row(reduce: UOp, loop: UOp) -> bool:
    """Whether every address inside moves by one, or not at all, with the loop."""
    found = False
    for node in reduce.toposort(gate=lambda u: u is reduce or u.op not in CLOSING):
        if node.op is not Ops.INDEX:
            continue
        terms, _ = affine(node.src[1])
        step = terms.pop(loop, 0)
        hidden = any(loop in term.toposort() for term in terms)
        gated = len(node.src) > 2 and loop in node.src[2].toposort()
        if hidden or gated or step not in (-1, 0, 1):
            return False
        found = found or step != 0
    return found


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with the rests of its reduces taken off; itself where there are none."""
    lanes = target.compute.vector_bytes // 4 if target.compute.vector_widths else 0
    nodes = sink.toposort()
    reduces = [node for node in nodes if node.op is Ops.REDUCE and len(loops_of(node)) == 1]
    if lanes < 2 or not any(_cut(loops_of(node)[0], lanes) for node in reduces):
        return sink
    numbers = max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    parts: dict[UOp, tuple[UOp, UOp]] = {}
    made: dict[UOp, UOp] = {}
    for node in nodes:
        src = tuple([made[source] for source in node.src])
        same = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
        made[node] = same
        if node.op is not Ops.REDUCE or len(loops_of(node)) != 1:
            continue
        (loop,) = loops_of(node)
        rest = _cut(loop, lanes)
        if not rest or not _in_a_row(node, loop) or _fills(node, loop):
            continue
        if loop not in parts:
            whole = extent_of(loop) - rest
            main = UOp.range(whole, numbers + 1, AxisKind.REDUCE)
            parts[loop] = main, UOp.range(rest, numbers + 2, AxisKind.REDUCE)
            numbers += 2
        others = {}
        for number, inner in enumerate(_turning_inside(same, loop), numbers + 1):
            own = RangeArg(number, inner.arg.kind)
            others[inner] = UOp(Ops.RANGE, inner.dtype, inner.src, own)
        numbers += len(others)
        made[node] = _in_two(same, loop, *parts[loop], others)
    return made[sink]


def _fills(reduce: UOp, loop: UOp) -> bool:
    """Whether an array is filled anew in every turn: both parts would share it."""
    return any(node.op is Ops.FILL and loop in ranges_of(node) for node in reduce.toposort())


def _turning_inside(reduce: UOp, loop: UOp) -> list[UOp]:
    """The loops that turn in every turn of `loop`."""
    (value,) = values_of(reduce)
    closed = [u for u in value.toposort() if u.op is Ops.REDUCE and loop in ranges_of(u)]
    return list(dict.fromkeys(inner for node in closed for inner in loops_of(node)))


def _in_two(reduce: UOp, loop: UOp, main: UOp, rest: UOp, others: dict[UOp, UOp]) -> UOp:
    """The reduce as two; in the second one, loops that turn inside of it are `others`: what both
    read in one loop would stand in two."""
    (value,) = values_of(reduce)
    inside = list(value.toposort())
    after = rest + UOp.const(dtypes.int, extent_of(main))
    first = substitute_ranges(inside, {loop: main}, {})
    own = {inner: (other,) for inner, other in others.items()}
    second = substitute_ranges(inside, {loop: after, **others}, own)
    op, dtype = reduce.arg.op, reduce.dtype
    both = tuple(
        UOp(Ops.REDUCE, dtype, (part, own), reduce.arg)
        for part, own in ((first, main), (second, rest))
    )
    return UOp(op, dtype, both)
