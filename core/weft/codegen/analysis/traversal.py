"""Graph traversal: cache the node list of the kernel that was traversed last.

Most passes find nothing to do and leave the kernel as it is: of the last one that was walked the
nodes are kept, until the kernel is through.

Source: none known; sound because nodes are immutable.
"""

from __future__ import annotations

from weft.uop.node import UOp

_last: list[tuple[UOp, list[UOp]]] = []


def nodes_of(sink: UOp) -> list[UOp]:
    """Every node below, sources before their users, `sink` last. Others get the same list."""
    for known, nodes in _last:  # one at most; another thread may have a kernel of its own
        if known is sink:
            return nodes
    nodes = list(sink.toposort())
    _last[:] = [(sink, nodes)]
    return nodes


def clear_cache() -> None:
    """Let go of the last kernel, so that its nodes may be freed."""
    _last.clear()
