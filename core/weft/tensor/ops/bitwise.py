"""Bits of integers and bool; signs and rounding of numbers."""

from __future__ import annotations

from typing import Self

from weft.base.arguments import whole
from weft.base.dtype import dtypes
from weft.base.promotion import least_upper_dtype, least_upper_float
from weft.shape.movement import broadcast_shapes
from weft.tensor.ops import hashing
from weft.tensor.ops.operators import complement, is_boolean
from weft.tensor.ops.transcendental import value_with_derivative
from weft.tensor.protocol import TensorBase
from weft.tensor.types import ArrayLike
from weft.uop import Ops

_INTEGERS = {2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}
"""The integer of so many bytes."""


class BitwiseMixin(TensorBase):
    """Bitwise methods, and those that take a number apart."""

    __slots__ = ()

    # ---- bits ---------------------------------------------------------------------------------

    def bitwise_and(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats.

        >>> (Tensor([12, 10]) & 6).tolist()
        [4, 2]
        >>> Tensor([True, False]).bitwise_and(True).tolist()
        [True, False]
        """
        x = self._operand(x)
        self._whole("bitwise and", x)
        return self._binary(Ops.AND, x, reverse)

    def bitwise_or(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats.

        >>> (Tensor([12, 10]) | 3).tolist()
        [15, 11]
        """
        x = self._operand(x)
        self._whole("bitwise or", x)
        return self._binary(Ops.OR, x, reverse)

    def bitwise_xor(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats.

        >>> (Tensor([12, 10]) ^ 6).tolist()
        [10, 12]
        """
        x = self._operand(x)
        self._whole("bitwise xor", x)
        return self._binary(Ops.XOR, x, reverse)

    def bitwise_not(self) -> Self:
        """Of integers and bool. :raises DTypeError: for floats.

        >>> (~Tensor([0, 5])).tolist()
        [-1, -6]
        >>> Tensor([True, False]).bitwise_not().tolist()
        [False, True]
        """
        self._whole("bitwise not")
        return self._wrap(complement(self._uop))

    def lshift(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Bits to the left; 0 from the width of the dtype on. :raises DTypeError: for floats, bool.

        >>> (Tensor([1, 3]) << 2).tolist()
        [4, 12]
        >>> Tensor([1, 3], dtype=dtypes.uint8).lshift(7).tolist()
        [128, 128]
        """
        x = self._operand(x)
        self._whole("a shift", x)
        self._no_bool("a shift", x)
        return self._binary(Ops.SHL, x, reverse)

    def rshift(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Bits to the right, keeping the sign. :raises DTypeError: for floats and bool.

        >>> (Tensor([12, -12]) >> 2).tolist()
        [3, -3]
        """
        x = self._operand(x)
        self._whole("a shift", x)
        self._no_bool("a shift", x)
        return self._binary(Ops.SHR, x, reverse)

    # ---- sign and rounding --------------------------------------------------------------------

    def abs(self) -> Self:
        """Size without sign; of the least integer, itself. Gradient at 0: 0.

        >>> Tensor([-2.5, 0.0, 3.0]).abs().tolist()
        [2.5, 0.0, 3.0]
        """
        dtype = self._uop.dtype
        if is_boolean(dtype) or dtypes.is_unsigned(dtype):
            return self
        # 0 - x first: of two zeros MAX takes its first operand, and this one is positive
        return (0 - self).maximum(self)

    def sign(self) -> Self:
        """-1, 0 or 1; NaN stays.

        >>> Tensor([-2.0, 0.0, 3.0]).sign().tolist()
        [-1.0, 0.0, 1.0]
        """
        dtype = self._uop.dtype
        if is_boolean(dtype):
            return self
        signed = (self > 0).cast(dtype) - (self < 0).cast(dtype)
        if not dtypes.is_float(dtype):
            return signed
        return value_with_derivative(self.isnan().where(self.detach(), signed), self, "flat")

    def trunc(self) -> Self:
        """Toward zero; integers stay as they are.

        >>> Tensor([-1.5, 0.2, 2.9]).trunc().tolist()
        [-1.0, 0.0, 2.0]
        """
        if not dtypes.is_float(self._uop.dtype):
            return self
        return self._unary(Ops.TRUNC)

    def floor(self) -> Self:
        """Down to a whole number.

        >>> Tensor([-1.5, 0.2, 2.0]).floor().tolist()
        [-2.0, 0.0, 2.0]
        """
        if not dtypes.is_float(self._uop.dtype):
            return self
        whole = self.trunc()
        return (self < whole).where(whole - 1, whole)

    def ceil(self) -> Self:
        """Up to a whole number.

        >>> Tensor([-1.5, 0.2, 2.0]).ceil().tolist()
        [-1.0, 1.0, 2.0]
        """
        if not dtypes.is_float(self._uop.dtype):
            return self
        whole = self.trunc()
        return (self > whole).where(whole + 1, whole)

    def round(self, decimals: int = 0) -> Self:
        """To the nearest whole number, halves to the even one; or to the nearest multiple of
        10**-decimals, which is computed as x * 10**decimals rounded and divided again.

        >>> Tensor([0.5, 1.5, 2.6, -2.5]).round().tolist()
        [0.0, 2.0, 3.0, -2.0]
        >>> Tensor([1.25, 3.14159]).round(decimals=2).tolist()
        [1.25, 3.14]
        """
        dtype = self._uop.dtype
        decimals = min(max(whole(decimals, "decimals"), -300), 300)
        if not dtypes.is_float(dtype):
            return self if decimals >= 0 else self._to_multiples(10**-decimals)
        if decimals:
            scale = 10.0 ** abs(decimals)
            if decimals > 0:
                return (self * scale).round() / scale
            return (self / scale).round() * scale
        # Adding 2**m to a number below it leaves no bits for a fraction: the hardware rounds.
        x = self.detach()
        size = x.abs()
        big = 2.0 ** dtypes.finfo(dtype).mantissa_bits
        rounded = (size + big) - big
        inside = (size < big) & (0 < size)  # a zero keeps its sign
        nearest = inside.where((x < 0).where(-rounded, rounded), x)
        return value_with_derivative(nearest, self, "flat")

    def _to_multiples(self, step: int) -> Self:
        """Integers to the nearest multiple of an even `step`, halves to an even one."""
        dtype = self._uop.dtype
        if is_boolean(dtype) or step > dtype.max:
            return self.zeros_like()  # unless it is a multiple that the dtype cannot represent
        below = self // step
        rest = self - below * step
        half = step // 2
        up = (rest > half) | ((rest == half) & (below % 2 == 1))
        return up.where(below + 1, below) * step

    def _next_float(self, target: Self) -> Self:
        """The next float after self in the direction of another one, in the float dtype of both."""
        dtype = least_upper_float(least_upper_dtype(self.dtype, target.dtype))
        shape = broadcast_shapes(self.shape, target.shape)
        a, b = (each.cast(dtype).detach()._expanded(shape) for each in (self, target))
        kind = _INTEGERS[dtype.itemsize]
        bits = a.bitcast(kind)
        # away from zero the number of the pattern grows, on both sides of it
        grows = (b > a) == (a > 0)
        stepped = grows.where(bits + 1, bits - 1)
        least = (b < 0).where(bits.full_like(kind.min + 1), bits.full_like(1))
        moved = (a == 0).where(least, stepped).bitcast(dtype)
        found: Self = (a.isnan() | b.isnan()).where(a + b, (a == b).where(b, moved))
        return found

    keccak = hashing.keccak

    absolute = abs
    fix = trunc
    sgn = sign

    def bitwise_left_shift(self, other: ArrayLike) -> Self:
        """`lshift`: self << other.

        >>> Tensor([1, 2]).bitwise_left_shift(3).tolist()
        [8, 16]
        """
        return self.lshift(other)

    def bitwise_right_shift(self, other: ArrayLike) -> Self:
        """`rshift`: self >> other.

        >>> Tensor([8, 16]).bitwise_right_shift(3).tolist()
        [1, 2]
        """
        return self.rshift(other)
