"""Peephole rules: rewrite operations that no C dialect has to simpler ones.
Also: instruction selection.

in:  spec.lowered, all passes done
out: the same, with
- logic instead of arithmetic on booleans;
- casts from floats to narrow integers through int32, and casts to booleans as comparisons;
- no vectors of one lane, and no extraction of a lane that is known.

Source: McKeeman, "Peephole Optimization", Communications of the ACM 8, 1965.
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.uop import Ops, PatternMatcher, UOp, UPat

C_RULES = PatternMatcher("c")

BOOLEAN_LOGIC = {
    Ops.ADD: Ops.OR, Ops.MAX: Ops.OR, Ops.MUL: Ops.AND, Ops.SUB: Ops.XOR, Ops.CMPNE: Ops.XOR,
}  # fmt: skip
"""Arithmetic on booleans as logic."""
_NARROW = frozenset({dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16})


@C_RULES.rule(UPat((*BOOLEAN_LOGIC, Ops.CMPLT, Ops.CMPEQ, Ops.NEG), name="root"))
def boolean_arithmetic_is_logic(root: UOp) -> UOp | None:
    """a + b -> a | b, a * b -> a & b, a < b -> !a & b, and so on   when a is boolean."""
    if not dtypes.is_bool(root.src[0].dtype):
        return None
    if root.op is Ops.NEG:
        return root.src[0]
    a, b = root.src
    if root.op is Ops.CMPLT:
        return a.alu(Ops.XOR, a.const_like(True)).alu(Ops.AND, b)
    if root.op is Ops.CMPEQ:
        return a.alu(Ops.XOR, b).alu(Ops.XOR, a.const_like(True))
    return a.alu(BOOLEAN_LOGIC[root.op], b)


@C_RULES.rule(UPat(Ops.CAST, name="cast", src=(UPat.var("value"),)))
def float_to_narrow_integer(cast: UOp, value: UOp) -> UOp | None:
    """cast(x, int8) -> cast(cast(x, int32), int8)   when x is a float; likewise uint32 by int64."""
    if not dtypes.is_float(value.dtype):
        return None
    scalar, lanes = cast.dtype.scalar(), cast.dtype.count
    if scalar in _NARROW:
        return value.cast(dtypes.int32.vec(lanes)).cast(cast.dtype)
    if scalar is dtypes.uint32:
        return value.cast(dtypes.int64.vec(lanes)).cast(cast.dtype)
    return None


@C_RULES.rule(UPat(Ops.CAST, name="cast", src=(UPat.var("value"),)))
def cast_to_boolean_compares(cast: UOp, value: UOp) -> UOp | None:
    """cast(x, bool) -> x != 0"""
    if not dtypes.is_bool(cast.dtype) or dtypes.is_bool(value.dtype):
        return None
    return value.ne(value.const_like(0))


@C_RULES.rule(UPat(Ops.GEP, name="pick", src=(UPat(Ops.VECTORIZE, name="vector"),)))
def lane_at_hand(pick: UOp, vector: UOp) -> UOp:
    """lane(vector(a, b, ...), i) -> the i-th of them"""
    picked: tuple[int, ...] = pick.arg
    lanes = tuple(vector.src[lane] for lane in picked)
    return lanes[0] if len(lanes) == 1 else UOp(Ops.VECTORIZE, pick.dtype, lanes)


@C_RULES.rule(UPat(Ops.GEP, name="pick", src=(UPat.var("value"),)))
def all_lanes(pick: UOp, value: UOp) -> UOp | None:
    """lanes(x, 0, 1, ..., n - 1) -> x   when x has n lanes."""
    return value if pick.arg == tuple(range(value.dtype.count)) else None


@C_RULES.rule(UPat((Ops.VECTORIZE, Ops.CAT), name="vector", src=(UPat.var("only"),)))
def vector_of_one(vector: UOp, only: UOp) -> UOp:
    """vector(x) -> x"""
    return only
