"""Batched graph edits: apply many changes of single nodes in one traversal of the graph.

A rule that looks at the readers of a node cannot be a rewrite pattern. It analyses the graph as it
is and records an edit: a function from the new sources of a node to its replacement.

Source: none known; sources are visited before their readers, so that each edit is given
replacements that are final.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weft.schedule.use_def import is_pending, is_stored
from weft.uop import UOp

Edit = Callable[[Mapping[UOp, UOp]], UOp]
# edits that belong together, and all nodes that they are about: no other edit may touch those
Change = tuple[dict[UOp, Edit], set[UOp]]


def rebuild(sink: UOp, edits: Mapping[UOp, Edit]) -> dict[UOp, UOp]:
    """The replacement of every node below `sink`; an edit is given the replacements of earlier
    nodes."""
    done: dict[UOp, UOp] = {}
    for node in sink.toposort(gate=is_pending):
        if is_stored(node):
            done[node] = node
        elif (edit := edits.get(node)) is not None:
            done[node] = edit(done).with_provenance_of(node)
        else:
            done[node] = node.over(tuple([done.get(source, source) for source in node.src]))
    return done
