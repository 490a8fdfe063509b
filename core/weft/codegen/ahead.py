"""A sum over one long stretch of memory asks for what it will read a little later.

A processor sees by itself that memory is read in a row, but starts anew at every page, and a sum
waits there. Where there is one stretch, larger than the last cache, and nothing else to read, the
loads say where they go on: what is there is brought closer meanwhile, and nothing waits.
What such a load is written down as is the dialect's: not every processor wants to be told.

Two such stretches side by side, in the halves of one matrix, are marked otherwise: there is time to
bring what comes closer on a way that leaves the larger caches alone. What else is read then stays
as it is: a vector that every row is multiplied with.

in:  spec.lowered after expansion
out: the same, with AHEAD as the argument of such LOADs, or PASSING where there are two stretches
"""

from __future__ import annotations

from weft.base.dtype import AddrSpace, PtrDType
from weft.codegen.affine import affine
from weft.codegen.ranges import CLOSING, loops_of, values_of
from weft.codegen.substitute import replace_nodes
from weft.codegen.walk import nodes_of
from weft.device.capabilities import ComputeCaps
from weft.uop.args import AHEAD, PASSING
from weft.uop.node import UOp
from weft.uop.ops import Ops


def run(sink: UOp, compute: ComputeCaps) -> UOp:
    """The kernel with loads that look ahead; itself where there are none."""
    if not compute.cache_bytes:
        return sink
    nodes = nodes_of(sink)
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    loops = {loops_of(node) for node in reduces}
    if len(loops) != 1 or any(node.op is Ops.FILL for node in nodes):
        return sink
    (closed,) = loops
    loads = _loads(reduces)
    if len(closed) != 1 or not loads:
        return sink
    if _in_a_row(loads, closed[0], compute):
        return replace_nodes(nodes, {load: load.replace(arg=AHEAD) for load in loads})
    halves = _of_two_halves(loads, closed[0], compute)
    if any(node.op is Ops.LOAD and node not in loads and _same(node, halves) for node in nodes):
        return sink  # what is read again had better stay where it is
    return replace_nodes(nodes, {load: load.replace(arg=PASSING) for load in halves})


def _loads(reduces: list[UOp]) -> list[UOp]:
    """The loads from memory in the loop that these are accumulated in."""
    found: dict[UOp, None] = {}
    for reduce in reduces:
        for value in values_of(reduce):
            for node in value.toposort(gate=lambda u: u.op not in CLOSING):
                if node.op is Ops.LOAD:
                    found[node] = None
    return list(found)


def _of_two_halves(loads: list[UOp], loop: UOp, compute: ComputeCaps) -> list[UOp]:
    """Those of these loads that are of two stretches of one matrix, a cache or more apart."""
    if compute.walks < 2:
        return []
    by_pointer: dict[UOp, list[UOp]] = {}
    for load in loads:
        by_pointer.setdefault(load.src[0].src[0], []).append(load)
    large = [one for one in by_pointer.values() if _is_large(one[0].src[0].src[0], compute)]
    if len(large) != 1:
        return []
    (own,) = large
    own.sort(key=lambda load: affine(load.src[0].src[1])[1])
    upper, lower = own[: len(own) // 2], own[len(own) // 2 :]
    if not upper or len(upper) != len(lower):
        return []
    if not all(_in_a_row(half, loop, compute) for half in (upper, lower)):
        return []
    (first, start), (second, there) = (affine(half[0].src[0].src[1]) for half in (upper, lower))
    apart = (there - start) * upper[0].dtype.scalar().itemsize
    return own if first == second and 2 * apart >= compute.cache_bytes else []


def _same(load: UOp, others: list[UOp]) -> bool:
    """Whether a LOAD is of the buffer that others are of."""
    return bool(others) and load.src[0].src[:1] == others[0].src[0].src[:1]


def _is_large(pointer: UOp, compute: ComputeCaps) -> bool:
    """Whether no cache holds a buffer."""
    kind = pointer.dtype
    if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL:
        return False
    return kind.size > 0 and kind.nbytes > compute.cache_bytes


def _in_a_row(loads: list[UOp], loop: UOp, compute: ComputeCaps) -> bool:
    """Whether each turn of the loop reads whole registers of one stretch, the next what follows."""
    pointer = loads[0].src[0].src[0]
    if not _is_large(pointer, compute):
        return False
    starts, around = [], None
    for load in loads:
        index = load.src[0]
        if index.src[0] is not pointer or len(index.src) > 2:
            return False
        if load.dtype.itemsize != compute.vector_bytes or load.arg is not None:
            return False
        terms, constant = affine(index.src[1])
        if around is not None and terms != around:
            return False
        around = terms
        starts.append(constant)
    lanes = loads[0].dtype.count
    first = min(starts)
    whole = sorted(starts) == [first + lanes * number for number in range(len(starts))]
    return whole and around is not None and around.get(loop, 0) == lanes * len(starts)
