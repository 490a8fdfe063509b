"""Signed overflow: compute a signed operation that may overflow in unsigned integers.
Also: wraparound arithmetic, two's complement.

Operations of weft wrap around. Overflow of signed integers is undefined in C and in the languages
that descend from it: LLVM turns ``x + INT_MIN`` into ``x | INT_MIN``, for instance. Interval
analysis finds the operations that cannot overflow, index arithmetic above all; these keep their
dtype.

Source: ISO/IEC 9899:1999, sections 6.2.5 (unsigned integers wrap) and 6.5 (overflow is undefined).
"""

from __future__ import annotations

from weft.base.dtype import DType, dtypes
from weft.render.dialect import CDialect
from weft.render.helpers import Helpers
from weft.render.precedence import LOOSE, UNARY, Expression
from weft.uop import Ops, UOp, may_leave

MAY_LEAVE_WIDTH = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.SHL, Ops.MULACC})
PROMOTED = frozenset({dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16})
"""C computes scalars of these dtypes as int."""
_UNSIGNED = {
    dtypes.int8: dtypes.uint8,
    dtypes.int16: dtypes.uint16,
    dtypes.int32: dtypes.uint32,
    dtypes.int64: dtypes.uint64,
}


class WraparoundExpressions:
    """Writes operands and results of signed operations as unsigned integers.

    known: the expressions of the nodes so far.
    signed_wraps: the language defines the overflow of signed integers, so that nothing is to do.
    """

    def __init__(self, dialect: CDialect, helpers: Helpers, signed_wraps: bool) -> None:
        self.signed_wraps = signed_wraps
        self.dialect = dialect
        self.helpers = helpers
        self.known: dict[UOp, Expression] = {}
        self._wrapped: dict[UOp, tuple[Expression, Expression]] = {}

    def text(self, u: UOp, level: int = LOOSE, mask: int = 0) -> str:
        """A known node as an operand that binds at least this tightly; as a mask of that width."""
        raise NotImplementedError

    def unsigned_dtype(self, u: UOp) -> DType | None:
        """The unsigned dtype in which a signed operation must be computed; None: in its own."""
        scalar = u.dtype.scalar()
        if self.signed_wraps or u.op not in MAY_LEAVE_WIDTH or not dtypes.is_int(scalar):
            return None
        if scalar in PROMOTED and u.dtype.count == 1:
            scalar = dtypes.int32
        unsigned = _UNSIGNED.get(scalar)
        return unsigned and unsigned.vec(u.dtype.count) if may_leave(u, scalar) else None

    def as_unsigned(self, u: UOp, unsigned: DType, level: int) -> str:
        """A known node as an operand of the unsigned dtype, that binds at least this tightly."""
        outer, inner = self._wrapped.get(u, (None, None))
        if inner is not None and outer is self.known[u] and u.dtype not in PROMOTED:
            return f"({inner.text})" if inner.level < level else inner.text
        if u.op is Ops.CONST:
            return self.helpers.scalar(u.arg % (unsigned.scalar().max + 1), unsigned)
        if u.dtype.count > 1:
            return self.helpers.bits(self.text(u), u.dtype, unsigned)
        return f"({self.helpers.type(unsigned)}){self.text(u, UNARY)}"

    def wrapped(self, u: UOp, unsigned: DType, found: Expression) -> Expression:
        """An expression of the unsigned dtype as one of the node's dtype."""
        if u.dtype.count > 1:
            result = Expression(self.helpers.bits(found.text, unsigned, u.dtype), UNARY)
        else:
            result = Expression(f"({self.helpers.type(u.dtype)})({found.text})", UNARY)
        self._wrapped[u] = result, found
        return result
