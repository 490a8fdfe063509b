"""Conditions of launch plans: when a pending tensor may be computed alone.

A plan computes one tensor. The other pending tensors may not read what it computes on the way, or
they would compute it again. The results of a host call are the exception. They are windows of one
value: a plan that computes one of them has computed all, and the graphs of the others continue from
the memory of the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.autograd import history
from weft.base.weak import WeakKeys
from weft.tensor.leaf_identities import follow
from weft.tensor.live_tensors import is_settled, waiting_tensors
from weft.uop import Ops, UOp

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

_below: WeakKeys[UOp, frozenset[UOp]] = WeakKeys()


def is_simple(tensor: TensorBase) -> bool:
    """Whether a tensor has no views and no gradient can flow through it."""
    flag = tensor._requires_grad
    return tensor._alias is None and not flag and (flag is False or tensor.is_leaf)


def is_apart(tensor: TensorBase, waiting: Sequence[TensorBase]) -> bool:
    """Whether no other pending tensor reads a node that is computed for this one, except the value
    of a host call with several results."""
    if len(waiting) == 1:
        return waiting[0] is tensor
    call = value_with_windows(tensor._uop)
    if call is not None:
        below = pending_below(call)
        return all(
            is_simple(other) and _reads_no_argument(other._uop, call, below)
            for other in waiting
            if other is not tensor
        )
    own = pending_below(tensor._uop) | {tensor._uop}
    return all(
        other is tensor or (other._uop not in own and own.isdisjoint(pending_below(other._uop)))
        for other in waiting
    )


def pending_below(root: UOp) -> frozenset[UOp]:
    """The nodes below one that have to be computed."""
    found = _below.get(root)
    if found is None:
        seen: set[UOp] = set()
        stack = list(root.src)
        while stack:
            node = stack.pop()
            if node not in seen and not is_settled(node):
                seen.add(node)
                stack.extend(node.src)
        found = _below[root] = frozenset(seen)
    return found


def set_values(tensor: TensorBase, call: UOp, made: UOp) -> None:
    """Give all tensors that read a host call the memory that holds its value."""
    becomes = {call: made}
    followed = [*follow(becomes), *history.replace_nodes(becomes)]
    readers = [other for other in waiting_tensors() if call in pending_below(other._uop)]
    _continue_from(readers or [tensor], call, made)
    del followed


def value_with_windows(node: UOp) -> UOp | None:
    """The HOST_CALL that `node` is one of several results of; None if it is none."""
    base = node.base
    return base if base.op is Ops.HOST_CALL and len(base.arg.outputs) > 1 else None


def _reads_no_argument(node: UOp, call: UOp, below: frozenset[UOp]) -> bool:
    """Whether a graph reads nodes below a call through its value only. below: the pending nodes
    below the call."""
    if node in below:
        return False
    above = node.toposort(gate=lambda u: u is not call)
    return below.isdisjoint(above)


def _continue_from(tensors: Sequence[TensorBase], call: UOp, memory: UOp) -> None:
    """Replace the value of a call by memory in the graphs of these tensors."""
    graphs = [tensor._uop for tensor in tensors]
    changed = UOp(Ops.SINK, src=tuple(graphs)).substitute({call: memory}).src
    for tensor, old, new in zip(tensors, graphs, changed):
        if tensor._uop is old:  # another thread may have changed it meanwhile
            tensor._uop = new
