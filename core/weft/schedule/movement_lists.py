"""Movement lists: take movement ops off a value, apply them to another, or invert them.

Source: none known; each movement op maps indices to indices, so that lists of them compose and
invert one by one.
"""

from __future__ import annotations

from typing import Any

from weft.base.sequences import prod
from weft.shape import ShapeTracker, inverse_move
from weft.uop import GroupOp, Ops, UOp

# movement under which every element still is there once
REARRANGES = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP})


def moves_between(node: UOp, base: UOp) -> list[UOp]:
    """The movement nodes from `base` up to `node`, lowest first."""
    moves: list[UOp] = []
    while node is not base:
        moves.append(node)
        node = node.src[0]
    return moves[::-1]


def apply_moves(node: UOp, moves: list[UOp]) -> UOp:
    """The movement ops `moves` applied to `node`."""
    for move in moves:
        node = UOp(move.op, node.dtype, (node,), move.arg)
    return node


def transfer_moves(node: UOp, base: UOp, other: UOp) -> UOp:
    """The movement between `base` and `node`, applied to `other`."""
    return apply_moves(other, moves_between(node, base))


def invert_moves(node: UOp, moves: list[UOp]) -> UOp:
    """`node`, the last of `moves`, with all of them (rearrangements) inverted."""
    for move in reversed(moves):
        op, arg = inverse_move(move.op, move.arg, move.src[0].shape)
        node = UOp(op, node.dtype, (node,), arg)
    return node


def is_static(node: UOp) -> bool:
    """Whether no extent is symbolic."""
    return not any(isinstance(extent, UOp) for extent in node.shape)


def has_expand(node: UOp) -> bool:
    """Whether there is an expand, which repeats elements, in the movement on top of a value."""
    while node.op in GroupOp.Movement:
        if node.op is Ops.EXPAND:
            return True
        node = node.src[0]
    return False


def is_whole(node: UOp) -> bool:
    """Whether a view is all of its base, in its order: the base itself, or a reshape of it."""
    base = node.base
    return node is base or (node.st.contiguous and node.size == base.size)


def is_reshape(node: UOp, base: UOp) -> bool:
    """Whether movement keeps all elements of `base` in their order."""
    if node is base:
        return True
    return prod(node.shape) == prod(base.shape) and node.st.simplify().contiguous


def dense_offset(st: ShapeTracker) -> Any:
    """The first element of a view that is one contiguous range; None where it is none."""
    if len(st.views) != 1 or st.views[0].mask is not None:
        return None
    expected: Any = 1
    for extent, stride in zip(reversed(st.shape), reversed(st.views[0].strides)):
        if extent != 1 and stride != expected:
            return None
        expected *= extent
    return st.views[0].offset
