"""Padding elimination: pad one factor of a product only, and repeat the other one.

A factor that is constant along an axis, such as the weights of a convolution along its images, is
expanded further instead of padded. It is then read without a mask, is contiguous, and can be
packed. In the padding the product is zero times such an element, as in a convolution with zero
padding.

in:  movement of a product
out: the product of the moved factors

Source: none known; zero times a finite number is zero, so that one padded factor is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.sequences import prod
from weft.schedule.movement_lists import moves_between
from weft.uop import Ops, UOp


def pad_one_factor(moved: UOp) -> UOp:
    """`moved` with its movement below the product, so that only one factor is padded; itself where
    it is no product."""
    product = moved.base
    moves = moves_between(moved, product)
    if product.op is not Ops.MUL or not any(move.op is Ops.PAD for move in moves):
        return moved
    if any(factor.shape != product.shape for factor in product.src):
        return moved
    one, other = product.src
    for move in moves:
        if move.op is Ops.PAD:
            one, other = _padded_factors(one, other, move.arg)
        else:
            one, other = (UOp(move.op, f.dtype, (f,), move.arg) for f in (one, other))
    return product.over((one, other))


def _padded_factors(one: UOp, other: UOp, pads: Sequence[tuple[int, int]]) -> tuple[UOp, UOp]:
    """Two factors of which, along each padded axis, one is repeated if it can be."""
    padding: tuple[list[Any], list[Any]] = ([(0, 0)] * len(pads), [(0, 0)] * len(pads))
    for axis, pad in enumerate(pads):
        if pad == (0, 0):
            continue
        if (longer := extended(other, axis, sum(pad))) is not None:
            other, padded = longer, (0,)
        elif (longer := extended(one, axis, sum(pad))) is not None:
            one, padded = longer, (1,)
        else:
            padded = (0, 1)
        for factor in padded:
            padding[factor][axis] = pad
    made: list[UOp] = []
    for factor, around in zip((one, other), padding):
        needed = any(pad != (0, 0) for pad in around)
        made.append(UOp(Ops.PAD, factor.dtype, (factor,), tuple(around)) if needed else factor)
    return made[0], made[1]


def extended(node: UOp, axis: int, more: int) -> UOp | None:
    """`node`, which is constant along an axis, longer by `more`; None where it is not constant."""
    shape = node.shape
    if shape[axis] == 1:
        return node.expand(_extended_argument(shape, axis, more))
    place, arg = axis, node.arg
    if node.op is Ops.EXPAND:
        arg = _extended_argument(shape, axis, more)
        if node.src[0].shape[axis] == 1:
            return UOp(Ops.EXPAND, node.dtype, node.src, arg)
    elif node.op is Ops.RESHAPE:
        found = _axis_before_reshape(node.src[0].shape, shape, axis)
        if found is None:
            return None
        place, arg = found, _extended_argument(shape, axis, more)
    elif node.op is Ops.PERMUTE:
        place = node.arg[axis]
    elif node.op is Ops.SHRINK:
        if node.arg[axis] != (0, node.src[0].shape[axis]):
            return None
        window = (0, shape[axis] + more)
        arg = (*node.arg[:axis], window, *node.arg[axis + 1 :])
    elif node.op is Ops.PAD:
        if node.arg[axis] != (0, 0):
            return None
    elif node.op is not Ops.FLIP and node.op is not Ops.CAST:
        return None
    source = extended(node.src[0], place, more)
    return None if source is None else UOp(node.op, node.dtype, (source,), arg)


def _extended_argument(shape: Sequence[Any], axis: int, more: int) -> tuple[Any, ...]:
    """The argument of a movement whose axis is longer by `more`."""
    return (*shape[:axis], shape[axis] + more, *shape[axis + 1 :])


def _axis_before_reshape(before: Sequence[Any], after: Sequence[Any], axis: int) -> int | None:
    """The axis of a reshape's source with the same extent and as many elements after it."""
    behind = prod(after[axis + 1 :])
    for place, extent in enumerate(before):
        if extent == after[axis] and prod(before[place + 1 :]) == behind:
            return place
    return None
