"""Former identities of leaves: nodes that stood for a leaf before it was written.

A leaf that is written (under `no_grad`) has another node from then on. What was recorded before
reads the old node, and its gradient is the leaf's. Where the leaf owns memory the old node is below
the new one (`versions`); elsewhere it is remembered here for as long as it lasts.

in:  leaves and their nodes      out: the leaf that a node stands for
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from weft.uop import Ops, UOp

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

_leaves: WeakKeyDictionary[UOp, list[ref[TensorBase]]] = WeakKeyDictionary()


def versions(node: UOp) -> list[UOp]:
    """A node, and where it is memory that is about to be written what stands there until then."""
    found = [node]
    while (below := node.base).op is Ops.ASSIGN:
        node = below.src[0]
        found.append(node)
    return found


def remember_leaf(node: UOp, leaf: TensorBase) -> None:
    """`node` stood for `leaf` until now."""
    if all(version.base is not node.base for version in versions(leaf._uop)):
        _leaves.setdefault(node, []).append(ref(leaf))


def former_identities(leaves: Iterable[TensorBase]) -> dict[UOp, list[TensorBase]]:
    """By node that stood for any of these leaves, those leaves."""
    found: dict[UOp, list[TensorBase]] = {}
    if _leaves:
        known = {id(leaf): leaf for leaf in leaves}
        for node, references in list(_leaves.items()):
            there = [known[id(t)] for r in references if (t := r()) is not None and id(t) in known]
            if there:
                found[node] = there
    return found


def follow(becomes: Mapping[UOp, UOp]) -> list[UOp]:
    """Nodes are about to be replaced in all graphs: gives what the identities become."""
    if not _leaves or not becomes:
        return []
    nodes = list(_leaves)
    changed = UOp(Ops.SINK, src=tuple(nodes)).substitute(becomes).src
    for node, new in zip(nodes, changed):
        if new is not node and (found := _leaves.pop(node, None)) is not None:
            _leaves.setdefault(new, []).extend(found)
    return list(changed)
