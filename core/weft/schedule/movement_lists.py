"""Movement lists: take movement ops off a value, apply them to another, or invert them.

Source: none known; each movement op maps indices to indices, so that lists of them compose and
invert one by one.
"""

from __future__ import annotations

from weft.uop import Ops, UOp

# movement under which every element still is there once
REARRANGES = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP})


def moves_between(node: UOp, base: UOp) -> list[UOp]:
    """The movement nodes from `base` up to `node`, lowest first."""
    moves = []
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
        if move.op is Ops.RESHAPE:
            node = node.reshape(move.src[0].shape)
        elif move.op is Ops.PERMUTE:
            order = tuple(sorted(range(len(move.arg)), key=move.arg.__getitem__))
            node = node.permute(order)
        else:
            node = UOp(Ops.FLIP, node.dtype, (node,), move.arg)
    return node


def is_static(node: UOp) -> bool:
    """Whether no extent is symbolic."""
    return not any(isinstance(extent, UOp) for extent in node.shape)
