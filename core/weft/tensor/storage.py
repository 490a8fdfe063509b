"""The memory that a node is the whole of, or a window of."""

from __future__ import annotations

from weft.shape import View
from weft.tensor.live_tensors import shares_bytes
from weft.uop import GroupOp, Ops, UOp
from weft.uop.sharding import parts_of


def owned_storage(node: UOp) -> UOp | None:
    """The BUFFER, or the last ASSIGN over it, that `node` is the whole of, row-major; or None.

    Of a sharded value it is the MULTI all of whose parts are that.
    """
    while node.op is Ops.RESHAPE:
        node = node.src[0]
    if node.op is Ops.MULTI:
        owned = (0 in part.shape or owned_storage(part) is not None for part in parts_of(node))
        return node if all(owned) else None
    return node if node.op in (Ops.BUFFER, Ops.ASSIGN) else None


def window_start(node: UOp) -> int | None:
    """The first element of a contiguous window of `node.base`; None if `node` is none."""
    if node.base is node:
        return 0
    found = node.st.simplify().views
    if len(found) != 1 or not found[0].static or found[0].mask is not None:
        return None
    view = found[0]
    return view.offset if view.strides == View.create(view.shape).strides else None


def is_window(node: UOp) -> bool:
    """Whether a node is a contiguous window of a stored value, in its own dtype or another one."""
    while node.op in GroupOp.Movement or node.op in (Ops.BITCAST, Ops.DETACH):
        if node.op in GroupOp.Movement:
            if window_start(node) is None:
                return False
            node = node.base
        else:
            node = node.src[0]
    return node.op is not Ops.CAST


def moves_over_memory(node: UOp) -> UOp:
    """The moves of a node over its memory, whatever dtype the bytes there are taken for."""
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
