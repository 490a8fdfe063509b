"""What must stand in memory whatever the grouping: sinks, and what cannot be computed in passing.

in:  spec.tensor      out: the set of nodes that become kernels, to which `grouper` adds reduces
"""

from __future__ import annotations

from weft.base.sequences import prod
from weft.schedule.uses import Uses, is_stored
from weft.uop import GroupOp, Ops, UOp, sint

_ALWAYS = frozenset({Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN, Ops.BUFFER_VIEW})
# A chain that is fused whole is compiled whole: beyond this many steps the value is stored.
_DEEPEST_CHAIN = 256
# An expression of one element, or of counters alone, may be computed again where it is read, if it
# has no more steps than this.
_CHEAP = 16


def must_realize(uses: Uses) -> dict[UOp, None]:
    """Nodes (never movement, constants, memory) that need a kernel of their own, sources first."""
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
            or (_grows(node, uses) and not _is_cheap(node, depth[node], realized))
        ):
            realized[node] = None
    return realized


def _read_by_meta(node: UOp, uses: Uses) -> bool:
    """COPY, BUFFER_VIEW and writes to another device read memory, not values."""
    return any(
        use.user.op in GroupOp.Meta
        or (use.user.op is Ops.ASSIGN and node.device != use.user.device)
        for use in uses.of[node]
    )


def _grows(node: UOp, uses: Uses) -> bool:
    """Read through an expand that makes more elements than there are."""
    moved = [use.source for use in uses.of[node] if use.source is not node]
    if not moved:
        return False
    size = prod(node.shape)
    if not isinstance(size, int):
        return True
    reads = [_elements_read(source) for source in moved]
    return any(not isinstance(count, int) or count > size for count in reads)


def _elements_read(source: UOp) -> sint:
    """How many elements a movement reads, each as often as it is read; padding counts as none."""
    view = source.st.views[-1]
    extents = view.shape if view.mask is None else tuple(stop - start for start, stop in view.mask)
    return prod(extents)


def _is_cheap(node: UOp, depth: int, realized: dict[UOp, None]) -> bool:
    """A few steps over counters, or over one element: computed again rather than stored."""
    if depth > _CHEAP or node.op is Ops.REDUCE_AXIS:
        return False
    below = node.toposort(
        gate=lambda u: u is node or not (is_stored(u) or u in realized or u.op in _ALWAYS)
    )
    if any(u.op is Ops.REDUCE_AXIS or u.op is Ops.THREEFRY for u in below if u not in realized):
        return False
    counts = not any(u.op is Ops.BUFFER or u.op in _ALWAYS or u in realized for u in below)
    return counts or prod(node.shape) == 1
