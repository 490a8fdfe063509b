"""What must stand in memory whatever the grouping: the sinks, and what cannot be computed in passing.

in:  spec.tensor      out: the set of nodes that become kernels, to which `grouper` adds reduces
"""

from __future__ import annotations

from weft.base.sequences import prod
from weft.schedule.uses import Uses, is_stored
from weft.uop import GroupOp, Ops, UOp

_ALWAYS = frozenset({Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN, Ops.BUFFER_VIEW})
# A chain that is fused whole is compiled whole: beyond this many steps the value is stored.
_DEEPEST_CHAIN = 256
# An expression of one element, or of counters alone, may be computed again where it is read, if it
# has no more steps than this.
_CHEAP = 16
_COSTLY = _ALWAYS | {Ops.BUFFER, Ops.REDUCE_AXIS, Ops.THREEFRY}


def must_realize(uses: Uses) -> dict[UOp, None]:
    """Nodes (never movement, constants or memory) that need a kernel of their own, sources first."""
    realized: dict[UOp, None] = {}
    depth: dict[UOp, int] = {}
    for node in uses.order:
        if is_stored(node):
            continue
        depth[node] = 1 + max(
            (depth.get(source.base, 0) for source in node.src if source.base not in realized),
            default=0,
        )
        if (
            node in uses.sinks
            or node.op in _ALWAYS
            or depth[node] > _DEEPEST_CHAIN
            or _read_by_meta(node, uses)
            or _grows(node, uses, depth[node])
        ):
            realized[node] = None
    return realized


def _read_by_meta(node: UOp, uses: Uses) -> bool:
    """COPY and BUFFER_VIEW read memory, not values."""
    return any(use.user.op in GroupOp.Meta for use in uses.of[node])


def _grows(node: UOp, uses: Uses, depth: int) -> bool:
    """Read through an expand that makes more elements than there are."""
    size = prod(node.shape)
    if not isinstance(size, int):
        return any(use.source is not node for use in uses.of[node])
    if depth <= _CHEAP and node.op is not Ops.REDUCE_AXIS:
        if not any(below.op in _COSTLY for below in _fused_below(node)):
            return False  # counted, not read
        if size == 1:
            return any(below.op is Ops.REDUCE_AXIS for below in _fused_below(node))
    return any(_elements_read(use.source) > size for use in uses.of[node] if use.source is not node)


def _elements_read(source: UOp) -> int:
    """How many elements of its base a movement reads, each as often as it is read; padding is none."""
    view = source.st.views[-1]
    extents = view.shape if view.mask is None else tuple(stop - start for start, stop in view.mask)
    return prod(extents)


def _fused_below(node: UOp) -> dict[UOp, None]:
    """What would be computed again with `node`, down to memory."""
    return node.toposort(gate=lambda u: not is_stored(u) and (u is node or u.op not in _ALWAYS))
