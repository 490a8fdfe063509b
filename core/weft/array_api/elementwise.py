"""Elementwise functions. One of two operands may be a Python number, which is weakly typed.

Signed zeros, infinities and NaN follow the standard. If a method of Tensor differs in such a case,
the function corrects it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

from weft.array_api.array import Array, as_array, both, must_be
from weft.base.arguments import real as number_of
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.base.promotion import least_upper_dtype
from weft.tensor import Tensor

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan",
    "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign",
    "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Array])

_BITS = {2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


def _unary(
    name: str, doc: str, compute: Callable[[Array], Array] | None = None
) -> Callable[[Array], Array]:
    """A function of one array: `compute`, or the method of this name."""
    compute = compute or operator.methodcaller(name)

    def function(x: Array, /) -> Array:
        return compute(as_array(x))

    return _named(function, name, doc)


def _binary(
    name: str, doc: str, compute: Callable[[Array, Array], Array]
) -> Callable[[Any, Any], Array]:
    """A function of two arrays, one of which may be given as a number."""

    def function(x1: Any, x2: Any, /) -> Array:
        return compute(*both(x1, x2))

    return _named(function, name, doc)


def _binary_of_floats(name: str, doc: str) -> Callable[[Any, Any], Array]:
    """The method of this name, of two operands in their common float dtype."""

    def function(x1: Any, x2: Any, /) -> Array:
        a, b = _floats(name, x1, x2)
        result: Array = getattr(a, name)(b)
        return result

    return _named(function, name, doc)


def _named(function: Function, name: str, doc: str) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _of_truth(operation: Callable[[Any, Any], Any]) -> Callable[[Array, Array], Array]:
    return lambda a, b: operation(a.bool(), b.bool())


def _negative_bit(x: Any) -> Any:
    bits = _BITS[x.dtype.itemsize]
    return x.detach().bitcast(bits) >> (bits.bitsize - 1) != 0


# ---- arithmetic ----------------------------------------------------------------------------------

abs = _unary("abs", "Size without sign.")
add = _binary("add", "Sum.", operator.add)
subtract = _binary("subtract", "Difference.", operator.sub)
multiply = _binary("multiply", "Product.", operator.mul)
divide = _binary("divide", "Quotient, in floats.", operator.truediv)
floor_divide = _binary("floor_divide", "Quotient rounded down.", operator.floordiv)
remainder = _binary("remainder", "Remainder with the sign of the divisor.", operator.mod)


def pow(x1: Any, x2: Any, /) -> Array:
    """x1 to the power x2."""
    if isinstance(x2, (int, float, complex)):
        exponent: Any = x2
        return as_array(x1) ** exponent
    a, b = both(x1, x2)
    return a**b


negative = _unary("negative", "Negative.", operator.neg)
positive = _unary("positive", "x itself.", operator.pos)
reciprocal = _unary("reciprocal", "1 / x.")
square = _unary("square", "x * x.")
sqrt = _unary("sqrt", "Square root; NaN below zero.")
hypot = _binary_of_floats(
    "hypot", "sqrt(x1 ** 2 + x2 ** 2) without overflow between; infinite if one side is."
)
sign = _unary("sign", "-1, 0 or 1; NaN stays.")


def signbit(x: Array, /) -> Array:
    """Whether the sign bit is set, that of -0 included."""
    x = as_array(x)
    must_be("signbit", x, "float")
    return _negative_bit(x)


copysign = _binary_of_floats("copysign", "The size of x1 with the sign of x2.")


def nextafter(x1: Any, x2: Any, /) -> Array:
    """The next number after x1 in the direction of x2."""
    a, b = _floats("nextafter", x1, x2)
    return a._next_float(b)


maximum = _binary("maximum", "The larger; NaN where either is.", Array.maximum)
minimum = _binary("minimum", "The smaller; NaN where either is.", Array.minimum)


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

ceil = _unary("ceil", "Up to a whole number.")
floor = _unary("floor", "Down to a whole number.")
round = _unary("round", "To the nearest whole number, halves to the even one.")
trunc = _unary("trunc", "Toward zero.")

# ---- functions of real numbers -------------------------------------------------------------------

exp = _unary("exp", "e to the power of x.")
expm1 = _unary("expm1", "exp(x) - 1, exact near 0.")
log = _unary("log", "Natural logarithm.")
log1p = _unary("log1p", "log(1 + x), exact near 0.")
log2 = _unary("log2", "Binary logarithm.")
log10 = _unary("log10", "Decimal logarithm.")

logaddexp = _binary_of_floats("logaddexp", "log(exp(x1) + exp(x2)), without overflow between.")


sin = _unary("sin", "Sine.")
cos = _unary("cos", "Cosine.")
tan = _unary("tan", "Tangent.")
asin = _unary("asin", "Arc sine.")
acos = _unary("acos", "Arc cosine.")
atan = _unary("atan", "Arc tangent.")


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


sinh = _unary("sinh", "Hyperbolic sine.")
cosh = _unary("cosh", "Hyperbolic cosine.")
tanh = _unary("tanh", "Hyperbolic tangent.")
asinh = _unary("asinh", "Inverse hyperbolic sine.")
acosh = _unary("acosh", "Inverse hyperbolic cosine.")
atanh = _unary("atanh", "Inverse hyperbolic tangent.")


def _floats(name: str, x1: Any, x2: Any) -> tuple[Any, Any]:
    """Two operands in their common float dtype."""
    a, b = both(x1, x2)
    kind = least_upper_dtype(a.dtype, b.dtype)
    for each in (a, b):
        must_be(name, each, "int", "float")
    kind = kind if dtypes.is_float(kind) else dtypes.default_float
    return a.cast(kind), b.cast(kind)


# ---- bits and truth ------------------------------------------------------------------------------

bitwise_and = _binary("bitwise_and", "Of integers and bool.", operator.and_)
bitwise_or = _binary("bitwise_or", "Of integers and bool.", operator.or_)
bitwise_xor = _binary("bitwise_xor", "Of integers and bool.", operator.xor)
bitwise_invert = _unary("bitwise_invert", "Of integers and bool.", operator.invert)
bitwise_left_shift = _binary("bitwise_left_shift", "Of integers.", operator.lshift)
bitwise_right_shift = _binary(
    "bitwise_right_shift", "Of integers, keeping the sign.", operator.rshift
)
logical_and = _binary("logical_and", "Whether both are not zero.", _of_truth(operator.and_))
logical_or = _binary("logical_or", "Whether one is not zero.", _of_truth(operator.or_))
logical_xor = _binary("logical_xor", "Whether exactly one is not zero.", _of_truth(operator.xor))
logical_not = _unary("logical_not", "Whether zero.")

# ---- comparison ----------------------------------------------------------------------------------

equal = _binary("equal", "x1 == x2.", operator.eq)
not_equal = _binary("not_equal", "x1 != x2.", operator.ne)
less = _binary("less", "x1 < x2.", operator.lt)
less_equal = _binary("less_equal", "x1 <= x2.", operator.le)
greater = _binary("greater", "x1 > x2.", operator.gt)
greater_equal = _binary("greater_equal", "x1 >= x2.", operator.ge)
isfinite = _unary("isfinite", "Whether neither infinite nor NaN.")
isinf = _unary("isinf", "Whether infinite.")
isnan = _unary("isnan", "Whether NaN.")

# ---- complex numbers -----------------------------------------------------------------------------

real = _unary(
    "real", "The real part, a view; of real numbers x itself.",
    lambda x: x.real if x.is_complex() else x,
)  # fmt: skip
conj = _unary(
    "conj", "The complex conjugate; of real numbers x itself.",
    lambda x: x.conj() if x.is_complex() else x,
)  # fmt: skip


def imag(x: Array, /) -> Array:
    """The imaginary part, a view. :raises ArgumentError: for real dtypes, as the standard says."""
    x = as_array(x)
    if x.is_complex():
        return x.imag
    raise ArgumentError(
        "real numbers have no imaginary part",
        asked=f"imag of {x.dtype!r} {x.shape}",
        try_="zeros_like(x)",
    )
