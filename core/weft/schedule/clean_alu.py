"""Algebraic simplification: remove operations that one operand decides or leaves unchanged.

in:  spec.tensor
out: spec.tensor, every value equal, also for -0.0, infinities and NaN

Source: Muchnick, "Advanced Compiler Design and Implementation", 1997, section 12.3; XLA, pass
AlgebraicSimplifier.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from weft.base.dtype import DType, dtypes
from weft.base.promotion import can_safe_cast
from weft.schedule.constants import constant_like, constant_of
from weft.schedule.movement_lists import transfer_moves
from weft.schedule.use_def import SCALARS
from weft.uop import GroupOp, Ops, PatternMatcher, UOp, UPat

clean_alu = PatternMatcher("clean_alu")


Number = bool | int | float


def _is_all_ones(value: Number, dtype: DType) -> bool:
    return value == (dtype.max if dtypes.is_unsigned(dtype) or dtypes.is_bool(dtype) else -1)


def _is_neutral(op: Ops, value: Number, dtype: DType) -> bool:
    """Whether x op value is x."""
    if op is Ops.ADD:  # -0.0 + 0.0 is 0.0
        return value == 0 and (not dtypes.is_float(dtype) or math.copysign(1, value) < 0)
    if op is Ops.SUB:
        return value == 0 and (not dtypes.is_float(dtype) or math.copysign(1, value) > 0)
    if op in (Ops.MUL, Ops.FDIV, Ops.IDIV, Ops.POW):
        return value == 1
    if op in (Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR):
        return value == 0
    return op is Ops.AND and _is_all_ones(value, dtype)


def _absorbing_result(op: Ops, value: Number, dtype: DType) -> Number | None:
    """The value of x op value if it does not depend on x; otherwise None."""
    if op is Ops.POW:
        return 1 if value == 0 else None
    if dtypes.is_float(dtype):  # 0.0 * NaN is NaN, 0.0 * -1.0 is -0.0
        return None
    if op in (Ops.MUL, Ops.AND) and value == 0:
        return 0
    if op is Ops.MOD and value in (1, -1):
        return 0
    return value if op is Ops.OR and _is_all_ones(value, dtype) else None


# x op x, for whole numbers and bool
_OF_ITSELF: dict[Ops, Callable[[UOp], UOp]] = {
    Ops.SUB: lambda node: constant_like(node, 0),
    Ops.XOR: lambda node: constant_like(node, 0),
    Ops.MOD: lambda node: constant_like(node, 0),  # a remainder of nothing is 0 here
    Ops.CMPLT: lambda node: constant_like(node, False),
    Ops.CMPNE: lambda node: constant_like(node, False),
    Ops.CMPEQ: lambda node: constant_like(node, True),
    Ops.AND: lambda node: node.src[0],
    Ops.OR: lambda node: node.src[0],
    Ops.MAX: lambda node: node.src[0],
}


@clean_alu.rule(UPat(GroupOp.Binary, name="node"))
def known_operands(node: UOp) -> UOp | None:
    """x * 1, x - 0 -> x; x * 0, x & 0, x % 1 -> 0 for whole numbers; x ** 0, 1 ** x -> 1"""
    x, other = node.src
    if other.op is not Ops.CONST and node.op in GroupOp.Commutative:
        x, other = other, x
    if other.op is Ops.CONST and x.op not in SCALARS:
        if _is_neutral(node.op, other.arg, node.dtype):
            return x
        decided = _absorbing_result(node.op, other.arg, node.dtype)
        return None if decided is None else constant_like(node, decided)
    if node.op is Ops.POW and x.op is Ops.CONST and x.arg == 1 and other.op not in SCALARS:
        return constant_like(node, 1)
    return None


@clean_alu.rule(UPat(tuple(_OF_ITSELF), src=(UPat.var("x"), UPat.var("x")), name="node"))
def equal_operands(node: UOp, x: UOp) -> UOp | None:
    """x - x, x ^ x -> 0; x & x, max(x, x) -> x; x == x -> true, for integers and bool"""
    # of floats one side may be detached: what the larger is computed into keeps its own gradient
    if x.op in SCALARS or dtypes.is_float(x.dtype):
        return None
    return _OF_ITSELF[node.op](node)


@clean_alu.rule(UPat((Ops.CMPNE, Ops.CMPEQ), name="node"))
def comparison_with_boolean(node: UOp) -> UOp | None:
    """b == true, b != false -> b"""
    b, other = node.src
    if b.op is Ops.CONST:
        b, other = other, b
    if other.op is not Ops.CONST or not dtypes.is_bool(b.dtype) or b.op in SCALARS:
        return None
    return b if bool(other.arg) is (node.op is Ops.CMPEQ) else None


_x, _c = UPat.var("x"), UPat(Ops.CONST, name="c")


@clean_alu.rule(UPat(Ops.XOR, src=[UPat(Ops.XOR, src=[_x, _c]), UPat(Ops.CONST, name="d")]))
def double_xor(x: UOp, c: UOp, d: UOp) -> UOp | None:
    """x ^ c ^ c -> x, which includes not not x"""
    return x if c.arg == d.arg and x.op not in SCALARS else None


@clean_alu.rule(UPat(Ops.NEG, src=(UPat(Ops.NEG, src=(UPat.var("x"),)),)))
def double_negation(x: UOp) -> UOp:
    """-(-x) -> x"""
    return x


@clean_alu.rule(
    UPat(Ops.WHERE, src=(UPat.var("condition"), UPat.var("x"), UPat.var("x")), name="node")
)
def equal_branches(node: UOp, condition: UOp, x: UOp) -> UOp | None:
    """where(b, x, x) -> x, but not for floats: one of them may be detached (see
    `equal_operands`)"""
    if x.op is Ops.CONST and condition.op not in SCALARS:
        return constant_like(node, x.arg)
    return x if x.op not in SCALARS and not dtypes.is_float(x.dtype) else None


@clean_alu.rule(UPat(Ops.CAST, src=(UPat(Ops.CAST, name="inner"),), name="node"))
def double_cast(node: UOp, inner: UOp) -> UOp | None:
    """cast(cast(x)) -> x   when it has x's dtype and the first cast keeps every value"""
    x = inner.src[0]
    return x if x.dtype is node.dtype and can_safe_cast(x.dtype, inner.dtype) else None


@clean_alu.rule(UPat(Ops.CAST, src=(UPat.var("x"),), name="node"))
def casts_below_padding(node: UOp, x: UOp) -> UOp | None:
    """cast(pad(c)) -> pad(cast(c)): padding is zero in every dtype"""
    base = x.base
    if base.op is not Ops.CONST or constant_of(x) is not None or x is base:
        return None
    return transfer_moves(x, base, UOp.const(node.dtype, base.arg, base.device))
