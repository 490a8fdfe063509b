"""Several reduces in one kernel: what is reduced over inner axes stays where its rows are read.

softmax is a maximum, a sum and a quotient over the same rows. Each of the first two is small, is
read by the next step expanded back over the row that it came from, and by nobody else: one loop
over the rows does all three, and nothing but the result is stored. No reduce is computed more often
than before, because the axes it depends on are the outer loops of the kernel that it joins.

in:  the nodes that become kernels      out: the same without those that join their only reader
"""

from __future__ import annotations

from typing import Any

from weft.schedule.uses import Uses, is_stored
from weft.shape import ShapeTracker
from weft.uop import GroupOp, Ops, UOp

# what a kernel may hold before its source becomes too long to compile well
_MOST_NODES = 160


def fuse_rows(uses: Uses, realized: dict[UOp, None]) -> dict[UOp, None]:
    """`realized` without the row reduces that can be computed inside their only reader."""
    kept = dict(realized)
    homes: dict[UOp, frozenset[UOp]] = {}
    sizes: dict[UOp, int] = {}
    for node in reversed(uses.order):
        homes[node] = _homes(node, uses, kept, homes)
        if node in kept:
            home = _can_join(node, uses, kept, homes, sizes)
            if home is None:
                sizes[node] = _nodes_of(node, kept)
            else:
                del kept[node]
                homes[node] = frozenset((home,))
                sizes[home] += _nodes_of(node, kept)
    return kept


def _homes(
    node: UOp, uses: Uses, kept: dict[UOp, None], homes: dict[UOp, frozenset[UOp]]
) -> frozenset[UOp]:
    """The kernels in which this value is needed."""
    found: set[UOp] = set()
    for use in uses.of[node]:
        found |= {use.user} if use.user in kept else homes.get(use.user, frozenset((use.user,)))
    return frozenset(found)


def _can_join(
    node: UOp,
    uses: Uses,
    kept: dict[UOp, None],
    homes: dict[UOp, frozenset[UOp]],
    sizes: dict[UOp, int],
) -> UOp | None:
    """The only kernel that reads `node`, if its rows are those of `node`; else None."""
    if node in uses.sinks or is_stored(node) or not _is_arithmetic(node) or len(homes[node]) != 1:
        return None
    (home,) = homes[node]
    if home not in sizes or sizes[home] + _nodes_of(node, kept) > _MOST_NODES:
        return None
    rows = _row_shape(node, kept)
    if rows is None or not _is_arithmetic(home) or _row_shape(home, kept) not in (None, rows):
        return None
    if _row_shape(home, kept) is None and tuple(home.shape) != rows:
        return None
    expanded = _expanded_over(tuple(node.shape), rows)
    reads = (use.source.st.simplify() for use in uses.of[node] if use.source is not node)
    if expanded is None or any(read != expanded for read in reads):
        return None
    return home


def _is_arithmetic(node: UOp) -> bool:
    return node.op in GroupOp.Elementwise or node.op in (Ops.REDUCE_AXIS, Ops.CONTIGUOUS)


def _below(node: UOp, kept: dict[UOp, None]) -> dict[UOp, None]:
    """What is computed in the kernel of `node`, itself included."""
    return node.toposort(gate=lambda u: u is node or not (u in kept or is_stored(u)))


def _nodes_of(node: UOp, kept: dict[UOp, None]) -> int:
    return sum(u.op in GroupOp.Elementwise for u in _below(node, kept))


def _row_shape(node: UOp, kept: dict[UOp, None]) -> tuple[Any, ...] | None:
    """The one shape over which all reduces in the kernel of `node` run; None if there is none."""
    shapes = {
        tuple(u.src[0].shape)
        for u in _below(node, kept)
        if u.op is Ops.REDUCE_AXIS and (u is node or u not in kept)
    }
    if len(shapes) != 1:
        return None if not shapes else ()
    return next(iter(shapes))


def _expanded_over(shape: tuple[Any, ...], rows: tuple[Any, ...]) -> ShapeTracker | None:
    """The view of a value of `shape`, one at its inner axes, over whole rows; None if it is none.

    At least one outer axis is left: without any there would be one row, and nothing to share.
    """
    if len(shape) != len(rows) or any(isinstance(extent, UOp) for extent in rows):
        return None
    outer = 0
    while outer < len(rows) and shape[outer] == rows[outer]:
        outer += 1
    if not 0 < outer < len(rows) or any(extent != 1 for extent in shape[outer:]):
        return None
    return ShapeTracker.from_shape(shape).expand(rows).simplify()
