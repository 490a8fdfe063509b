"""The tensors that are alive, weakly: a realised graph must be put back under every one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import ref

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
    if base.op is Ops.MULTI:
        return all(part.base.op in SETTLED for part in parts_of(base))
    return base.op in SETTLED or is_counter(base)


def put_back(becomes: Mapping[UOp, UOp]) -> None:
    """Replace nodes in the graphs of all live tensors."""
    if not becomes:
        return
    waiting = waiting_tensors()
    if not waiting:
        return
    graphs = list(dict.fromkeys(t._uop for t in waiting))
    changed = UOp(Ops.SINK, src=tuple(graphs)).substitute(becomes).src
    new = dict(zip(graphs, changed))
    for tensor in waiting:
        tensor._uop = new[tensor._uop]
