"""The remainder of floats, exact however large the quotient is.

a - b * floor(a / b) has no correct digit where a / b has more digits than the dtype. Both numbers
are whole multiples of powers of two, so the remainder is that of A * 2**d by B with A and B whole:
2**d is found modulo B by squaring. Residues are kept between -B/2 and B/2: then the quotient of a
product by B is off by less than one when it is rounded, and what is left of the product fits into
the dtype again (products in two parts after Dekker, 1971, by multiplications and additions that
are rounded once).
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.promotion import least_upper_dtype
from weft.tensor.protocol import record
from weft.uop import Ops

_WHOLE = {4: dtypes.int32, 8: dtypes.int64}
_SQUARED = {4: 5, 8: 7}
"""How many of the last binary digits of d are found by squaring; the power of two of the others is
below B / 2 by itself."""


def exact_remainder(a: Any, b: Any) -> Any:
    """The remainder of a / b with the sign of b, in their common float dtype.

    NaN for an infinite dividend or a divisor of 0; a itself under an infinite divisor of its sign.
    """
    kind = least_upper_dtype(a.dtype, b.dtype)
    wide = kind if kind.itemsize >= 4 else dtypes.float32
    first, second = a.cast(wide), b.cast(wide)
    a, b = first.detach(), second.detach()
    shape = (a == b).shape
    a, b = a._expanded(shape), b._expanded(shape)
    usable = a.isfinite() & b.isfinite() & (a != 0) & (b != 0)
    rest = _reduced(usable.where(a.abs(), 1), usable.where(b.abs(), 1), wide)
    rest = (usable & (a.abs() >= b.abs())).where(rest, a.abs())
    rest = (a < 0).where(-rest, rest)
    rest = ((rest != 0) & ((rest < 0) != (b < 0))).where(rest + b, rest)
    rest = (rest == 0).where((b < 0).where(-0.0, 0.0), rest)
    known = a.isfinite() & ~b.isnan() & (b != 0)
    rest = known.where(rest, math.nan)
    if first.requires_grad or second.requires_grad:
        # only the derivatives are added: 1, and minus the integer quotient
        rest = rest + (first - a) - (second - b) * (a / b).floor()
    return rest.cast(kind)


def _reduced(dividend: Any, divisor: Any, kind: DType) -> Any:
    """dividend mod divisor, of finite numbers above 0."""
    top, high = _taken_apart(dividend, kind)
    size, low = _taken_apart(divisor, kind)
    apart = high - low
    apart = (apart > 0).where(apart, 0)  # of a smaller dividend the result is not used
    squared = _SQUARED[kind.itemsize]
    power = _power_of_two(apart >> squared, kind)
    for digit in reversed(range(squared)):
        power = _product(power, power, size)
        twice = _balanced(power + power, size)
        power = ((apart >> digit) & 1 != 0).where(twice, power)
    rest = _product(power, _balanced(_balanced(top, size), size), size)
    rest = (rest < 0).where(rest + size, rest)
    # back to where the divisor was, in two steps: the power alone may be beyond the dtype
    half = low >> 1
    return rest * _power_of_two(half, kind) * _power_of_two(low - half, kind)


def _taken_apart(x: Any, kind: DType) -> tuple[Any, Any]:
    """(the digits as a whole number that uses them all, the exponent) of numbers above 0."""
    limits, whole = dtypes.finfo(kind), _WHOLE[kind.itemsize]
    digits = limits.mantissa_bits
    small = x < limits.smallest_normal
    field = small.where(x * 2.0 ** (digits + 1), x).bitcast(whole)
    exponent = (field >> digits) - limits.bias - digits - small.where(digits + 1, 0)
    number = (field & ((1 << digits) - 1)) | (limits.bias + digits << digits)
    return number.cast(whole).bitcast(kind), exponent


def _power_of_two(exponent: Any, kind: DType) -> Any:
    limits = dtypes.finfo(kind)
    field = (exponent + limits.bias) << limits.mantissa_bits
    return field.cast(_WHOLE[kind.itemsize]).bitcast(kind)


def _balanced(x: Any, modulus: Any) -> Any:
    """A residue of at most the modulus, moved between minus and plus half of it."""
    half = modulus * 0.5
    x = (x > half).where(x - modulus, x)
    return (x < -half).where(x + modulus, x)


def _product(x: Any, y: Any, modulus: Any) -> Any:
    """x * y modulo `modulus`, of balanced residues."""
    high = x * y
    low = _multiplied(x, y, -high)
    quotient = (high / modulus).round()
    return _balanced(_multiplied(-quotient, modulus, high) + low, modulus)


def _multiplied(x: Any, y: Any, z: Any) -> Any:
    """x * y + z, rounded once."""
    return x._from_node(record(Ops.MULACC, x.dtype, (x._uop, y._uop, z._uop)))
