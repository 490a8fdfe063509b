"""Provenance: which Tensor methods a kernel computes, and where in the user's code they stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.base.provenance import describe
from weft.uop import UOp


def said_of(nodes: Iterable[UOp]) -> tuple[Any, ...]:
    """The provenance of the fused nodes, each once, in the order of the graph."""
    found = (getattr(node, "meta", None) for node in nodes)
    return tuple(dict.fromkeys(m for m in found if m is not None))


def made_at(node: UOp) -> str:
    """`  made at train.py:41 in forward`, for the end of a line of an error; empty if unknown."""
    where = getattr(getattr(node, "meta", None), "where", None)
    return "" if where is None else f"  made at {describe(where)}"
