"""Provenance: record which Tensor methods a kernel computes, and their lines in user code.

Source: MLIR, builtin dialect, FusedLoc (the locations of fused operations).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.base.provenance import describe
from weft.uop import UOp


def provenance_of(nodes: Iterable[UOp]) -> tuple[Any, ...]:
    """The provenance of the fused nodes, each once, in the order of the graph."""
    found = (node.meta for node in nodes)
    return tuple(dict.fromkeys(m for m in found if m is not None))


def made_at(node: UOp) -> str:
    """`  made at train.py:41 in forward`, for the end of a line of an error; empty if unknown."""
    where = getattr(node.meta, "where", None)
    return "" if where is None else f"  made at {describe(where)}"
