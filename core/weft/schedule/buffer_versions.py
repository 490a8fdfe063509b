"""Buffer versions: name the contents of a buffer before and after each write, as in memory SSA.
Also: static single assignment of memory.

A version is a BUFFER (or a copy made to be overwritten), or an ASSIGN over an earlier version. A
version keeps its name while rules rebuild the graph around it.

Source: Novillo, "Memory SSA - A Unified Approach for Sparsely Representing Memory Operations", GCC
Developers' Summit 2007; LLVM, MemorySSA.
"""

from __future__ import annotations

from typing import Any

from weft.schedule.use_def import is_pending
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
    order = filter(is_pending, sink.toposort(gate=is_pending))
    return frozenset(version_of(node.src[0]) for node in order if node.op is Ops.ASSIGN)
