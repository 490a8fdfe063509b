"""Former identities of leaves: the nodes of a leaf from before it was written or moved.

A write to a leaf (under `no_grad`) gives the leaf a new node. Operations that were recorded before
read the old node, and the gradient of the old node is that of the leaf. If the leaf owns memory,
the old node is below the new one (`versions`). Otherwise this module stores the old node by a weak
reference.

in:  leaves and their nodes      out: the leaf to which a node belongs
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
    """A node, and for memory that is about to be written its content until then."""
    found = [node]
    while (below := node.base).op is Ops.ASSIGN:
        node = below.src[0]
        found.append(node)
    return found


def remember_leaf(former: UOp, leaf: TensorBase) -> None:
    """Store `former` as a node that `leaf` had until now."""
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
    """Note that the nodes of these leaves are about to be replaced. In graphs that were saved
    before, the old content of memory that a leaf leaves still belongs to the leaf."""
    for leaf in leaves:
        memory = versions(leaf._uop)[-1].base
        if memory.op in _MEMORY:
            after = becomes.get(leaf._uop.base)
            after = leaf._uop.substitute(becomes) if after is None else after
            if _memory_of(after) != _memory_of(memory):
                history.owner_moved(memory, ref(leaf))
                history.bump_version(memory)


def _memory_of(node: UOp) -> list[UOp]:
    memory = versions(node)[-1].base
    return history.buffers(memory) if memory.op in _MEMORY else []


def former_identities(leaves: Iterable[TensorBase]) -> dict[UOp, list[TensorBase]]:
    """For each former node of these leaves, the leaves that had it."""
    found: dict[UOp, list[TensorBase]] = {}
    if owners:
        known = {id(leaf): leaf for leaf in leaves}
        for node, references in list(owners.items()):
            there = [known[id(t)] for r in references if (t := r()) is not None and id(t) in known]
            if there:
                found[node] = there
    return found


def follows_nodes() -> bool:
    """Whether there is a former identity that `follow` may have to change."""
    return len(owners) > 0


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
