"""Functions of each element. Of two operands one may be a Python number, which is weak.

What the standard says of zeros with a sign, of infinities and of NaN holds here; where a function
of Tensor is not that careful, the case is corrected here.
"""

from __future__ import annotations

import math
from typing import Any

from weft.array_api.array import Array, as_array, both, must_be
from weft.base.arguments import real as number_of
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.base.promotion import least_upper_dtype
from weft.tensor import Tensor

_BITS = {2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}
_WHOLE = {2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}


def _odd(x: Array, value: Array) -> Array:
    """An odd function that is the identity at both zeros."""
    return (x == 0).where(x.cast(value.dtype), value)


def _negative_bit(x: Any) -> Any:
    bits = _BITS[x.dtype.itemsize]
    return x.detach().bitcast(bits) >> (bits.bitsize - 1) != 0


# ---- arithmetic ----------------------------------------------------------------------------------


def abs(x: Array, /) -> Array:
    """Size without sign."""
    return as_array(x).abs()


def add(x1: Any, x2: Any, /) -> Array:
    """Sum."""
    a, b = both(x1, x2)
    return a + b


def subtract(x1: Any, x2: Any, /) -> Array:
    """Difference."""
    a, b = both(x1, x2)
    return a - b


def multiply(x1: Any, x2: Any, /) -> Array:
    """Product."""
    a, b = both(x1, x2)
    return a * b


def divide(x1: Any, x2: Any, /) -> Array:
    """Quotient, in floats."""
    a, b = both(x1, x2)
    return a / b


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Quotient rounded down."""
    a, b = both(x1, x2)
    return a // b


def remainder(x1: Any, x2: Any, /) -> Array:
    """Remainder with the sign of the divisor."""
    a, b = both(x1, x2)
    return a % b


def pow(x1: Any, x2: Any, /) -> Array:
    """x1 to the power x2."""
    if isinstance(x2, (int, float)):
        return as_array(x1) ** x2
    a, b = both(x1, x2)
    return a**b


def negative(x: Array, /) -> Array:
    """Negative."""
    return -as_array(x)


def positive(x: Array, /) -> Array:
    """x itself."""
    return +as_array(x)


def reciprocal(x: Array, /) -> Array:
    """1 / x."""
    return as_array(x).reciprocal()


def square(x: Array, /) -> Array:
    """x * x."""
    return as_array(x).square()


def sqrt(x: Array, /) -> Array:
    """Square root; NaN below zero."""
    return as_array(x).sqrt()


def hypot(x1: Any, x2: Any, /) -> Array:
    """sqrt(x1 ** 2 + x2 ** 2) without overflow between; infinite if one side is."""
    a, b = _floats("hypot", x1, x2)
    a, b = a.abs(), b.abs()
    # NaN stays out of the comparison, so that an infinite side may win over it
    large, small = (a > b).where(a, b), (a > b).where(b, a)
    usable = (large > 0) & (large < math.inf)
    ratio = small / usable.where(large, 1)
    length = usable.where(large * (ratio * ratio + 1).sqrt(), large + small)
    return ((a == math.inf) | (b == math.inf)).where(math.inf, length)


def sign(x: Array, /) -> Array:
    """-1, 0 or 1; NaN stays."""
    return as_array(x).sign()


def signbit(x: Array, /) -> Array:
    """Whether the sign bit is set, that of -0 included."""
    x = as_array(x)
    must_be("signbit", x, "float")
    return _negative_bit(x)


def copysign(x1: Any, x2: Any, /) -> Array:
    """The size of x1 with the sign of x2."""
    a, b = _floats("copysign", x1, x2)
    return _negative_bit(b).where(-a.abs(), a.abs())


def nextafter(x1: Any, x2: Any, /) -> Array:
    """The next number after x1 in the direction of x2."""
    a, b = _floats("nextafter", x1, x2)
    shape = (a == b).shape
    a, b = a._expanded(shape), b._expanded(shape)
    whole = _WHOLE[a.dtype.itemsize]
    bits = a.bitcast(whole)
    # away from zero the number of the pattern grows, on both sides of it
    grows = (b > a) == (a > 0)
    stepped = grows.where(bits + 1, bits - 1)
    least = _negative_bit(b).where(bits.full_like(whole.min + 1), bits.full_like(1))
    moved = (a == 0).where(least, stepped).bitcast(a.dtype)
    moved = (a == b).where(b, moved)
    return (a.isnan() | b.isnan()).where(math.nan, moved)


def maximum(x1: Any, x2: Any, /) -> Array:
    """The larger; NaN where either is."""
    a, b = both(x1, x2)
    return a.maximum(b)


def minimum(x1: Any, x2: Any, /) -> Array:
    """The smaller; NaN where either is."""
    a, b = both(x1, x2)
    return a.minimum(b)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Bounded below and above, in the dtype of x; the bounds broadcast. NaN stays, in all three.

    A number below the range of an integer dtype is no lower bound, one above it no upper one.

    :raises OutOfRange: for bounds that would be results, and that the dtype of x cannot represent.
    """
    x = as_array(x)
    if min is not None and not _is_beyond(min, x.dtype, -1):
        x = x.maximum(_bound(min, x))
    return x if max is None or _is_beyond(max, x.dtype, 1) else x.minimum(_bound(max, x))


def _is_beyond(given: Any, dtype: Any, way: int) -> bool:
    """Whether a number is below all that an integer dtype represents (way -1), or above (1)."""
    if isinstance(given, Tensor) or not dtypes.is_int(dtype):
        return False
    number = number_of(given, "a bound")
    return number < dtype.min if way < 0 else number > dtype.max


def _bound(given: Any, x: Array) -> Array:
    if isinstance(given, Tensor):
        return as_array(given).cast(x.dtype)
    return Array.full((), number_of(given, "a bound"), dtype=x.dtype, device=x.device)


# ---- rounding ------------------------------------------------------------------------------------


def ceil(x: Array, /) -> Array:
    """Up to a whole number."""
    x = as_array(x)
    return _signed(x, x.ceil())


def floor(x: Array, /) -> Array:
    """Down to a whole number."""
    x = as_array(x)
    return _signed(x, x.floor())


def round(x: Array, /) -> Array:
    """To the nearest whole number, halves to the even one."""
    x = as_array(x)
    return _signed(x, x.round())


def trunc(x: Array, /) -> Array:
    """Toward zero."""
    x = as_array(x)
    return _signed(x, x.trunc())


def _signed(x: Array, whole: Array) -> Array:
    """A zero keeps the sign of what was rounded to it."""
    if not dtypes.is_float(x.dtype):
        return whole
    return (whole == 0).where(copysign(whole, x), whole)


# ---- functions of real numbers -------------------------------------------------------------------


def exp(x: Array, /) -> Array:
    """e to the power of x."""
    return as_array(x).exp()


def expm1(x: Array, /) -> Array:
    """exp(x) - 1, exact near 0."""
    x = as_array(x)
    return _odd(x, x.expm1())


def log(x: Array, /) -> Array:
    """Natural logarithm."""
    return as_array(x).log()


def log1p(x: Array, /) -> Array:
    """log(1 + x), exact near 0."""
    x = as_array(x)
    return _odd(x, x.log1p())


def log2(x: Array, /) -> Array:
    """Binary logarithm."""
    return as_array(x).log2()


def log10(x: Array, /) -> Array:
    """Decimal logarithm."""
    return as_array(x).log10()


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """log(exp(x1) + exp(x2)), without overflow between."""
    a, b = _floats("logaddexp", x1, x2)
    top, apart = a.maximum(b), (a - b).abs()
    # equal infinities have no distance
    return (a == b).where(a + math.log(2.0), top + (-apart).exp().log1p())


def sin(x: Array, /) -> Array:
    """Sine."""
    x = as_array(x)
    return _odd(x, x.sin())


def cos(x: Array, /) -> Array:
    """Cosine."""
    return as_array(x).cos()


def tan(x: Array, /) -> Array:
    """Tangent."""
    x = as_array(x)
    return _odd(x, x.tan())


def asin(x: Array, /) -> Array:
    """Arc sine."""
    x = as_array(x)
    return _odd(x, x.asin())


def acos(x: Array, /) -> Array:
    """Arc cosine."""
    return as_array(x).acos()


def atan(x: Array, /) -> Array:
    """Arc tangent."""
    x = as_array(x)
    return _odd(x, x.atan())


def atan2(x1: Any, x2: Any, /) -> Array:
    """The angle of the point (x2, x1), from -pi to pi, in the half plane of the sign of x1."""
    y, x = _floats("atan2", x1, x2)
    rise, run = y.abs(), x.abs()
    infinite = (rise == math.inf) & (run == math.inf)
    flat = (rise == 0) & (run == 0)
    steep = rise > run
    # the smaller over the larger, so that nothing overflows
    ratio = steep.where(run, rise) / flat.where(1, steep.where(rise, run))
    angle = infinite.where(1, ratio).atan()
    angle = steep.where(math.pi / 2 - angle, angle)
    angle = _negative_bit(x).where(math.pi - angle, angle)
    angle = (y.isnan() | x.isnan()).where(math.nan, angle)
    return _negative_bit(y).where(-angle, angle)


def sinh(x: Array, /) -> Array:
    """Hyperbolic sine."""
    x = as_array(x)
    return _odd(x, x.sinh())


def cosh(x: Array, /) -> Array:
    """Hyperbolic cosine."""
    return as_array(x).cosh()


def tanh(x: Array, /) -> Array:
    """Hyperbolic tangent."""
    x = as_array(x)
    return _odd(x, x.tanh())


def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sine."""
    x = as_array(x)
    return _odd(x, x.asinh())


def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosine."""
    return as_array(x).acosh()


def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangent."""
    x = as_array(x)
    return _odd(x, x.atanh())


def _floats(name: str, x1: Any, x2: Any) -> tuple[Any, Any]:
    """Two operands in their common float dtype."""
    a, b = both(x1, x2)
    kind = least_upper_dtype(a.dtype, b.dtype)
    for each in (a, b):
        must_be(name, each, "int", "float")
    kind = kind if dtypes.is_float(kind) else dtypes.default_float
    return a.cast(kind), b.cast(kind)


# ---- bits and truth ------------------------------------------------------------------------------


def bitwise_and(x1: Any, x2: Any, /) -> Array:
    """Of integers and bool."""
    a, b = both(x1, x2)
    return a & b


def bitwise_or(x1: Any, x2: Any, /) -> Array:
    """Of integers and bool."""
    a, b = both(x1, x2)
    return a | b


def bitwise_xor(x1: Any, x2: Any, /) -> Array:
    """Of integers and bool."""
    a, b = both(x1, x2)
    return a ^ b


def bitwise_invert(x: Array, /) -> Array:
    """Of integers and bool."""
    return ~as_array(x)


def bitwise_left_shift(x1: Any, x2: Any, /) -> Array:
    """Of integers."""
    a, b = both(x1, x2)
    return a << b


def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """Of integers, keeping the sign."""
    a, b = both(x1, x2)
    return a >> b


def logical_and(x1: Any, x2: Any, /) -> Array:
    """Whether both are not zero."""
    a, b = both(x1, x2)
    return a.bool() & b.bool()


def logical_or(x1: Any, x2: Any, /) -> Array:
    """Whether one is not zero."""
    a, b = both(x1, x2)
    return a.bool() | b.bool()


def logical_xor(x1: Any, x2: Any, /) -> Array:
    """Whether exactly one is not zero."""
    a, b = both(x1, x2)
    return a.bool() ^ b.bool()


def logical_not(x: Array, /) -> Array:
    """Whether zero."""
    return as_array(x).logical_not()


# ---- comparison ----------------------------------------------------------------------------------


def equal(x1: Any, x2: Any, /) -> Array:
    """x1 == x2."""
    a, b = both(x1, x2)
    return a == b


def not_equal(x1: Any, x2: Any, /) -> Array:
    """x1 != x2."""
    a, b = both(x1, x2)
    return a != b


def less(x1: Any, x2: Any, /) -> Array:
    """x1 < x2."""
    a, b = both(x1, x2)
    return a < b


def less_equal(x1: Any, x2: Any, /) -> Array:
    """x1 <= x2."""
    a, b = both(x1, x2)
    return a <= b


def greater(x1: Any, x2: Any, /) -> Array:
    """x1 > x2."""
    a, b = both(x1, x2)
    return a > b


def greater_equal(x1: Any, x2: Any, /) -> Array:
    """x1 >= x2."""
    a, b = both(x1, x2)
    return a >= b


def isfinite(x: Array, /) -> Array:
    """Whether neither infinite nor NaN."""
    return as_array(x).isfinite()


def isinf(x: Array, /) -> Array:
    """Whether infinite."""
    return as_array(x).isinf()


def isnan(x: Array, /) -> Array:
    """Whether NaN."""
    return as_array(x).isnan()


# ---- complex numbers, of which weft has the real ones --------------------------------------------


def real(x: Array, /) -> Array:
    """x itself: every dtype of weft is real."""
    return as_array(x)


def conj(x: Array, /) -> Array:
    """x itself: every dtype of weft is real."""
    return as_array(x)


def imag(x: Array, /) -> Array:
    """:raises ArgumentError: always, as the standard requires for real dtypes."""
    x = as_array(x)
    raise ArgumentError(
        "real numbers have no imaginary part",
        asked=f"imag of {x.dtype!r} {x.shape}",
        because="weft has no complex dtypes",
        try_="zeros_like(x)",
    )
