"""Def-use chains: map each node of a tensor graph to its users, also through movement ops.
Also: use-def chains, user map.

Source: Aho, Lam, Sethi and Ullman, "Compilers: Principles, Techniques, and Tools", 2006, chapter
9.
"""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from weft.base.deferred_dataclass import dataclass
from weft.uop import GroupOp, Ops, UOp

SCALARS = frozenset({Ops.CONST, Ops.BIND, Ops.DEFINE_VAR})
# what has memory of its own, row-major, or will
COMPUTED_MEMORY = GroupOp.Meta | {Ops.ASSIGN, Ops.CONTIGUOUS}
MEMORY = COMPUTED_MEMORY | {Ops.BUFFER}
LEAVES = frozenset(
    {
        Ops.BUFFER, Ops.CONST, Ops.DEVICE, Ops.UNIQUE, Ops.KERNEL, Ops.BIND, Ops.DEFINE_VAR,
        Ops.VCONST,
    }
)  # fmt: skip
# nodes without users: movement is looked through, and other leaves are no values in memory
_UNUSED = GroupOp.Movement | LEAVES - {Ops.BUFFER}


def is_pending(node: UOp) -> bool:
    """Whether the value of the node is still to be computed."""
    op = node.op
    return op is not Ops.BUFFER and (op is not Ops.ASSIGN or node.src[1].op is not Ops.KERNEL)


def is_stored(node: UOp) -> bool:
    """Whether the value of the node is in memory: a BUFFER, or the output of a kernel."""
    return node.op is Ops.BUFFER or (node.op is Ops.ASSIGN and node.src[1].op is Ops.KERNEL)


class Use(NamedTuple):
    """`user` reads `source`, a movement of the node that the use belongs to."""

    user: UOp
    source: UOp


@dataclass
class Uses:
    """The nodes of a graph that are not movement, sources first, and their uses.

    sinks: the bases of the requested values.
    """

    sinks: dict[UOp, None] = field(default_factory=dict[UOp, None])
    order: list[UOp] = field(default_factory=list[UOp])
    of: dict[UOp, list[Use]] = field(default_factory=dict[UOp, list[Use]])


def uses_in(sink: UOp) -> Uses:
    """The uses below `sink`, not looking below what is stored."""
    found = Uses()
    order, uses = found.order, found.of
    for node in sink.toposort(gate=is_pending):
        if node.op in _UNUSED:
            continue
        if node is sink:
            found.sinks.update((source.base, None) for source in node.src)
            continue
        order.append(node)
        uses[node] = []
        if is_stored(node):
            continue
        for source in node.src:
            base = source.base
            if base.op not in _UNUSED:
                uses[base].append(Use(node, source))
    return found
