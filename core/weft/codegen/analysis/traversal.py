"""Graph traversal: the node list of a kernel, and bottom-up rewriting in one pass over it.

Most passes change nothing in a kernel. The node list of the last kernel is therefore cached until
code generation of the kernel ends.

Source: F. Baader, T. Nipkow, 'Term Rewriting and All That' (1998); MLIR's walk-based pattern driver
is a rewriter of this kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from weft.uop import Ops, UOp

Rule: TypeAlias = Callable[[UOp, UOp], UOp | None]
"""(node, the node over its rewritten sources) -> its replacement, or None for the second one."""

_last: list[tuple[UOp, list[UOp]]] = []


def nodes_of(sink: UOp) -> list[UOp]:
    """Every node below `sink` in topological order, `sink` last. Callers share the list."""
    for known, nodes in _last:  # at most one; another thread may compile another kernel
        if known is sink:
            return nodes
    nodes = list(sink.toposort())
    _last[:] = [(sink, nodes)]
    return nodes


def clear_cache() -> None:
    """Drop the cached node list, so that its nodes can be freed."""
    _last.clear()


def rewrite_once(
    nodes: Iterable[UOp], rules: Mapping[Ops, Rule], new: dict[UOp, UOp] | None = None
) -> dict[UOp, UOp]:
    """Rewrite nodes bottom-up, each one once; return a map from each node to its replacement.

    nodes: in topological order. rules: the rule of each op; other nodes are rebuilt over the
    replacements of their sources. new: replacements known beforehand; the result is added to it.
    """
    new = {} if new is None else new
    for node in nodes:
        if node in new:
            continue
        src = tuple([new.get(source, source) for source in node.src])
        rebuilt = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
        rule = rules.get(node.op)
        found = None if rule is None else rule(node, rebuilt)
        new[node] = rebuilt if found is None else found
    return new
