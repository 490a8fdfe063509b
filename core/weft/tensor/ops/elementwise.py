"""Arithmetic, comparison and choice: element by element, with broadcasting and promotion."""

from __future__ import annotations

import math
from typing import Any, Self

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError
from weft.base.promotion import least_upper_dtype, least_upper_float, promote_with_scalar
from weft.shape.movement import broadcast_shapes
from weft.tensor.ops.operands import (
    SCALARS,
    OperandsMixin,
    broadcast_node,
    cast_node,
    complement,
    is_boolean,
    known_facts,
    minus,
    placeless,
)
from weft.tensor.protocol import TensorBase, record
from weft.uop import Ops, UOp

_UNSIGNED = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


class ElementwiseMixin(OperandsMixin):
    """Methods that compute each element from the elements at the same place."""

    __slots__ = ()

    # ---- arithmetic ---------------------------------------------------------------------------

    def add(self, x: Any, reverse: bool = False) -> Self:
        """Sum; logical or for bool."""
        return self._binary(Ops.ADD, x, reverse)

    def sub(self, x: Any, reverse: bool = False) -> Self:
        """Difference. :raises DTypeError: for bool."""
        self._no_bool("subtraction", x)
        return self._binary(Ops.SUB, x, reverse)

    def mul(self, x: Any, reverse: bool = False) -> Self:
        """Product; logical and for bool."""
        return self._binary(Ops.MUL, x, reverse)

    def div(self, x: Any, reverse: bool = False, rounding_mode: str | None = None) -> Self:
        """True division, in floats; `rounding_mode` "trunc" or "floor" rounds the quotient.

        Integers with a rounding mode stay integers; dividing them by zero gives 0 then.
        """
        if rounding_mode is None:
            x = self._operand(x)
            mixed = (
                least_upper_dtype(self._uop.dtype, x._uop.dtype)
                if isinstance(x, TensorBase)
                else promote_with_scalar(self._uop.dtype, x)
            )
            return self._binary(Ops.FDIV, x, reverse, least_upper_float(mixed))
        if rounding_mode not in ("trunc", "floor"):
            raise ArgumentError(
                f"there is no rounding mode {rounding_mode!r}",
                asked=f"div(rounding_mode={rounding_mode!r})",
                try_='None, "trunc" or "floor"',
            )
        if rounding_mode == "floor":
            return self._floor_divide(x, reverse)
        if dtypes.is_float(self._pair(x)[0].dtype):
            return self.div(x, reverse).trunc()
        return self.idiv(x, reverse)

    def idiv(self, x: Any, reverse: bool = False) -> Self:
        """Quotient of integers, toward zero; 0 where the divisor is 0.

        :raises DTypeError: for floats.
        """
        self._whole("integer division", x)
        if is_boolean(self._uop.dtype):
            return self.cast(dtypes.default_int).idiv(x, reverse)
        return self._binary(Ops.IDIV, x, reverse)

    def _floor_divide(self, x: Any, reverse: bool = False) -> Any:
        a, b, second = self._pair(x)
        if is_boolean(a.dtype):
            return self.cast(dtypes.default_int)._floor_divide(x, reverse)
        if dtypes.is_float(a.dtype):
            return self.div(x, reverse).floor()
        if reverse:
            a, b = b, a
        quotient = self._wrap_with(record(Ops.IDIV, a.dtype, (a, b)), second)
        if dtypes.is_unsigned(a.dtype):
            return quotient
        # toward zero becomes down where something was left and the signs differ
        return quotient - self._remainder_is_off(a, b)[1].cast(a.dtype)

    def _remainder_is_off(self, a: UOp, b: UOp) -> tuple[Any, Any]:
        """The remainder with the dividend's sign, and where its sign is not the divisor's."""
        rest = self._from_node(record(Ops.MOD, a.dtype, (a, b)))
        if b.op is Ops.CONST:
            return rest, (rest < 0 if b.arg > 0 else rest > 0)
        return rest, (rest != 0) & ((rest < 0) != (self._from_node(b) < 0))

    def mod(self, x: Any, reverse: bool = False) -> Self:
        """Remainder with the sign of the divisor; 0 for integers where the divisor is 0.

        For floats it is a - b * floor(a / b), as exact as that is.
        """
        a, b, second = self._pair(x)
        if is_boolean(a.dtype):
            return self.cast(dtypes.default_int).mod(x, reverse)
        if reverse:
            a, b = b, a
        if dtypes.is_float(a.dtype):
            left, right = self._wrap_with(a, second), self._wrap_with(b, second)
            return left - right * (left / right).floor()
        if dtypes.is_unsigned(a.dtype):
            return self._wrap_with(record(Ops.MOD, a.dtype, (a, b)), second)
        rest, off = self._remainder_is_off(a, b)
        return rest + off.where(self._from_node(b), 0)

    def neg(self) -> Self:
        """Negative. :raises DTypeError: for bool."""
        self._no_bool("negation")
        u = self._uop
        return self._wrap(record(Ops.NEG, u.dtype, (u,)))

    def reciprocal(self) -> Self:
        """1 / x, in floats."""
        return self._unary(Ops.RECIP)

    def square(self) -> Self:
        """x * x."""
        return self * self

    def pow(self, x: Any, reverse: bool = False) -> Self:
        """self to the power x.

        Whole-number exponents up to 64 are multiplied out; others follow C's pow. Integers to a
        negative power are 0 but for the base 1 and -1, and ArgumentError for a negative number.
        """
        x = self._operand(x)
        if not isinstance(x, TensorBase) and not reverse:
            return self._power_of_number(x)
        a, b, second = self._pair(x)
        if reverse:
            a, b = b, a
        left, right = self._wrap_with(a, second), self._wrap_with(b, second)
        if not dtypes.is_float(a.dtype):
            return left._integer_power(right)
        return self._wrap_with(record(Ops.POW, a.dtype, (a, b)), second)

    def _power_of_number(self, x: int | float) -> Any:
        dtype = promote_with_scalar(self._uop.dtype, x)
        base = self.cast(dtype)
        if float(x).is_integer() and abs(x) <= 64:
            if x < 0 and not dtypes.is_float(dtype):
                raise ArgumentError(
                    "an integer to a negative power is no integer",
                    asked=f"{dtype!r} ** {x}",
                    try_=f"x.float() ** {x}",
                )
            power = base._multiplied_out(abs(int(x)))
            power = power if x >= 0 else power.reciprocal()
            if 0 <= x <= 2 or not dtypes.is_float(dtype):
                return power
            marked = record(Ops.SLOPE, dtype, (power._uop, base._uop), ("power", int(x)))
            return power._wrap(known_facts(marked, base._uop.shape, base._uop.device))
        if not dtypes.is_float(dtype):
            return base._integer_power(self.full_like(x, dtype=dtype))
        if x == 0.5:
            return base.sqrt()
        if x == -0.5:
            return base.rsqrt()
        return base._wrap(record(Ops.POW, dtype, (base._uop, UOp.const(dtype, x))))

    def _multiplied_out(self, exponent: int) -> Any:
        if exponent == 0:
            return self.ones_like()
        result = None
        square = self
        while exponent:
            if exponent & 1:
                result = square if result is None else result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result

    def _integer_power(self, exponent: Any) -> Any:
        """By squaring, over every bit the exponent can have; wraps like the product."""
        if is_boolean(self._uop.dtype):
            return self | ~exponent
        dtype = self._uop.dtype
        bits = dtype.bitsize - (0 if dtypes.is_unsigned(dtype) else 1)
        result, square = self.ones_like(), self
        for bit in range(bits):
            result = ((exponent >> bit) & 1 != 0).where(result * square, result)
            square = square * square if bit + 1 < bits else square
        if dtypes.is_unsigned(dtype):
            return result
        minus = (exponent & 1 != 0).where(-1, self.ones_like())
        inverse = (self == 1).where(1, (self == -1).where(minus, self.zeros_like()))
        return (exponent < 0).where(inverse, result)

    def maximum(self, x: Any) -> Self:
        """The larger of two; NaN where either is. Gradient: half to each at a tie."""
        return self._binary(Ops.MAX, x)

    def minimum(self, x: Any) -> Self:
        """The smaller of two; NaN where either is. Gradient: half to each at a tie."""
        a, b, second = self._pair(x)
        if dtypes.is_float(a.dtype):
            turned = record(Ops.MAX, a.dtype, (minus(a), minus(b)))
            return self._wrap_with(minus(turned), second)
        turned = record(Ops.MAX, a.dtype, (complement(a), complement(b)))
        return self._wrap_with(complement(turned), second)

    # ---- comparison and choice ----------------------------------------------------------------

    def eq(self, x: Any) -> Self:
        """Equal, as bool."""
        return self._compare(Ops.CMPEQ, x)

    def ne(self, x: Any) -> Self:
        """Not equal, as bool."""
        return self._compare(Ops.CMPNE, x)

    def lt(self, x: Any) -> Self:
        """Less, as bool."""
        return self._compare(Ops.CMPLT, x)

    def gt(self, x: Any) -> Self:
        """Greater, as bool."""
        return self._compare(Ops.CMPLT, x, True)

    def le(self, x: Any) -> Self:
        """Less or equal, as bool; false for NaN."""
        return (self < x) | (self == x) if self._may_be_nan(x) else ~(self > x)

    def ge(self, x: Any) -> Self:
        """Greater or equal, as bool; false for NaN."""
        return (self > x) | (self == x) if self._may_be_nan(x) else ~(self < x)

    def _may_be_nan(self, x: Any) -> bool:
        other = getattr(x, "dtype", None)
        floating = isinstance(x, float) or (isinstance(other, DType) and dtypes.is_float(other))
        return floating or dtypes.is_float(self._uop.dtype) or not isinstance(x, (int, TensorBase))

    def logical_not(self) -> Self:
        """True where zero."""
        return ~self.cast(dtypes.bool)

    def where(self, x: Any, y: Any) -> Self:
        """`x` where self is not zero, else `y`; shapes broadcast, dtypes of x and y promote."""
        choices = [self._operand(x), self._operand(y)]
        known = [c._uop.dtype for c in choices if isinstance(c, TensorBase)]
        if known:
            dtype = least_upper_dtype(*known)
            for c in choices:
                if not isinstance(c, TensorBase):
                    dtype = promote_with_scalar(dtype, c)
        else:
            dtype = least_upper_dtype(*(dtypes.from_py(c) for c in choices))
        nodes = [
            cast_node(c._uop, dtype) if isinstance(c, TensorBase) else UOp.const(dtype, c)
            for c in choices
        ]
        nodes.insert(0, cast_node(self._uop, dtypes.bool))
        tensors = [c for c in choices if isinstance(c, TensorBase)]
        for tensor in tensors:
            if tensor.device != self.device and tensor._uop.op is not Ops.CONST:
                if self._uop.op is not Ops.CONST:
                    raise self._other_device(tensor)
        if any(n.op is not Ops.CONST for n in nodes):
            nodes = [placeless(n) for n in nodes]
        shape = broadcast_shapes(*(n.shape for n in nodes))
        nodes = [broadcast_node(n, shape) for n in nodes]
        node = record(Ops.WHERE, dtype, tuple(nodes))
        placed = next((n for n in nodes if n.op not in SCALARS), None)
        if placed is not None:
            known_facts(node, shape, placed.device)
        return self._wrap_chosen(node, tensors)

    def _wrap_chosen(self, node: UOp, tensors: list[TensorBase]) -> Any:
        """The condition passes no gradient on; what it chooses from does."""
        for tensor in tensors:
            if tensor._requires_grad:
                return tensor._wrap(node)
        return self._from_node(node)

    def clamp(self, min_: Any = None, max_: Any = None) -> Self:
        """Bounded below and above; NaN stays. Gradient: 1 inside and at the bounds, else 0.

        :raises ArgumentError: if neither bound is given.
        """
        if min_ is None and max_ is None:
            raise ArgumentError(
                "clamp needs a bound", asked="clamp()", try_="clamp(min_=0), clamp(0, 1)"
            )
        bounded = self if min_ is None else (self < min_).where(min_, self)
        return bounded if max_ is None else (bounded > max_).where(max_, bounded)

    def clip(self, min_: Any = None, max_: Any = None) -> Self:
        """Alias of clamp."""
        return self.clamp(min_, max_)

    def masked_fill(self, mask: Any, value: Any) -> Self:
        """`value` where `mask` is true, self elsewhere."""
        return self.__class__._as_tensor(mask, self).where(value, self)

    def lerp(self, end: Any, weight: Any) -> Self:
        """self + (end - self) * weight."""
        return self + (self._operand(end) - self) * weight

    def copysign(self, other: Any) -> Self:
        """The size of self with the sign of `other`, that of -0.0 included; in floats."""
        size = self.cast(least_upper_float(self._uop.dtype)).abs()
        other = self._operand(other)
        if not isinstance(other, TensorBase):
            return -size if math.copysign(1.0, other) < 0 else size
        sign = other.cast(least_upper_float(other._uop.dtype))
        bits = _UNSIGNED[sign._uop.dtype.itemsize]
        negative = sign.detach().bitcast(bits) >> (bits.bitsize - 1) != 0
        return negative.where(-size, size)

    def isclose(
        self, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Self:
        """|self - other| <= atol + rtol * |other|, as bool; equal infinities are close."""
        other = self.__class__._as_tensor(other, self)
        near = (self - other).abs() <= atol + other.abs() * rtol
        near = (near & self.isfinite() & other.isfinite()) | (self == other)
        return near | (self.isnan() & other.isnan()) if equal_nan else near

    def isnan(self) -> Self:
        """True where NaN."""
        return self != self

    def isinf(self, detect_positive: bool = True, detect_negative: bool = True) -> Self:
        """True where infinite, of the signs asked for."""
        if not dtypes.is_float(self._uop.dtype):
            return self.full_like(False, dtype=dtypes.bool)
        above = (self == math.inf) & detect_positive
        return above | ((self == -math.inf) & detect_negative)

    def isfinite(self) -> Self:
        """True where neither infinite nor NaN."""
        if not dtypes.is_float(self._uop.dtype):
            return self.full_like(True, dtype=dtypes.bool)
        return self.detach().abs() < math.inf
