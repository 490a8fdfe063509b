"""Former identities of leaves: nodes that stood for a leaf before it was written or moved.

A leaf that is written (under `no_grad`) has another node from then on. What was recorded before
reads the old node, and its gradient is the leaf's. Where the leaf owns memory the old node is below
the new one (`versions`); elsewhere it is remembered for as long as it lasts.

in:  leaves and their nodes      out: the leaf that a node stands for
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from weakref import ref

from weft.autograd import history
from weft.autograd.history import owners
from weft.uop import Ops, UOp

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase


_MEMORY = frozenset({Ops.BUFFER, Ops.MULTI})


def versions(node: UOp) -> list[UOp]:
    """A node, and where it is memory that is about to be written what stands there until then."""
    found = [node]
    while (below := node.base).op is Ops.ASSIGN:
        node = below.src[0]
        found.append(node)
    return found


def remember_leaf(former: UOp, leaf: TensorBase) -> None:
    """`former` stood for `leaf` until now."""
    below = [version.base for version in versions(leaf._uop)[1:]]
    for node in versions(former):
        if node is not leaf._uop and not any(node.base is each for each in below):
            _own(node, [ref(leaf)])
            if node.base.op in _MEMORY:
                history.owner_moved(node.base, ref(leaf))


def _own(node: UOp, leaves: Iterable[ref[TensorBase]]) -> None:
    known = owners.setdefault(node, [])
    # a reference compares as the tensor that it refers to, and there is one of each
    known += [each for each in leaves if not any(each is other for other in known)]


def note_moves(leaves: Iterable[TensorBase], becomes: Mapping[UOp, UOp]) -> None:
    """The nodes of these leaves are about to be replaced. To graphs that were kept until now what
    stood in memory that a leaf leaves is the leaf's still."""
    for leaf in leaves:
        memory = versions(leaf._uop)[-1].base
        if memory.op in _MEMORY:
            after = becomes.get(leaf._uop.base)
            after = leaf._uop.substitute(becomes) if after is None else after
            if _stands_in(after) != _stands_in(memory):
                history.owner_moved(memory, ref(leaf))
                history.bump_version(memory)


def _stands_in(node: UOp) -> list[UOp]:
    memory = versions(node)[-1].base
    return history.buffers(memory) if memory.op in _MEMORY else []


def former_identities(leaves: Iterable[TensorBase]) -> dict[UOp, list[TensorBase]]:
    """By node that stood for any of these leaves, those leaves."""
    found: dict[UOp, list[TensorBase]] = {}
    if owners:
        known = {id(leaf): leaf for leaf in leaves}
        for node, references in list(owners.items()):
            there = [known[id(t)] for r in references if (t := r()) is not None and id(t) in known]
            if there:
                found[node] = there
    return found


def follow(becomes: Mapping[UOp, UOp]) -> list[UOp]:
    """Nodes are about to be replaced in all graphs: gives what the identities become."""
    if not owners or not becomes:
        return []
    nodes = list(owners)
    changed = UOp(Ops.SINK, src=tuple(nodes)).substitute(becomes).src
    for node, new in zip(nodes, changed):
        if new is not node and (found := owners.pop(node, None)) is not None:
            _own(new, found)
    return list(changed)
