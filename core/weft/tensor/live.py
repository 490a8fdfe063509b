"""The tensors that are alive, weakly: a realised graph must be put back under every one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import ref

from weft.autograd.backward import leading_to
from weft.schedule.arange import is_counter
from weft.uop import Ops, UOp
from weft.uop.sharding import parts_of

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

# Weak references in the order of their making, so that equal programs meet their tensors in equal
# order: a reference hashes and compares as the tensor it looks at, by identity. What enters and
# leaves them are methods in C, so that a tensor is registered in about 0.2 us.
_live: dict[ref[TensorBase], None] = {}

remember = _live.setdefault
"""Register a tensor: `remember(ref(tensor, forget))`."""

forget = _live.__delitem__
"""The callback of that reference."""

# graphs that end here have nothing pending
SETTLED = frozenset({Ops.BUFFER, Ops.CONST})


def live_tensors() -> list[TensorBase]:
    """Every tensor that is alive now, the oldest first."""
    # A copy first: a tensor may die, and leave the table, while it is walked.
    found = [reference() for reference in list(_live)]
    return [tensor for tensor in found if tensor is not None]


def waiting_tensors() -> list[TensorBase]:
    """Those of which something is pending."""
    found = []
    for reference in list(_live):  # there may be thousands, and most of them are plain memory
        tensor = reference()
        if tensor is None:
            continue
        node = tensor._uop
        below = node.src[0] if node.op is Ops.RESHAPE else node
        if below.op not in SETTLED and not is_settled(node):
            found.append(tensor)
    return found


def is_settled(node: UOp) -> bool:
    """Whether nothing is pending: memory, a constant or a counter, or parts that are that."""
    base = node.base
    while base.op is Ops.DETACH:
        base = base.src[0].base
    if base.op is Ops.MULTI:
        return all(part.base.op in SETTLED for part in parts_of(base))
    return base.op in SETTLED or is_counter(base)


def put_back(becomes: Mapping[UOp, UOp]) -> None:
    """Replace nodes in the graphs of all live tensors.

    Where gradients are to flow from a tensor, values on the way that nobody holds stay as they are
    computed: memory in their place would end the way, and the gradient would lack that part.
    """
    if not becomes:
        return
    waiting = waiting_tensors()
    leaves = [t._uop for t in live_tensors() if t._requires_grad and t.is_leaf]
    becomes = _still_detached(becomes, leaves) if leaves else becomes
    # a leaf is what it is itself, and False says that nobody asks for a gradient
    derived = [t for t in waiting if leaves and t._requires_grad is not False]
    derived = [t for t in derived if not (t._requires_grad and t.is_leaf)]
    if derived:
        kept = _on_the_way(derived, leaves, waiting)
        _replace(derived, {n: v for n, v in becomes.items() if n not in kept})
        known = {id(t) for t in derived}
        waiting = [t for t in waiting if id(t) not in known]
    _replace(waiting, becomes)


def _still_detached(becomes: Mapping[UOp, UOp], leaves: list[UOp]) -> Mapping[UOp, UOp]:
    """A detached leaf has the leaf's own memory: it stays detached."""
    memory = {becomes.get(node.base, node.base).base for node in leaves}
    marks = {
        node: UOp(Ops.DETACH, stored.dtype, (stored,))
        for node, stored in becomes.items()
        if node.op is Ops.DETACH and stored.base in memory
    }
    return {**becomes, **marks} if marks else becomes


def _on_the_way(
    derived: list[TensorBase], leaves: list[UOp], waiting: list[TensorBase]
) -> set[UOp]:
    """What stands between tensors and the leaves below them, but for what tensors hold."""
    found = leading_to(UOp(Ops.SINK, src=tuple({t._uop: None for t in derived})), leaves)
    held = {t._uop for t in waiting} | {t._uop.base for t in waiting}
    # a write is carried out once: what it stood for is memory from then on
    return {n for n in found if n.op is not Ops.ASSIGN} - held - set(leaves)


def _replace(tensors: list[TensorBase], becomes: Mapping[UOp, UOp]) -> None:
    if not tensors or not becomes:
        return
    graphs = list(dict.fromkeys(t._uop for t in tensors))
    changed = UOp(Ops.SINK, src=tuple(graphs)).substitute(becomes).src
    new = dict(zip(graphs, changed))
    for tensor in tensors:
        # another thread may have given its own tensor another node meanwhile: that one stays
        tensor._uop = new.get(tensor._uop, tensor._uop)
