"""Constant folding: build one node and simplify it at once.

It folds integers and booleans. Few algebraic identities hold for floats; only x + -0.0 is folded,
because `cat` produces it.

Source: S. Muchnick, 'Advanced Compiler Design and Implementation' (1997), chapter 12.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable

from weft.base.dtype import DType, dtypes
from weft.uop import GroupOp, Ops, UOp, exec_alu

_WHOLE = frozenset({dtypes.int, dtypes.long})
_CONDITIONS = frozenset({Ops.AND, Ops.OR, Ops.CMPNE})


def is_true(node: UOp) -> bool:
    """Whether this is the constant True."""
    return node.op is Ops.CONST and node.arg is True


def is_false(node: UOp) -> bool:
    """Whether this is the constant False."""
    return node.op is Ops.CONST and node.arg is False


def folded(op: Ops, dtype: DType, src: tuple[UOp, ...], arg: object = None) -> UOp:
    """`UOp(op, dtype, src, arg)`, or an equal and simpler node."""
    if op is Ops.WHERE:
        if src[0].op is Ops.CONST:
            return src[1] if src[0].arg else src[2]
        if src[1] is src[2]:
            return src[1]
        return UOp(op, dtype, src, arg)
    if op is Ops.CAST and src[0].op is Ops.CONST and src[0].arg.__class__ is int:
        return UOp.const(dtype, src[0].arg) if dtype in _WHOLE else UOp(op, dtype, src, arg)
    if op not in GroupOp.ALU or dtypes.is_float(dtype) or dtypes.is_float(src[0].dtype):
        if op is Ops.ADD and (_is_minus_zero(src[0]) or _is_minus_zero(src[1])):
            return src[1] if _is_minus_zero(src[0]) else src[0]
        return UOp(op, dtype, src, arg)
    for source in src:
        if source.op is not Ops.CONST:
            break
    else:
        return UOp.const(dtype, exec_alu(op, dtype, [source.arg for source in src]))
    if len(src) == 2:
        left, right = src
        if left.op is Ops.CONST and op in GroupOp.Commutative:
            left, right = right, left
        if right.op is Ops.CONST:
            known = _with_constant(op, dtype, left, right)
            if known is not None:
                return known
    return UOp(op, dtype, src, arg)


def conjunction(conditions: Iterable[UOp]) -> UOp:
    """All of several conditions, combined with AND in their order."""
    return functools.reduce(UOp.__and__, conditions)


def added(a: UOp, b: UOp | int) -> UOp:
    """The sum of two numbers, folded."""
    return folded(Ops.ADD, a.dtype, (a, a.const_like(b)))


def scaled(a: UOp, factor: int) -> UOp:
    """The product of a number and a constant, folded."""
    return folded(Ops.MUL, a.dtype, (a, a.const_like(factor)))


def refolded(node: UOp, new: UOp) -> UOp | None:
    """A rule of `rewrite_once`: fold an operation over new sources."""
    return None if new is node else folded(new.op, new.dtype, new.src, new.arg)


def vector_of(dtype: DType, row: tuple[UOp, ...]) -> UOp:
    """A vector of these lanes; if they are the lanes of one vector in order, that vector."""
    whole = row[0].src[0] if row[0].op is Ops.GEP else row[0]
    if whole.dtype is dtype and row == tuple(whole.gep(lane) for lane in range(len(row))):
        return whole
    return UOp(Ops.VECTORIZE, dtype, row)


def folded_and(a: UOp, b: UOp) -> UOp:
    """The conjunction of two conditions, folded."""
    return a if a is b else folded(Ops.AND, dtypes.bool, (a, b))


def _is_minus_zero(node: UOp) -> bool:
    return node.op is Ops.CONST and node.arg == 0 and math.copysign(1.0, node.arg) < 0


def _with_constant(op: Ops, dtype: DType, left: UOp, right: UOp) -> UOp | None:
    value = right.arg
    if dtype is dtypes.bool:
        if op in (Ops.AND, Ops.MUL):
            return left if value else right
        if op is Ops.OR:
            return right if value else left
        return left if op is Ops.CMPNE and value is False else None
    if op in (Ops.ADD, Ops.SUB, Ops.SHL, Ops.SHR, Ops.XOR) and value == 0:
        return left
    if op is Ops.ADD and left.op is Ops.ADD and left.src[1].op is Ops.CONST:
        total = exec_alu(op, dtype, [left.src[1].arg, value])
        return folded(op, dtype, (left.src[0], UOp.const(dtype, total)))
    if op in (Ops.MUL, Ops.IDIV) and value == 1:
        return left
    if op is Ops.MUL and value == 0:
        return right
    return None
