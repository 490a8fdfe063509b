"""Bits of integers and bool; signs and rounding of numbers."""

from __future__ import annotations

from typing import Any, Self

from weft.base.dtype import dtypes
from weft.tensor.ops.operands import OperandsMixin, complement, is_boolean
from weft.uop import Ops


class BitsMixin(OperandsMixin):
    """Bitwise methods, and those that take a number apart."""

    __slots__ = ()

    # ---- bits ---------------------------------------------------------------------------------

    def bitwise_and(self, x: Any, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats."""
        self._whole("bitwise and", x)
        return self._binary(Ops.AND, x, reverse)

    def bitwise_or(self, x: Any, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats."""
        self._whole("bitwise or", x)
        return self._binary(Ops.OR, x, reverse)

    def bitwise_xor(self, x: Any, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats."""
        self._whole("bitwise xor", x)
        return self._binary(Ops.XOR, x, reverse)

    def bitwise_not(self) -> Self:
        """Of integers and bool. :raises DTypeError: for floats."""
        self._whole("bitwise not")
        return self._wrap(complement(self._uop))

    def lshift(self, x: Any, reverse: bool = False) -> Self:
        """Bits to the left; 0 from the width of the dtype on. :raises DTypeError: for floats."""
        self._whole("a shift", x)
        return self._binary(Ops.SHL, x, reverse)

    def rshift(self, x: Any, reverse: bool = False) -> Self:
        """Bits to the right, keeping the sign. :raises DTypeError: for floats."""
        self._whole("a shift", x)
        return self._binary(Ops.SHR, x, reverse)

    # ---- sign and rounding --------------------------------------------------------------------

    def abs(self) -> Self:
        """Size without sign; of the least integer, itself. Gradient at 0: 0."""
        dtype = self._uop.dtype
        if is_boolean(dtype) or dtypes.is_unsigned(dtype):
            return self
        # 0 - x first: of two zeros MAX takes its first operand, and this one is positive
        return (0 - self).maximum(self)

    def sign(self) -> Self:
        """-1, 0 or 1; NaN stays."""
        dtype = self._uop.dtype
        if is_boolean(dtype):
            return self
        signed = (self > 0).cast(dtype) - (self < 0).cast(dtype)
        if not dtypes.is_float(dtype):
            return signed
        return self.isnan().where(self.detach(), signed)

    def trunc(self) -> Self:
        """Toward zero; integers stay as they are."""
        if not dtypes.is_float(self._uop.dtype):
            return self
        return self._unary(Ops.TRUNC)

    def floor(self) -> Self:
        """Down to a whole number."""
        if not dtypes.is_float(self._uop.dtype):
            return self
        whole = self.trunc()
        return (self < whole).where(whole - 1, whole)

    def ceil(self) -> Self:
        """Up to a whole number."""
        if not dtypes.is_float(self._uop.dtype):
            return self
        whole = self.trunc()
        return (self > whole).where(whole + 1, whole)

    def round(self) -> Self:
        """To the nearest whole number, halves to the even one."""
        dtype = self._uop.dtype
        if not dtypes.is_float(dtype):
            return self
        # Adding 2**m to a number below it leaves no room for a fraction: the hardware rounds.
        x = self.detach()
        size = x.abs()
        big = 2.0 ** dtypes.finfo(dtype).mantissa_bits
        rounded = (size + big) - big
        return (size < big).where((x < 0).where(-rounded, rounded), x)
