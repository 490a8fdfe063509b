"""Division: true, toward zero and rounded down, and remainders."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import flag, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.base.promotion import least_upper_dtype, least_upper_float, promote_with_scalar
from weft.tensor.ops.operators import is_boolean
from weft.tensor.protocol import TensorBase, TensorT, record
from weft.tensor.types import ArrayLike
from weft.uop import Ops, UOp


def div(
    self: TensorT, x: ArrayLike, reverse: bool = False, rounding_mode: str | None = None
) -> TensorT:
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
        if getattr(x, "_interleaved", None) is not None:
            return self._complex_result("div", x, reverse)
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


def idiv(self: TensorT, x: ArrayLike, reverse: bool = False) -> TensorT:
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


def _floor_divide(self: TensorBase, x: Any, reverse: bool = False) -> Any:
    a, b, second = self._pair(x)
    if is_boolean(a.dtype):
        return self.cast(dtypes.default_int)._floor_divide(x, reverse)
    if flag(reverse, "reverse"):
        a, b = b, a
    if dtypes.is_float(a.dtype):
        return _float_floor_divide(self._wrap_with(a, second), self._wrap_with(b, second))
    quotient = self._wrap_with(record(Ops.IDIV, a.dtype, (a, b)), second)
    if dtypes.is_unsigned(a.dtype):
        return quotient
    # toward zero becomes down where something was left and the signs differ
    return quotient - _remainder_is_off(self, a, b)[1].cast(a.dtype)


def _remainder_is_off(self: TensorBase, a: UOp, b: UOp) -> tuple[Any, Any]:
    """The remainder with the dividend's sign, and where its sign is not the divisor's."""
    rest = self._from_node(record(Ops.MOD, a.dtype, (a, b)))
    if b.op is Ops.CONST:
        return rest, (rest < 0 if b.arg > 0 else rest > 0)
    return rest, (rest != 0) & ((rest < 0) != (self._from_node(b) < 0))


def _float_remainder(self: TensorBase, divisor: Any) -> tuple[Any, Any]:
    """What C's fmod leaves, exactly, and where its sign is not the divisor's."""
    rest = self._binary(Ops.MOD, divisor)
    return rest, (rest != 0) & ((rest < 0) != (divisor < 0))


def _float_floor_divide(self: TensorBase, divisor: Any) -> Any:
    """The quotient rounded down: of what is left once the remainder is taken off, which is a
    whole number but for rounding."""
    rest, off = self._float_remainder(divisor)
    quotient = (self - rest) / divisor - off.cast(self._uop.dtype)
    whole = quotient.floor()
    whole = whole + (quotient - whole > 0.5).cast(self._uop.dtype)
    # there is no remainder by nothing
    return (divisor == 0).where((self / divisor).floor(), whole)


def mod(self: TensorT, x: ArrayLike, reverse: bool = False) -> TensorT:
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
    rest, off = _remainder_is_off(self, a, b)
    return rest + off.where(self._from_node(b), 0)
