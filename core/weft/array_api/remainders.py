"""The remainder of floats, exact however large the quotient is.

a - b * floor(a / b) has no correct digit where a / b has more digits than the dtype. Here the
dividend is reduced as in long division: as many binary digits of the quotient at a time as a float
holds, each rest being a float again (Sterbenz), found by a multiplication and addition that are
rounded once.
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.promotion import least_upper_dtype
from weft.tensor.protocol import record
from weft.uop import Ops

_WHOLE = {4: dtypes.int32, 8: dtypes.int64}


def exact_remainder(a: Any, b: Any) -> Any:
    """The remainder of a / b with the sign of b, in their common float dtype.

    NaN for an infinite dividend or a divisor of 0; a itself under an infinite divisor of its sign.
    """
    kind = least_upper_dtype(a.dtype, b.dtype)
    wide = kind if kind.itemsize >= 4 else dtypes.float32
    a, b = a.cast(wide).detach(), b.cast(wide).detach()
    shape = (a == b).shape
    a, b = a._expanded(shape), b._expanded(shape)
    usable = a.isfinite() & b.isfinite() & (b != 0)
    rest = _reduced(usable.where(a.abs(), 0), usable.where(b.abs(), 1), wide)
    rest = b.isinf().where(a.abs(), rest)
    rest = (a < 0).where(-rest, rest)
    rest = ((rest != 0) & ((rest < 0) != (b < 0))).where(rest + b, rest)
    rest = (rest == 0).where((b < 0).where(-0.0, 0.0), rest)
    known = a.isfinite() & ~b.isnan() & (b != 0)
    return known.where(rest, math.nan).cast(kind)


def _reduced(dividend: Any, divisor: Any, kind: DType) -> Any:
    """dividend mod divisor, of numbers that are not negative and finite, the divisor above 0."""
    limits = dtypes.finfo(kind)
    digits = limits.mantissa_bits - 1
    span = 2 * limits.bias + limits.mantissa_bits
    size = _exponent(divisor, kind)
    rest = dividend
    for _ in range(math.ceil(span / digits)):
        apart = _exponent(rest, kind) - size - digits
        apart = (apart > 0).where(apart, 0)
        scaled = _scaled(divisor, apart, kind)
        quotient = (rest / scaled).trunc()
        left = record(Ops.MULACC, kind, ((-quotient)._uop, scaled._uop, rest._uop))
        rest = rest._from_node(left)
        # the quotient may have been rounded up to the next whole number
        rest = (rest < 0).where(rest + scaled, rest)
    return rest


def _exponent(x: Any, kind: DType) -> Any:
    """The binary exponent of numbers that are not negative, small ones below the normal too."""
    limits, whole = dtypes.finfo(kind), _WHOLE[kind.itemsize]
    small = x < limits.smallest_normal
    lifted = small.where(x * 2.0 ** (limits.mantissa_bits + 1), x)
    field = lifted.bitcast(whole) >> limits.mantissa_bits
    return field - small.where(limits.mantissa_bits + 1, 0)


def _scaled(x: Any, exponent: Any, kind: DType) -> Any:
    """x * 2 ** exponent, in two steps: the power alone may be beyond the dtype."""
    limits = dtypes.finfo(kind)
    half = exponent >> 1
    for part in (half, exponent - half):
        x = x * ((part + limits.bias) << limits.mantissa_bits).bitcast(kind)
    return x
