"""Algebraic identities: rules that hold for every dtype, cheap, local and exact, in a table.
Also: constant propagation.

The rules for floats follow IEEE 754 exactly. x + 0.0 is not x for x = -0.0, and x * 0.0 is not 0.0
for NaN: the table has neither rule. x + -0.0, x * 1.0 and x / 1.0 are x. Integers wrap around, and
every rule holds for wrapping integers.

Source: S. Muchnick, "Advanced Compiler Design and Implementation" (1997), section 12.3.
"""

from __future__ import annotations

import math

from weft.base.dtype import dtypes
from weft.base.scalars import from_bits, to_bits, truncate
from weft.uop.bounds import bounds_of
from weft.uop.evaluate import exec_alu
from weft.uop.matcher import PatternMatcher, Rule
from weft.uop.node import UOp
from weft.uop.ops import GroupOp, Ops
from weft.uop.pattern import UPat

_CONSTANTS = frozenset({Ops.CONST, Ops.VCONST})
_WHOLE = (*dtypes.ints, dtypes.bool)

x, y = UPat.var("x"), UPat.var("y")
whole = UPat.var("x", dtype=_WHOLE)
truth = UPat.var("x", dtype=dtypes.bool)


def _zero(x: UOp) -> UOp:
    return x.const_like(0)


def _true(x: UOp) -> UOp:
    return x.const_like(True)


def _bitcast_once(x: UOp, y: UOp) -> UOp:
    return x.bitcast(y.dtype)


_IDENTITIES: list[Rule] = [
    # sums
    (whole + 0, lambda x: x),
    (UPat(Ops.SUB, src=(x, UPat.const(0))), lambda x: x),
    (UPat(Ops.SUB, src=(whole, whole)), _zero),
    # products
    (x * 1, lambda x: x),
    (whole * 0, _zero),
    # quotients and remainders
    (UPat(Ops.IDIV, src=(x, UPat.const(1))), lambda x: x),
    (UPat(Ops.IDIV, src=(x, UPat.const(-1))), lambda x: -x),
    (UPat(Ops.FDIV, src=(x, UPat.const(1))), lambda x: x),
    (UPat(Ops.MOD, src=(whole, UPat.const(1))), _zero),
    (UPat(Ops.MOD, src=(whole, whole)), _zero),
    # signs
    (UPat(Ops.NEG, src=(UPat(Ops.NEG, src=(x,)),)), lambda x: x),
    # shifts
    (UPat((Ops.SHL, Ops.SHR), src=(x, UPat.const(0))), lambda x: x),
    # bits and truth
    (UPat(Ops.AND, src=(x, x)), lambda x: x),
    (UPat(Ops.OR, src=(x, x)), lambda x: x),
    (UPat(Ops.MAX, src=(x, x)), lambda x: x),
    (UPat(Ops.XOR, src=(x, x)), _zero),
    (whole ^ 0, lambda x: x),
    (whole | 0, lambda x: x),
    (whole & 0, _zero),
    (truth & True, lambda x: x),
    (UPat(Ops.OR, src=[truth, UPat.const(True)]), _true),
    (UPat(Ops.CMPLT, src=(whole, whole)), lambda x: UOp.const(dtypes.bool, False)),
    (UPat(Ops.CMPEQ, src=(truth, UPat.const(True))), lambda x: x),
    (UPat(Ops.CMPNE, src=(truth, UPat.const(False))), lambda x: x),
    (
        UPat(Ops.CMPNE, src=(UPat(Ops.CMPNE, src=(truth, UPat.const(True))), UPat.const(True))),
        lambda x: x,
    ),
    # choices
    (UPat(Ops.WHERE, src=(UPat.const(True), x, y)), lambda x, y: x),
    (UPat(Ops.WHERE, src=(UPat.const(False), x, y)), lambda x, y: y),
    (UPat(Ops.WHERE, src=(y, x, x)), lambda x, y: x),
    # bits twice
    (UPat(Ops.BITCAST, name="y", src=(UPat(Ops.BITCAST, src=(x,)),)), _bitcast_once),
]  # fmt: skip

symbolic_simple = PatternMatcher(_IDENTITIES, name="symbolic_simple")


@symbolic_simple.rule(UPat(GroupOp.ALU, name="root"))
def fold_constants(root: UOp) -> UOp | None:
    """f(c, d) -> a constant"""
    for source in root.src:
        # constants with a device are not folded
        if source.op not in _CONSTANTS or source.src:
            return None
    value = exec_alu(root.op, root.dtype, [source.arg for source in root.src])
    return UOp.const(root.dtype, value)


@symbolic_simple.rule(
    UPat((Ops.CAST, Ops.BITCAST), src=(UPat(Ops.CONST, name="value"),), name="root")
)
def fold_cast_constant(root: UOp, value: UOp) -> UOp | None:
    """cast(c) -> c of that dtype"""
    if value.src or root.dtype.count > 1 or root.dtype is dtypes.void:
        return None
    if root.op is Ops.BITCAST:
        if root.dtype.itemsize != value.dtype.itemsize:
            return None
        return UOp.const(root.dtype, from_bits(to_bits(value.arg, value.dtype), root.dtype))
    number = value.arg
    if isinstance(number, float) and not dtypes.is_float(root.dtype):
        if root.dtype is dtypes.bool:
            return UOp.const(root.dtype, number != 0)
        if not math.isfinite(number) or not root.dtype.min <= int(number) <= root.dtype.max:
            return None  # undefined in C, so the device decides
        number = int(number)
    return UOp.const(root.dtype, truncate(number, root.dtype))


@symbolic_simple.rule(UPat(Ops.CAST, src=(x,), name="root"))
def drop_cast(root: UOp, x: UOp) -> UOp | None:
    """cast(x) -> x   when x is of that dtype already"""
    return x if x.dtype is root.dtype else None


@symbolic_simple.rule(UPat(Ops.CAST, src=(UPat(Ops.CAST, name="inner", src=(x,)),), name="root"))
def join_casts(root: UOp, inner: UOp, x: UOp) -> UOp | None:
    """cast(cast(x)) -> cast(x)   when the first keeps every value of x"""
    kinds = (x.dtype.scalar(), inner.dtype.scalar(), root.dtype.scalar())
    if not all(kind is dtypes.bool or dtypes.is_int(kind) for kind in kinds):
        return None
    low, high = bounds_of(x)
    if inner.dtype.scalar() is dtypes.bool or low < inner.dtype.min or high > inner.dtype.max:
        return None
    return x.cast(root.dtype)


_inner = UPat((Ops.ADD, Ops.MUL), src=(x, UPat(Ops.CONST, name="c")), name="inner")


@symbolic_simple.rule(
    UPat((Ops.ADD, Ops.MUL), src=(_inner, UPat(Ops.CONST, name="d")), name="root")
)
def join_constants(root: UOp, inner: UOp, x: UOp, c: UOp, d: UOp) -> UOp | None:
    """(x op c) op d -> x op (c op d)   for integers, whose arithmetic is modular"""
    if inner.op is not root.op or dtypes.is_float(root.dtype) or c.src or d.src:
        return None
    both = exec_alu(root.op, root.dtype, (c.arg, d.arg))
    return UOp(root.op, root.dtype, (x, UOp.const(root.dtype, both)))


@symbolic_simple.rule(UPat(Ops.ADD, dtype=dtypes.floats, src=[x, UPat(Ops.CONST, name="c")]))
def add_negative_zero(x: UOp, c: UOp) -> UOp | None:
    """x + -0.0 -> x   (but x + 0.0 maps -0.0 to 0.0)"""
    return x if c.arg == 0 and math.copysign(1.0, c.arg) < 0 else None


@symbolic_simple.rule(
    UPat(Ops.GEP, src=(UPat((Ops.VECTORIZE, Ops.VCONST), name="v"),), name="root")
)
def pick_lanes(root: UOp, v: UOp) -> UOp | None:
    """vectorize(a, b, ...)[lanes] -> those lanes"""
    picked: tuple[int, ...] = root.arg
    if v.op is Ops.VCONST:
        values = tuple(v.arg[lane] for lane in picked)
        return UOp.const(root.dtype, values[0] if len(values) == 1 else values)
    lanes = tuple([v.src[lane] for lane in picked])
    return lanes[0] if len(lanes) == 1 else UOp(Ops.VECTORIZE, root.dtype, lanes)
