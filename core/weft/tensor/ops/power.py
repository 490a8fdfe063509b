"""Powers: products for whole exponents, squaring for integers, C's pow for all others."""

from __future__ import annotations

import math
from typing import Any

from weft.base.arguments import flag
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.base.promotion import promote_with_scalar
from weft.tensor.autocast import answered_in
from weft.tensor.ops.operators import is_boolean, known_facts, number_node
from weft.tensor.protocol import TensorBase, TensorT, record
from weft.tensor.types import ArrayLike
from weft.uop import Ops


def pow(self: TensorT, x: ArrayLike, reverse: bool = False) -> TensorT:
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
    other, reverse = self._operand(x), flag(reverse, "reverse")
    if not isinstance(other, TensorBase) and not reverse:
        return _power_of_number(self, other)
    if getattr(other, "_interleaved", None) is not None:
        return self._complex_result("pow", other, reverse)
    a, b, second = self._pair(other)
    if reverse:
        a, b = b, a
    left, right = self._wrap_with(a, second), self._wrap_with(b, second)
    if not dtypes.is_float(a.dtype):
        return _integer_power(left, right)
    return self._wrap_with(record(Ops.POW, a.dtype, (a, b)), second)


def _power_of_number(self: TensorBase, x: int | float) -> Any:
    dtype = promote_with_scalar(self._uop.dtype, x)
    base = self.cast(dtype)
    if abs(x) <= 64 and float(x).is_integer():
        if x < 0 and not dtypes.is_float(dtype):
            raise ArgumentError(
                "an integer to a negative power is no integer",
                asked=f"{dtype!r} ** {x}",
                try_=f"x.float() ** {x}",
            )
        power = _multiplied_out(base, abs(int(x)))
        power = power if x >= 0 else power.reciprocal()
        if 1 <= x <= 2 or not dtypes.is_float(dtype):
            return power
        return _marked_power(base, power, int(x))
    if not dtypes.is_float(dtype):
        return _integer_power(base, self.full_like(x, dtype=dtype))
    if x == 0.5:
        return base.sqrt()
    if x == -0.5:  # C's pow is inf at -0.0 and 0 at -inf, where rsqrt is -inf and NaN
        odd = (base == 0) | (base == -math.inf)
        return _marked_power(base, odd.where(base.abs(), base).rsqrt(), x)
    return base._wrap(record(Ops.POW, dtype, (base._uop, number_node(dtype, x))))


def _marked_power(self: TensorBase, power: Any, exponent: float) -> Any:
    """`power`, which is known to be self to that exponent."""
    marked = record(Ops.CUSTOM_VJP, power.dtype, (power._uop, self._uop), ("power", exponent))
    return power._wrap(known_facts(marked, self._uop.shape, self._uop.device))


def _multiplied_out(self: TensorBase, exponent: int) -> Any:
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


def _integer_power(self: TensorBase, exponent: Any) -> Any:
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
