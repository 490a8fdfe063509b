"""Changes to single nodes of a graph, made in one walk: for rules that look at who reads what.

A rule that sees the readers of a node cannot be a rewrite of a pattern. It looks at the graph as it
is, and leaves an edit: what a node becomes, given what everything below it became.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weft.schedule.metadata import made_from
from weft.schedule.use_def import is_stored
from weft.uop import UOp

Edit = Callable[[Mapping[UOp, UOp]], UOp]
# edits that belong together, and all nodes that they are about: no other edit may touch those
Change = tuple[dict[UOp, Edit], set[UOp]]


def rebuild(sink: UOp, edits: Mapping[UOp, Edit]) -> dict[UOp, UOp]:
    """What every node below `sink` becomes; edits are given what was before them in the order."""
    done: dict[UOp, UOp] = {}
    for node in sink.toposort(gate=lambda u: not is_stored(u)):
        if is_stored(node):
            done[node] = node
        elif (edit := edits.get(node)) is not None:
            done[node] = made_from(edit(done), node)
        else:
            done[node] = node.over(tuple([done.get(source, source) for source in node.src]))
    return done
