"""Software prefetch of streams: a streaming reduction loads a fixed distance ahead of its reads.

in:  spec.lowered after expansion
out: the same, with PREFETCH_STREAM as the argument of such LOADs

A hardware prefetcher restarts at every page, and the reduction waits there. Where a loop reads one
contiguous stream that exceeds the last-level cache, its loads are marked. The renderer writes a
prefetch for each marked load, if the processor profits from it.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from weft.plugin import (
    CLOSING,
    PREFETCH_STREAM,
    AddrSpace,
    ComputeCaps,
    Ops,
    PtrDType,
    UOp,
    affine,
    loops_of,
    nodes_of,
    replace_nodes,
    values_of,
)


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
    if len(closed) != 1 or not loads or not _in_a_row(loads, closed[0], compute):
        return sink
    return replace_nodes(nodes, {load: load.replace(arg=PREFETCH_STREAM) for load in loads})


def _loads(reduces: list[UOp]) -> list[UOp]:
    """The loads from memory in the loop that these are accumulated in."""
    found: dict[UOp, None] = {}
    for reduce in reduces:
        for value in values_of(reduce):
            for node in value.toposort(gate=lambda u: u.op not in CLOSING):
                if node.op is Ops.LOAD:
                    found[node] = None
    return list(found)


def _in_a_row(loads: list[UOp], loop: UOp, compute: ComputeCaps) -> bool:
    """Whether each turn of the loop reads whole registers of one stretch, the next what follows."""
    pointer = loads[0].src[0].src[0]
    kind = pointer.dtype
    if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL:
        return False
    if kind.size < 1 or kind.nbytes <= compute.cache_bytes:
        return False
    starts, around = [], None
    for load in loads:
        read, at, *gate = load.src[0].src
        if read is not pointer or gate:
            return False
        if load.dtype.itemsize != compute.vector_bytes or load.arg is not None:
            return False
        terms, constant = affine(at)
        if around is not None and terms != around:
            return False
        around = terms
        starts.append(constant)
    lanes = loads[0].dtype.count
    first = min(starts)
    whole = sorted(starts) == [first + lanes * number for number in range(len(starts))]
    return whole and around is not None and around.get(loop, 0) == lanes * len(starts)
