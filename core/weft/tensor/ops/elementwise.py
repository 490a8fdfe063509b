"""Arithmetic, comparison and choice: element by element, with broadcasting and promotion."""

from __future__ import annotations

import math
from typing import Any, Self

from weft.base.arguments import flag, real, shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError
from weft.base.promotion import least_upper_dtype, least_upper_float, promote_with_scalar
from weft.shape.movement import broadcast_shapes
from weft.tensor.autocast import answered_in
from weft.tensor.ops.operands import (
    SCALARS,
    OperandsMixin,
    broadcast_node,
    cast_node,
    complement,
    is_boolean,
    known_facts,
    minus,
    number_node,
    placeless,
)
from weft.tensor.ops.transcendental import sloped_value
from weft.tensor.protocol import TensorBase, record
from weft.tensor.types import ArrayLike
from weft.uop import Ops, UOp

_UNSIGNED = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


class ElementwiseMixin(OperandsMixin):
    """Methods that compute each element from the elements at the same place."""

    __slots__ = ()

    # ---- arithmetic ---------------------------------------------------------------------------

    def add(self, x: ArrayLike, reverse: bool = False, *, alpha: float = 1) -> Self:
        """Sum, of self and alpha * x; logical or for bool.

        >>> Tensor([1, 2]).add(Tensor([[10], [20]])).tolist()
        [[11, 12], [21, 22]]
        >>> (Tensor([1, 2]) + 0.5).tolist()
        [1.5, 2.5]
        """
        x = x if alpha == 1 else self._as_tensor(x, self) * real(alpha, "alpha")
        return self._binary(Ops.ADD, x, reverse)

    def sub(self, x: ArrayLike, reverse: bool = False, *, alpha: float = 1) -> Self:
        """Difference, of self and alpha * x. :raises DTypeError: for bool.

        >>> Tensor([5, 7]).sub(2).tolist()
        [3, 5]
        >>> (10 - Tensor([1, 2])).tolist()
        [9, 8]
        """
        x = x if alpha == 1 else self._as_tensor(x, self) * real(alpha, "alpha")
        x = self._operand(x)
        self._no_bool("subtraction", x)
        return self._binary(Ops.SUB, x, reverse)

    def mul(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Product; logical and for bool.

        >>> Tensor([1, 2]).mul(3).tolist()
        [3, 6]
        >>> (Tensor([1, 2]) * Tensor([0.5, 2.0])).tolist()
        [0.5, 4.0]
        """
        return self._binary(Ops.MUL, x, reverse)

    def div(self, x: ArrayLike, reverse: bool = False, rounding_mode: str | None = None) -> Self:
        """True division, in floats; `rounding_mode` "trunc" or "floor" rounds the quotient.

        Integers with a rounding mode stay integers; dividing them by zero gives 0 then.

        >>> (Tensor([7, -7]) / 2).tolist()
        [3.5, -3.5]
        >>> Tensor([7, -7]).div(2, rounding_mode="trunc").tolist()
        [3, -3]
        >>> Tensor([7, -7]).div(2, rounding_mode="floor").tolist()
        [3, -4]
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
                f"there is no rounding mode {shown(rounding_mode)}",
                asked=f"div(rounding_mode={shown(rounding_mode)})",
                try_='None, "trunc" or "floor"',
            )
        if rounding_mode == "floor":
            return self._floor_divide(x, reverse)
        if dtypes.is_float(self._pair(x)[0].dtype):
            return self.div(x, reverse).trunc()
        return self.idiv(x, reverse)

    def idiv(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Quotient of integers, toward zero; 0 where the divisor is 0.

        :raises DTypeError: for floats.

        >>> Tensor([7, -7]).idiv(2).tolist()
        [3, -3]
        >>> (Tensor([7, -7]) // 2).tolist()
        [3, -4]
        """
        x = self._operand(x)
        self._whole("integer division", x)
        if is_boolean(self._uop.dtype):
            return self.cast(dtypes.default_int).idiv(x, reverse)
        return self._binary(Ops.IDIV, x, reverse)

    def _floor_divide(self, x: Any, reverse: bool = False) -> Any:
        a, b, second = self._pair(x)
        if is_boolean(a.dtype):
            return self.cast(dtypes.default_int)._floor_divide(x, reverse)
        if flag(reverse, "reverse"):
            a, b = b, a
        if dtypes.is_float(a.dtype):
            return self._wrap_with(a, second)._float_floor_divide(self._wrap_with(b, second))
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

    def _float_remainder(self, divisor: Any) -> tuple[Any, Any]:
        """What C's fmod leaves, exactly, and where its sign is not the divisor's."""
        rest = self._binary(Ops.MOD, divisor)
        return rest, (rest != 0) & ((rest < 0) != (divisor < 0))

    def _float_floor_divide(self, divisor: Any) -> Any:
        """The quotient rounded down: of what is left once the remainder is taken off, which is a
        whole number but for rounding."""
        rest, off = self._float_remainder(divisor)
        quotient = (self - rest) / divisor - off.cast(self._uop.dtype)
        whole = quotient.floor()
        whole = whole + (quotient - whole > 0.5).cast(self._uop.dtype)
        # there is no remainder by nothing
        return (divisor == 0).where((self / divisor).floor(), whole)

    def mod(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Remainder with the sign of the divisor; 0 for integers where the divisor is 0.

        Of floats it is exact while the quotient is below 2**29 (float64: 2**52).

        >>> Tensor([7, -7]).mod(3).tolist()
        [1, 2]
        >>> (Tensor([5.5]) % 2).tolist()
        [1.5]
        """
        a, b, second = self._pair(x)
        if is_boolean(a.dtype):
            return self.cast(dtypes.default_int).mod(x, reverse)
        if flag(reverse, "reverse"):
            a, b = b, a
        if dtypes.is_float(a.dtype):
            left, right = self._wrap_with(a, second), self._wrap_with(b, second)
            rest, off = left._float_remainder(right)
            return off.where(rest + right, rest)
        if dtypes.is_unsigned(a.dtype):
            return self._wrap_with(record(Ops.MOD, a.dtype, (a, b)), second)
        rest, off = self._remainder_is_off(a, b)
        return rest + off.where(self._from_node(b), 0)

    def neg(self) -> Self:
        """Negative. :raises DTypeError: for bool.

        >>> (-Tensor([1, -2])).tolist()
        [-1, 2]
        """
        self._no_bool("negation")
        u = self._uop
        return self._wrap(record(Ops.NEG, u.dtype, (u,)))

    def reciprocal(self) -> Self:
        """1 / x, in floats.

        >>> Tensor([2, 4]).reciprocal().tolist()
        [0.5, 0.25]
        """
        return self._unary(Ops.RECIP)

    def square(self) -> Self:
        """x * x.

        >>> Tensor([-3, 4]).square().tolist()
        [9, 16]
        """
        return self * self

    def pow(self, x: ArrayLike, reverse: bool = False) -> Self:
        """self to the power x.

        Whole-number exponents up to 64 are multiplied out; others follow C's pow, but that the
        number 0.5 is the square root, as in NumPy. Integers to a negative power are 0 but for the
        base 1 and -1, and ArgumentError for a negative number.

        >>> (Tensor([1, 2, 3]) ** 2).tolist()
        [1, 4, 9]
        >>> (2.0 ** Tensor([1.0, -1.0])).tolist()
        [2.0, 0.5]
        """
        own = self._uop.dtype
        if own.itemsize == 2 and answered_in(own) is not own:
            return self.cast(dtypes.float32).pow(x, reverse)
        x, reverse = self._operand(x), flag(reverse, "reverse")
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
        if abs(x) <= 64 and float(x).is_integer():
            if x < 0 and not dtypes.is_float(dtype):
                raise ArgumentError(
                    "an integer to a negative power is no integer",
                    asked=f"{dtype!r} ** {x}",
                    try_=f"x.float() ** {x}",
                )
            power = base._multiplied_out(abs(int(x)))
            power = power if x >= 0 else power.reciprocal()
            if 1 <= x <= 2 or not dtypes.is_float(dtype):
                return power
            return base._marked_power(power, int(x))
        if not dtypes.is_float(dtype):
            return base._integer_power(self.full_like(x, dtype=dtype))
        if x == 0.5:
            return base.sqrt()
        if x == -0.5:  # C's pow is inf at -0.0 and 0 at -inf, where rsqrt is -inf and NaN
            odd = (base == 0) | (base == -math.inf)
            return base._marked_power(odd.where(base.abs(), base).rsqrt(), x)
        return base._wrap(record(Ops.POW, dtype, (base._uop, number_node(dtype, x))))

    def _marked_power(self, power: Any, exponent: float) -> Any:
        """`power`, which is known to be self to that exponent."""
        marked = record(Ops.SLOPE, power.dtype, (power._uop, self._uop), ("power", exponent))
        return power._wrap(known_facts(marked, self._uop.shape, self._uop.device))

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

    def maximum(self, x: ArrayLike) -> Self:
        """The larger of two; NaN where either is. Gradient: half to each at a tie.

        >>> Tensor([1, 5]).maximum(Tensor([3, 2])).tolist()
        [3, 5]
        """
        return self._binary(Ops.MAX, x)

    def minimum(self, x: ArrayLike) -> Self:
        """The smaller of two; NaN where either is. Gradient: half to each at a tie.

        >>> Tensor([1, 5]).minimum(3).tolist()
        [1, 3]
        """
        a, b, second = self._pair(x)
        if dtypes.is_float(a.dtype):
            turned = record(Ops.MAX, a.dtype, (minus(a), minus(b)))
            return self._wrap_with(minus(turned), second)
        turned = record(Ops.MAX, a.dtype, (complement(a), complement(b)))
        return self._wrap_with(complement(turned), second)

    # ---- comparison and choice ----------------------------------------------------------------

    def eq(self, x: ArrayLike) -> Self:
        """Equal, as bool.

        >>> (Tensor([1, 2]) == 2).tolist()
        [False, True]
        """
        return self._compare(Ops.CMPEQ, x)

    def ne(self, x: ArrayLike) -> Self:
        """Not equal, as bool.

        >>> (Tensor([1, 2]) != 2).tolist()
        [True, False]
        """
        return self._compare(Ops.CMPNE, x)

    def lt(self, x: ArrayLike) -> Self:
        """Less, as bool.

        >>> (Tensor([1, 2, 3]) < 2).tolist()
        [True, False, False]
        """
        return self._compare(Ops.CMPLT, x)

    def gt(self, x: ArrayLike) -> Self:
        """Greater, as bool.

        >>> (Tensor([1, 2, 3]) > 2).tolist()
        [False, False, True]
        """
        return self._compare(Ops.CMPLT, x, True)

    def le(self, x: ArrayLike) -> Self:
        """Less or equal, as bool; false for NaN.

        >>> (Tensor([1, 2, 3]) <= 2).tolist()
        [True, True, False]
        """
        return (self < x) | (self == x) if self._may_be_nan(x) else ~(self > x)

    def ge(self, x: ArrayLike) -> Self:
        """Greater or equal, as bool; false for NaN.

        >>> (Tensor([1, 2, 3]) >= 2).tolist()
        [False, True, True]
        """
        return (self > x) | (self == x) if self._may_be_nan(x) else ~(self < x)

    def _may_be_nan(self, x: Any) -> bool:
        other = getattr(x, "dtype", None)
        floating = isinstance(x, float) or (isinstance(other, DType) and dtypes.is_float(other))
        return floating or dtypes.is_float(self._uop.dtype) or not isinstance(x, (int, TensorBase))

    def logical_not(self) -> Self:
        """True where zero.

        >>> Tensor([0, 3]).logical_not().tolist()
        [True, False]
        """
        return ~self.cast(dtypes.bool)

    def where(self, x: ArrayLike, y: ArrayLike) -> Self:
        """`x` where self is not zero, else `y`; shapes broadcast, dtypes of x and y promote.

        >>> (Tensor([1, -2, 3]) > 0).where(1, 0).tolist()
        [1, 0, 1]
        >>> Tensor([True, False]).where(Tensor([1, 2]), Tensor([3, 4])).tolist()
        [1, 4]
        """
        choices = [self._operand(x), self._operand(y)]
        known = [c._uop.dtype for c in choices if isinstance(c, TensorBase)]
        if known:
            dtype = least_upper_dtype(*known)
            for c in choices:
                if not isinstance(c, TensorBase):
                    dtype = promote_with_scalar(dtype, c)
        else:
            dtype = dtypes.from_py(choices)
        nodes = [
            cast_node(c._uop, dtype) if isinstance(c, TensorBase) else number_node(dtype, c)
            for c in choices
        ]
        nodes.insert(0, cast_node(self._uop, dtypes.bool))
        tensors = [c for c in choices if isinstance(c, TensorBase)]
        bound = [t for t in (self, *tensors) if t._uop.op is not Ops.CONST and t._uop.device]
        for tensor in bound[1:]:
            if tensor._uop.device != bound[0]._uop.device:
                raise bound[0]._other_device(tensor)
        if any(n.op is not Ops.CONST for n in nodes):
            nodes = [placeless(n) for n in nodes]
        shape = broadcast_shapes(*(n.shape for n in nodes))
        nodes = [broadcast_node(n, shape) for n in nodes]
        node = record(Ops.WHERE, dtype, tuple(nodes))
        placed = next((n for n in nodes if n.op not in SCALARS and n.device), None)
        if placed is not None:
            known_facts(node, shape, placed.device)
        return self._wrap_chosen(node, tensors)

    def _wrap_chosen(self, node: UOp, tensors: list[TensorBase]) -> Any:
        """The condition passes no gradient on; what it chooses from does."""
        for tensor in tensors:
            if tensor._requires_grad:
                return tensor._wrap(node)
        return self._from_node(node)

    def clamp(self, min_: ArrayLike | None = None, max_: ArrayLike | None = None) -> Self:
        """Bounded below and above; NaN stays, and comes of a bound that is NaN. Gradient: 1 inside
        and at the bounds, else 0.

        A number below the range of an integer dtype is no lower bound, one above it no upper one.

        :raises ArgumentError: if neither bound is given.
        :raises OutOfRange: if the dtype cannot represent a bound that would be a result.

        >>> Tensor([-3, 0, 9]).clamp(-1, 5).tolist()
        [-1, 0, 5]
        >>> Tensor([-3, 0, 9]).clamp(max_=5).tolist()
        [-3, 0, 5]
        """
        if min_ is None and max_ is None:
            raise ArgumentError(
                "clamp needs a bound", asked="clamp()", try_="clamp(min_=0), clamp(0, 1)"
            )
        bounded, dtype = self, self._uop.dtype
        low, high = (None if x is None else self._operand(x) for x in (min_, max_))
        if low is not None and not _is_beyond(low, dtype, -1):
            bounded = _or_missing(self < low, low).where(low, self)
        if high is not None and not _is_beyond(high, dtype, 1):
            bounded = _or_missing(bounded > high, high).where(high, bounded)
        return self._wrap(self._uop) if bounded is self else bounded

    def clip(self, min_: ArrayLike | None = None, max_: ArrayLike | None = None) -> Self:
        """Alias of clamp.

        >>> Tensor([-3, 0, 9]).clip(-1, 5).tolist()
        [-1, 0, 5]
        """
        return self.clamp(min_, max_)

    def masked_fill(self, mask: ArrayLike, value: ArrayLike) -> Self:
        """`value` where `mask` is true, self elsewhere.

        >>> Tensor([1, 2, 3]).masked_fill(Tensor([True, False, True]), 0).tolist()
        [0, 2, 0]
        """
        return self.__class__._as_tensor(mask, self).where(value, self)

    def lerp(self, end: ArrayLike, weight: ArrayLike) -> Self:
        """self + (end - self) * weight, in floats.

        >>> Tensor([0.0, 10.0]).lerp(Tensor([4.0, 20.0]), 0.25).tolist()
        [1.0, 12.5]
        """
        if not dtypes.is_float(self._uop.dtype):  # a difference of integers could wrap
            return self.cast(dtypes.default_float).lerp(end, weight)
        return self + (self._operand(end) - self) * weight

    def copysign(self, other: ArrayLike) -> Self:
        """The size of self with the sign of `other`, that of -0.0 included; in floats.

        >>> Tensor([1.0, -2.0]).copysign(Tensor([-0.0, 3.0])).tolist()
        [-1.0, 2.0]
        """
        kind = least_upper_float(self._uop.dtype)
        other = self._operand(other)
        if not isinstance(other, TensorBase):
            size = self.cast(kind).abs()
            return -size if math.copysign(1.0, other) < 0 else size
        sign = other.cast(least_upper_float(other._uop.dtype))
        # a large integer is rounded once, to what the result is
        size = self.cast(least_upper_dtype(kind, sign._uop.dtype)).abs()
        bits = _UNSIGNED[sign._uop.dtype.itemsize]
        negative = sign.detach().bitcast(bits) >> (bits.bitsize - 1) != 0
        # what the sign is taken from has a gradient of 0, rather than none
        nothing = sloped_value(sign.zeros_like(), sign, "flat")
        return negative.where(-size, size + nothing)

    def isclose(
        self, other: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Self:
        """|self - other| <= atol + rtol * |other|, as bool; equal infinities are close.

        >>> Tensor([1.0, 2.0]).isclose(Tensor([1.000001, 2.1])).tolist()
        [True, False]
        """
        other = self.__class__._as_tensor(other, self)
        rtol, atol = real(rtol, "rtol"), real(atol, "atol")
        a, b, _ = self._pair(other)
        x, y = self._from_node(a, False), self._from_node(b, False)
        near = x._distance(y) <= y._widened().abs() * rtol + atol
        near = (near & x.isfinite() & y.isfinite()) | (x == y)
        return near | (x.isnan() & y.isnan()) if equal_nan else near

    def _widened(self) -> Any:
        """In float32 at least."""
        return self.cast(least_upper_dtype(self._uop.dtype, dtypes.float32))

    def _distance(self, other: Any) -> Any:
        """|self - other| in float32 at least; of integers it is taken before anything is lost."""
        dtype = self._uop.dtype
        if not dtypes.is_int(dtype):
            return (self._widened() - other._widened()).abs()
        gap = self.maximum(other) - self.minimum(other)
        return gap.bitcast(_UNSIGNED[dtype.itemsize])._widened()

    def isnan(self) -> Self:
        """True where NaN.

        >>> Tensor([1.0, math.nan]).isnan().tolist()
        [False, True]
        """
        return self != self

    def isinf(self, detect_positive: bool = True, detect_negative: bool = True) -> Self:
        """True where infinite, of the signs asked for.

        >>> Tensor([1.0, -math.inf]).isinf().tolist()
        [False, True]
        >>> Tensor([1.0, -math.inf]).isinf(detect_negative=False).tolist()
        [False, False]
        """
        if not dtypes.is_float(self._uop.dtype):
            return self.full_like(False, dtype=dtypes.bool)
        above = (self == math.inf) & detect_positive
        return above | ((self == -math.inf) & detect_negative)

    def isfinite(self) -> Self:
        """True where neither infinite nor NaN.

        >>> Tensor([1.0, math.inf, math.nan]).isfinite().tolist()
        [True, False, False]
        """
        dtype = self._uop.dtype
        if not dtypes.is_float(dtype):
            return self.full_like(True, dtype=dtypes.bool)
        x = self.detach()
        return x.abs() < math.inf if dtypes.finfo(dtype).has_infinity else x == x


def _or_missing(beyond: Any, bound: Any) -> Any:
    """Where a bound is exceeded, or is no number."""
    if not isinstance(bound, TensorBase):
        return beyond if bound == bound else beyond | True
    return beyond | (bound != bound) if dtypes.is_float(bound._uop.dtype) else beyond


def _is_beyond(bound: Any, dtype: DType, way: int) -> bool:
    """Whether an integer is below everything that an integer dtype holds (way -1), or above (1)."""
    if bound.__class__ is not int or not dtypes.is_int(dtype):
        return False
    return bound < dtype.min if way < 0 else bound > dtype.max
