"""The last rewrites for Metal, besides those that every C wants.

in: spec.lowered, all passes done        out: the same, with shifts and masks for what indices are
divided by, which a compiler that does not know their signs would take several operations for
"""

from __future__ import annotations

from weft.plugin import Ops, PatternMatcher, UOp, UPat, dtypes

METAL_RULES = PatternMatcher("metal")


@METAL_RULES.rule(
    UPat((Ops.IDIV, Ops.MOD), name="root", src=(UPat.var("x"), UPat(Ops.CONST, name="by")))
)
def powers_of_two_are_bits(root: UOp, x: UOp, by: UOp) -> UOp | None:
    """x / 2**n -> x >> n, x % 2**n -> x & (2**n - 1)   when x is an index that is not negative."""
    if root.dtype not in (dtypes.int32, dtypes.int64) or by.arg <= 1 or by.arg & (by.arg - 1):
        return None
    if x.vmin < 0:
        return None
    if root.op is Ops.MOD:
        return x.alu(Ops.AND, x.const_like(by.arg - 1))
    return x.alu(Ops.SHR, x.const_like(by.arg.bit_length() - 1))
