"""Constant detection: find values that are one constant everywhere, also below movement ops.

Source: Muchnick, "Advanced Compiler Design and Implementation", 1997, section 12.1 (constant
folding).
"""

from __future__ import annotations

from typing import Any

from weft.base.scalars import is_positive_zero
from weft.uop import GroupOp, Ops, UOp


def constant_of(node: UOp) -> UOp | None:
    """The CONST that every element of `node` equals, if it is a constant under movement."""
    padded = False
    while node.op in GroupOp.Movement:
        padded = padded or node.op is Ops.PAD
        node = node.src[0]
    if node.op is not Ops.CONST:
        return None
    return node if not padded or is_positive_zero(node.arg) else None


def full(shape: tuple[Any, ...], const: UOp) -> UOp:
    """`const` in every element of `shape`."""
    if not shape:
        return const
    return const.reshape((1,) * len(shape)).expand(shape)


def constant_like(node: UOp, value: Any) -> UOp:
    """`value` in the shape, dtype and place of `node`."""
    return full(node.shape, UOp.const(node.dtype, value, node.device))
