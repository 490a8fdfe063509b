"""Versions of memory: what stood in a buffer before and after each of the writes to it.

A version is a BUFFER (or a copy made to be written to), or an ASSIGN over an earlier version. Rules
that rebuild the graph change the nodes; what a version is called here stays.
"""

from __future__ import annotations

from typing import Any

from weft.schedule.use_def import is_stored
from weft.uop import Ops, UOp

Version = tuple[Any, int]


def version_of(node: UOp) -> Version:
    """The memory that `node` is a view of, and how many writes to it came before."""
    writes = 0
    base = node.base
    while base.op is Ops.ASSIGN:
        writes += 1
        base = base.src[0].base
    if base.op is Ops.BUFFER:
        return base, writes
    return base.arg if base.op is Ops.CONTIGUOUS else None, writes


def written_versions(sink: UOp) -> frozenset[Version]:
    """The versions below `sink` that a write which is still pending overwrites."""
    pending = sink.toposort(gate=lambda u: not is_stored(u))
    return frozenset(
        version_of(node.src[0]) for node in pending if node.op is Ops.ASSIGN and not is_stored(node)
    )
