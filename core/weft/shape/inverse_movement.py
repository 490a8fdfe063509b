"""Inverse movement: the move that leads back to the shape before a move.

in:  a movement op, its checked arg, the shape before it
out: the op and the arg of the inverse
"""

from __future__ import annotations

from typing import Any

from weft.base.errors import ArgumentError
from weft.base.sequences import argsort
from weft.shape.view import Shape
from weft.uop import Ops
from weft.uop.symbolic.sint import fold


def inverse_move(op: Ops, arg: Any, shape: Shape) -> tuple[Ops, Any]:
    """The move that leads from the moved value back to `shape`, the shape before the move.

    The inverse of PAD is a SHRINK, that of SHRINK a PAD with zeros. The inverse of EXPAND is
    REDUCE_AXIS over the axes that were repeated, given as a tuple of axes: what gradients need.
    """
    if op is Ops.RESHAPE:
        return op, shape
    if op is Ops.PERMUTE:
        return op, argsort(arg)
    if op is Ops.FLIP:
        return op, arg
    if op is Ops.PAD:
        return Ops.SHRINK, tuple(
            [(before, fold(before + extent)) for (before, _), extent in zip(arg, shape)]
        )
    if op is Ops.SHRINK:
        return Ops.PAD, tuple(
            [(start, fold(extent - stop)) for (start, stop), extent in zip(arg, shape)]
        )
    if op is Ops.EXPAND:
        return Ops.REDUCE_AXIS, tuple(
            [axis for axis, (old, new) in enumerate(zip(shape, arg)) if old != new]
        )
    raise ArgumentError(f"{op} is no movement", asked=f"the inverse of {op}")
