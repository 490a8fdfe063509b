"""The memory that a node is the whole of."""

from __future__ import annotations

from weft.uop import Ops, UOp
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
