"""Storage of a node: the buffer that it is the whole of, or a contiguous window of."""

from __future__ import annotations

from weft.shape import View
from weft.tensor.live_tensors import shares_bytes
from weft.uop import GroupOp, Ops, UOp, parts_of


def owned_storage(node: UOp) -> UOp | None:
    """The BUFFER, or the last ASSIGN to it, if `node` is all of it in row-major order; or None.

    For a sharded value it is the MULTI, if that is so for all of its parts.
    """
    while node.op is Ops.RESHAPE:
        node = node.src[0]
    if node.op is Ops.MULTI:
        owned = (0 in part.shape or owned_storage(part) is not None for part in parts_of(node))
        return node if all(owned) else None
    return node if node.op in (Ops.BUFFER, Ops.ASSIGN) else None


def window_start(node: UOp) -> int | None:
    """The offset of a contiguous window of `node.base`, in elements; None if `node` is none."""
    if node.base is node:
        return 0
    found = node.st.simplify().views
    if len(found) != 1 or not found[0].static or found[0].mask is not None:
        return None
    view = found[0]
    return view.offset if view.strides == View.create(view.shape).strides else None


def is_window(node: UOp) -> bool:
    """Whether a node is a contiguous window of stored memory, possibly bitcast."""
    while node.op is Ops.RESHAPE:  # of a contiguous window, and of that alone, it is one too
        node = node.src[0]
    while node.op in GroupOp.Movement or node.op in (Ops.BITCAST, Ops.DETACH):
        if node.op in GroupOp.Movement:
            if window_start(node) is None:
                return False
            node = node.base
        else:
            node = node.src[0]
    return node.op is not Ops.CAST


def moves_over_memory(node: UOp) -> UOp:
    """The movement ops of a node over its memory, without bitcasts."""
    moves = []
    while node.op in GroupOp.Movement or node.op in (Ops.BITCAST, Ops.DETACH):
        if node.op in GroupOp.Movement:
            moves.append(node)
        elif node.op is Ops.BITCAST and not shares_bytes(node):
            break
        node = node.src[0]
    for move in reversed(moves):
        node = UOp(move.op, node.dtype, (node,), move.arg)
    return node
