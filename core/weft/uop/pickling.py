"""Serialization: a graph as a list of rows, so that pickling needs no recursion."""

from __future__ import annotations

from typing import Any

from weft.base.errors import WeftError
from weft.uop.node import UOp
from weft.uop.ops import Ops


def rows_of(root: UOp) -> list[tuple[Any, ...]]:
    """The graph as rows that name their sources by number, in topological order."""
    number: dict[UOp, int] = {}
    rows: list[tuple[Any, ...]] = []
    for node in root.toposort():
        number[node] = len(rows)
        rows.append((int(node.op), node.dtype, tuple(number[s] for s in node.src), node.arg))
    return rows


def graph_of(rows: list[tuple[Any, ...]]) -> UOp:
    """The graph of `rows_of`. :raises WeftError: where there are no rows."""
    nodes: list[UOp] = []
    for op, dtype, src, arg in rows:
        places: tuple[int, ...] = src
        nodes.append(UOp(Ops(op), dtype, tuple(nodes[place] for place in places), arg))
    if not nodes:
        raise WeftError("a pickled graph without nodes", asked="unpickling a UOp")
    return nodes[-1]
