"""Expression printing: write one C expression per operation, with precedence, vectors and masks.

A vector of booleans is a mask: signed integers of 0 or -1, as wide as the lanes that were
compared. `Expression.mask` is that width in bytes. An operation on masks of two widths converts
one of them; compilers fold the conversion. Booleans in memory are bytes of 0 or 1.

Source: ISO/IEC 9899:1999, section 6.5 (expressions); OpenCL C specification, relational operators
(vector comparisons give 0 or -1).
"""

from __future__ import annotations

from collections.abc import Callable

from weft.base.dtype import DType, dtypes
from weft.base.errors import SpecError
from weft.render.dialect import CDialect
from weft.render.helpers import Helpers
from weft.render.precedence import (
    AND,
    ATOM,
    CHOICE,
    COMPARE,
    LEFT,
    LOOSE,
    OPERATORS,
    PLUS,
    RIGHT,
    SHIFT,
    TIMES,
    UNARY,
    Expression,
)
from weft.render.rules import BOOLEAN_LOGIC
from weft.render.signed_overflow import MAY_LEAVE_WIDTH, PROMOTED, WraparoundExpressions
from weft.render.statement_placement import is_pair
from weft.uop import GroupOp, Ops, UOp, bounds_of

_DIVIDE = frozenset({Ops.IDIV, Ops.MOD})
_MASK_LANE = {1: dtypes.int8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}


def is_mask(dtype: DType) -> bool:
    """Whether values of this dtype are masks."""
    return dtype.count > 1 and dtypes.is_bool(dtype)


def mask_dtype(width: int, lanes: int) -> DType:
    """The integers that a mask of `width` bytes per lane consists of."""
    return _MASK_LANE[width].vec(lanes)


class Expressions(WraparoundExpressions):
    """Writes the nodes of one kernel as expressions, over those written before.

    :param dialect: how the language spells things.
    :param helpers: collects the functions and types the kernel needs.
    :param signed_wraps: see `Extensions`.
    """

    def __init__(self, dialect: CDialect, helpers: Helpers, signed_wraps: bool = False) -> None:
        super().__init__(dialect, helpers, signed_wraps)
        self._writers: dict[Ops, Callable[[UOp], Expression]] = {
            **dict.fromkeys(OPERATORS, self._operator),
            Ops.CONST: self._const,
            Ops.VCONST: self._vconst,
            Ops.CAST: self._cast,
            Ops.BITCAST: self._bitcast,
            Ops.WHERE: self._where,
            Ops.MAX: self._maximum,
            Ops.NEG: self._negate,
            Ops.RECIP: self._reciprocal,
            **dict.fromkeys(GroupOp.Unary - {Ops.NEG, Ops.RECIP}, self._function),
            Ops.MULACC: self._multiply_add,
            Ops.VECTORIZE: self._vectorize,
            Ops.CAT: self._cat,
            Ops.GEP: self._lanes,
            Ops.CUSTOMI: self._custom,
        }

    def of(self, u: UOp) -> Expression:
        """The expression of a node whose sources are known.

        :raises SpecError: if this language has no such operation.
        """
        writer = self._writers.get(u.op)
        if writer is None:
            raise SpecError(
                f"{u.op} cannot be written in {self.dialect.language}",
                asked=f"{u.op} {u.dtype!r} in a kernel",
                because="it is not among the renderer's native_ops, and was not decomposed",
                try_="add it to CDialect.functions and native_ops, or leave it to codegen",
            )
        return writer(u)

    def text(self, u: UOp, level: int = LOOSE, mask: int = 0) -> str:
        """A known node as an operand that binds at least this tightly; as a mask of that width."""
        if mask and is_mask(u.dtype):
            known = self._as_mask(u, mask)
        else:
            try:
                known = self.known[u]
            except KeyError:
                raise SpecError(
                    f"a {u.op} is used before its definition",
                    asked="rendering a linear program",
                    because="sources must come before their users",
                ) from None
        return f"({known.text})" if known.level < level else known.text

    # ---- masks ------------------------------------------------------------------------------

    def _as_mask(self, u: UOp, width: int) -> Expression:
        truth = _constant_truth(u)
        dtype = mask_dtype(width, u.dtype.count)
        if truth is not None:
            if len(set(truth)) == 1:
                return Expression(self.helpers.const(-int(truth[0]), dtype), UNARY, width)
            lanes = tuple(str(-int(t)) for t in truth)
            return Expression(self.helpers.literal(lanes, dtype), ATOM, width)
        known = self.known[u]
        if known.mask == width:
            return known
        return Expression(self.helpers.convert(known.text, dtype), ATOM, width)

    def mask_width(self, *sources: UOp) -> int:
        """The common mask width of these: that of the first that is not a constant."""
        for u in sources:
            if is_mask(u.dtype) and _constant_truth(u) is None:
                return self.known[u].mask
        return 1

    def to_bytes(self, value: UOp) -> str:
        """A mask as bytes of 0 and 1."""
        dtype = dtypes.uint8.vec(value.dtype.count)
        mask = self.text(value, LOOSE, self.mask_width(value))
        return f"{self.helpers.convert(mask, dtype)} & {self.helpers.const(1, dtype)}"

    def from_bytes(self, found: Expression, dtype: DType) -> Expression:
        """A vector of bytes as a mask: everything but zero is true."""
        name = self.helpers.type(mask_dtype(1, dtype.count))
        zero = self.helpers.const(0, dtype)
        return Expression(f"({name})({found.text} != {zero})", UNARY, 1)

    # ---- constants --------------------------------------------------------------------------

    def _const(self, u: UOp) -> Expression:
        return Expression(self.helpers.scalar(u.arg, u.dtype))

    def _vconst(self, u: UOp) -> Expression:
        if is_mask(u.dtype):
            return self._as_mask(u, 1)
        lanes = tuple(self.helpers.scalar(value, u.dtype.scalar()) for value in u.arg)
        if len(set(lanes)) == 1:
            return Expression(self.helpers.splat(lanes[0], u.dtype), UNARY)
        return Expression(self.helpers.literal(lanes, u.dtype))

    # ---- arithmetic -------------------------------------------------------------------------

    def _operator(self, u: UOp) -> Expression:
        a, b = u.src
        if dtypes.is_bool(a.dtype):
            return self._logic(u)
        if u.op in _DIVIDE and not _is_safe_divisor(b):
            helper = self.helpers.divide if u.op is Ops.IDIV else self.helpers.remainder
            if dtypes.is_float(u.dtype):
                raise SpecError(f"{u.op} of floats is not an operator of C", asked=f"{u.op}")
            return Expression(f"{helper(u.dtype)}({self.text(a)}, {self.text(b)})")
        symbol, level = OPERATORS[u.op]
        unsigned = self.unsigned_dtype(u)
        if unsigned is not None:
            left = self.as_unsigned(a, unsigned, LEFT[level])
            shift = u.op is Ops.SHL and b.dtype is not a.dtype
            right = self.text(b, UNARY) if shift else self.as_unsigned(b, unsigned, RIGHT[level])
            return self.wrapped(u, unsigned, Expression(f"{left} {symbol} {right}", level))
        left, right = self.text(a, LEFT[level]), self.text(b, RIGHT[level])
        if level == SHIFT and b.dtype is not a.dtype and a.dtype.count > 1:
            right = self.helpers.convert(self.text(b), a.dtype)
        found = Expression(f"{left} {symbol} {right}", level)
        if u.op in GroupOp.Comparison and u.dtype.count > 1:
            width = a.dtype.scalar().itemsize
            name = self.helpers.type(mask_dtype(width, a.dtype.count))
            return Expression(f"({name})({found.text})", UNARY, width)
        return self._within_width(u, found)

    def _within_width(self, u: UOp, found: Expression) -> Expression:
        """C computes small integers as int: truncate the result to its width."""
        if u.dtype in PROMOTED and u.op in MAY_LEAVE_WIDTH:
            return Expression(f"({self.helpers.type(u.dtype)})({found.text})", UNARY)
        return found

    def _logic(self, u: UOp) -> Expression:
        a, b = u.src
        vector = is_mask(a.dtype)
        width = self.mask_width(a, b) if vector else 0
        invert = "~" if vector else "!"
        if u.op in (Ops.CMPNE, Ops.XOR) and _constant_truth(b) == (True,) * b.dtype.count:
            return Expression(f"{invert}{self.text(a, UNARY, width)}", UNARY, width)
        if u.op is Ops.CMPLT:
            left = f"{invert}{self.text(a, UNARY, width)}"
            return Expression(f"{left} & {self.text(b, UNARY, width)}", AND, width)
        if u.op is Ops.CMPEQ:
            both = f"{self.text(a, UNARY, width)} ^ {self.text(b, UNARY, width)}"
            return Expression(f"{invert}({both})", UNARY, width)
        symbol, level = OPERATORS[BOOLEAN_LOGIC.get(u.op, u.op)]
        text = f"{self.text(a, LEFT[level], width)} {symbol} {self.text(b, RIGHT[level], width)}"
        return Expression(text, level, width)

    def _where(self, u: UOp) -> Expression:
        condition, yes, no = u.src
        kept = self.mask_width(yes, no, condition) if is_mask(u.dtype) else 0
        width = kept or u.dtype.scalar().itemsize
        test = self.text(condition, SHIFT, width if is_mask(condition.dtype) else 0)
        branches = f"{self.text(yes, SHIFT, kept)} : {self.text(no, SHIFT, kept)}"
        return Expression(f"{test} ? {branches}", CHOICE, kept)

    def _maximum(self, u: UOp) -> Expression:
        a, b = u.src
        if dtypes.is_bool(u.dtype):
            return self._logic(u)
        spelt = self.dialect.functions.get((Ops.MAX, u.dtype))
        if spelt is not None:
            self.helpers.usage.functions.add((u.op, u.dtype))
            return Expression(spelt.format(self.text(a), self.text(b)))
        return Expression(f"{self.helpers.maximum(u.dtype)}({self.text(a)}, {self.text(b)})")

    def _negate(self, u: UOp) -> Expression:
        if dtypes.is_bool(u.dtype):
            return self.known[u.src[0]]
        unsigned = self.unsigned_dtype(u)
        if unsigned is not None:
            operand = self.as_unsigned(u.src[0], unsigned, ATOM)
            return self.wrapped(u, unsigned, Expression(f"-{operand}", UNARY))
        return self._within_width(u, Expression(f"-{self.text(u.src[0], ATOM)}", UNARY))

    def _reciprocal(self, u: UOp) -> Expression:
        one = self.helpers.const(1.0, u.dtype)
        return Expression(f"{one} / {self.text(u.src[0], UNARY)}", TIMES)

    def _multiply_add(self, u: UOp) -> Expression:
        if dtypes.is_float(u.dtype):
            return self._function(u)
        a, b, c = u.src
        unsigned = self.unsigned_dtype(u)
        if unsigned is not None:
            levels = zip(u.src, (TIMES, UNARY, TIMES), strict=True)
            x, y, z = (self.as_unsigned(source, unsigned, level) for source, level in levels)
            return self.wrapped(u, unsigned, Expression(f"{x} * {y} + {z}", PLUS))
        product = f"{self.text(a, TIMES)} * {self.text(b, UNARY)}"
        return self._within_width(u, Expression(f"{product} + {self.text(c, TIMES)}", PLUS))

    def _function(self, u: UOp) -> Expression:
        scalar, lanes = u.dtype.scalar(), u.dtype.count
        vectors = self.dialect.vectors
        spelt = self.dialect.functions.get((u.op, scalar))
        if lanes > 1:
            spelt = vectors.functions.get(u.op) if vectors is not None else None
        if scalar in self.dialect.narrow_floats:
            # Computed in float32 and rounded again, which for these is rounding once (but for
            # MULACC, whose sum may be halfway between two narrow numbers only after rounding).
            wide = dtypes.float32.vec(lanes)
            if lanes == 1:
                spelt = self.dialect.functions.get((u.op, wide))
            if spelt is not None:
                self.helpers.usage.functions.add((u.op, wide))
                inner = spelt.format(*(self.helpers.convert(self.text(s), wide) for s in u.src))
                return Expression(self.helpers.convert(inner, u.dtype), UNARY)
        if spelt is None:
            raise SpecError(
                f"{u.op} of {u.dtype!r} has no spelling in {self.dialect.language}",
                asked=f"{u.op} in a kernel",
                because="neither CDialect.functions nor VectorStyle.functions has it",
                try_="leave it out of native_ops, so that it is decomposed",
            )
        self.helpers.usage.functions.add((u.op, u.dtype))
        return Expression(spelt.format(*(self.text(s) for s in u.src)))

    # ---- casts ------------------------------------------------------------------------------

    def _cast(self, u: UOp) -> Expression:
        (value,) = u.src
        source, target = value.dtype, u.dtype
        lanes = target.count
        if source.count != lanes:
            raise SpecError(
                "a cast keeps the number of lanes", asked=f"cast of {source!r} to {target!r}"
            )
        if source is target:
            return self.known[value]
        if dtypes.is_bool(target):
            zero = self.helpers.const(0, source)
            test = f"{self.text(value, SHIFT)} != {zero}"
            if lanes == 1:
                return Expression(test, COMPARE)
            width = source.scalar().itemsize
            name = self.helpers.type(mask_dtype(width, lanes))
            return Expression(f"({name})({test})", UNARY, width)
        if is_mask(source):
            test = self.text(value, SHIFT, target.scalar().itemsize)
            one, zero = self.helpers.const(1, target), self.helpers.const(0, target)
            return Expression(f"{test} ? {one} : {zero}", CHOICE)
        if lanes == 1 and not _needs_conversion_function(source, target, self.dialect):
            return Expression(f"({self.helpers.type(target)}){self.text(value, UNARY)}", UNARY)
        return Expression(self._converted(self.text(value), source, target), UNARY)

    def _converted(self, text: str, source: DType, target: DType) -> str:
        """A conversion that may take several steps, each rounding once or exact."""
        helpers, lanes = self.helpers, target.count
        narrow = self.dialect.narrow_floats
        single, double = dtypes.float32.vec(lanes), dtypes.float64.vec(lanes)
        if source.scalar() in narrow and target is not single:
            return self._converted(helpers.convert(text, single), single, target)
        if dtypes.is_float(source) and dtypes.is_int(target):
            scalar = target.scalar()
            if scalar in (dtypes.int32, dtypes.int64, dtypes.uint64):
                return f"{helpers.float_to_int(source, target)}({text})"
            wide = (dtypes.int64 if scalar is dtypes.uint32 else dtypes.int32).vec(lanes)
            return helpers.convert(self._converted(text, source, wide), target)
        if target.scalar() in narrow and source is not single:
            if source is double:
                return helpers.convert(f"{helpers.narrow(double)}({text})", target)
            if source.scalar().itemsize < 4:
                return helpers.convert(helpers.convert(text, single), target)
            if dtypes.float64 not in self.dialect.type_names:
                return helpers.convert(f"{helpers.sticky_single(source)}({text})", target)
            exact = helpers.convert(text, double)
            if source.scalar().itemsize == 8:
                exact = f"{helpers.sticky(source)}({text})"
            return self._converted(exact, double, target)
        return helpers.convert(text, target)

    def _bitcast(self, u: UOp) -> Expression:
        (value,) = u.src
        source, target = value.dtype, u.dtype
        text = self.text(value)
        if is_mask(source):
            source = dtypes.uint8.vec(source.count)
            text = self.to_bytes(value)
        if is_mask(target):
            asked = dtypes.uint8.vec(target.count)
            picked = self.helpers.bits(text, source, asked)
            return self.from_bytes(Expression(picked), asked)
        if dtypes.is_bool(target):
            asked = dtypes.uint8
            picked = text if source is asked else self.helpers.bits(text, source, asked)
            return Expression(f"({picked}) != 0", COMPARE)
        if source is dtypes.bool:
            text, source = f"({self.helpers.type(dtypes.uint8)})({text})", dtypes.uint8
        if source is target:
            return Expression(text, UNARY)
        return Expression(self.helpers.bits(text, source, target), UNARY)

    # ---- lanes ------------------------------------------------------------------------------

    def _vectorize(self, u: UOp) -> Expression:
        lanes = u.dtype.count
        if is_mask(u.dtype):
            truth = _constant_truth(u)
            if truth is not None:
                return self._as_mask(u, 1)
            dtype = mask_dtype(1, lanes)
            items = tuple(f"-{self.text(s, ATOM)}" for s in u.src)
            if len(set(u.src)) == 1:
                return Expression(self.helpers.splat(items[0], dtype), UNARY, 1)
            return Expression(self.helpers.literal(items, dtype), ATOM, 1)
        if len(set(u.src)) == 1:
            return Expression(self.helpers.splat(self.text(u.src[0]), u.dtype), UNARY)
        return Expression(self.helpers.literal(tuple(map(self.text, u.src)), u.dtype))

    def _cat(self, u: UOp) -> Expression:
        width = self.mask_width(*u.src) if is_mask(u.dtype) else 0
        dtype = mask_dtype(width, u.dtype.count) if width else u.dtype
        vectors = self.dialect.vectors
        if vectors is not None and vectors.shuffle and is_pair(u):
            a, b = u.src
            return self._shuffled(a, b, ", ".join(map(str, range(u.dtype.count))), width)
        lanes: list[str] = []
        for source in u.src:
            text = self.text(source, ATOM, width)
            count = source.dtype.count
            lanes += [text if count == 1 else self.lane(text, i) for i in range(count)]
        return Expression(self.helpers.literal(tuple(lanes), dtype), ATOM, width)

    def _shuffled(self, a: UOp, b: UOp, order: str, mask: int) -> Expression:
        vectors = self.dialect.vectors
        assert vectors is not None  # no vector could have been written
        a_text, b_text = self.text(a, LOOSE, mask), self.text(b, LOOSE, mask)
        return Expression(vectors.shuffle.format(a=a_text, b=b_text, lanes=order), ATOM, mask)

    def lane(self, text: str, lane: int) -> str:
        """One lane of a vector."""
        vectors = self.dialect.vectors
        assert vectors is not None  # no vector could have been written
        names = vectors.lane_names
        return vectors.lane.format(vector=text, lane=names[lane] if names else lane)

    def _lanes(self, u: UOp) -> Expression:
        (value,) = u.src
        if value.dtype.count == 1:
            picked = self.known[value]
            if len(u.arg) == 1:
                return picked
            return Expression(self.helpers.splat(picked.text, u.dtype), UNARY)
        width = self.known[value].mask
        if len(u.arg) == 1:
            lane = self.lane(self.text(value, ATOM, width), u.arg[0])
            return Expression(f"{lane} != 0", COMPARE) if width else Expression(lane)
        dtype = mask_dtype(width, u.dtype.count) if width else u.dtype
        vectors = self.dialect.vectors
        if vectors is not None and vectors.shuffle:
            apart = is_pair(value) and not self.known[value].text.isidentifier()
            a, b = value.src if apart else (value, value)
            order = ", ".join(map(str, u.arg))
            self.helpers.type(dtype)
            return self._shuffled(a, b, order, width)
        text = self.text(value, ATOM, width)
        return Expression(
            self.helpers.literal(tuple(self.lane(text, i) for i in u.arg), dtype), ATOM, width
        )

    def _custom(self, u: UOp) -> Expression:
        return Expression(u.arg.format(*(self.text(s, ATOM) for s in u.src)), LOOSE)


def _constant_truth(u: UOp) -> tuple[bool, ...] | None:
    """The lanes of a constant boolean, or None."""
    if u.op is Ops.CONST:
        return (bool(u.arg),)
    if u.op is Ops.VCONST:
        return tuple(map(bool, u.arg))
    if u.op is Ops.VECTORIZE and all(s.op is Ops.CONST for s in u.src):
        return tuple(bool(s.arg) for s in u.src)
    return None


def _is_safe_divisor(divisor: UOp) -> bool:
    """Whether a divisor is known to be neither 0 nor -1."""
    if divisor.op in (Ops.CONST, Ops.VCONST, Ops.VECTORIZE):
        lanes = [divisor] if divisor.op is Ops.CONST else divisor.src
        values = divisor.arg if divisor.op is Ops.VCONST else [s.arg for s in lanes]
        return all(isinstance(v, int) and v not in (0, -1) for v in values)
    if divisor.dtype.count > 1 or not dtypes.is_int(divisor.dtype):
        return False
    low, high = bounds_of(divisor)
    return low > 0 or high < -1


def _needs_conversion_function(source: DType, target: DType, dialect: CDialect) -> bool:
    """Whether C's own cast is undefined or rounds twice."""
    if dtypes.is_float(source) and dtypes.is_int(target):
        return True
    narrow = dialect.narrow_floats
    return source in narrow or target in narrow
