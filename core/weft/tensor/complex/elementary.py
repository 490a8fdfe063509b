"""Elementary functions of complex tensors: exponentials, logarithms, roots, hyperbolic, circular.

Values at zeros, infinities and NaN, and the sides of branch cuts, are those of the array API
standard and of C (Annex G), which agree. `x` and `y` are the real and the imaginary part of an
argument; each function of them returns the parts of the result.

Source: W. Kahan, "Branch cuts for complex elementary functions" (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from weft.base.dtype import dtypes

Pair: TypeAlias = tuple[Any, Any]

_LN2, _LN10 = math.log(2.0), math.log(10.0)


def _method(name: str, says: str, function: Callable[[Any, Any], Pair]) -> Callable[[Any], Any]:
    """The method of a function of two parts."""

    def method(self: Any) -> Any:
        return self._of_parts(*function(*self._parts()))

    method.__name__, method.__doc__ = name, says
    return method


def signed(value: float, like: Any) -> Any:
    """A number with the signs of `like`."""
    number = like.full((), value, dtype=like.dtype, device=like.device)
    return like.signbit().where(-number, number)


# ---- exponentials and logarithms -----------------------------------------------------------------


def _exp(x: Any, y: Any) -> Pair:
    size = x.exp()
    return _at_infinity(x, y, size, size * y.cos(), size * y.sin(), 0.0)


def _exp2(x: Any, y: Any) -> Pair:
    size, turn = x.exp2(), y * _LN2
    return _at_infinity(x, y, size, size * turn.cos(), size * turn.sin(), 0.0)


def _at_infinity(x: Any, y: Any, size: Any, real: Any, imag: Any, lowest: float) -> Pair:
    """The parts of exp or expm1 where exp(x), the size, is infinite or NaN, or x is -inf, where
    the real part is `lowest`."""
    lost, down = ~y.isfinite(), x == -math.inf
    real = (lost & (x == math.inf)).where(math.inf, (lost & down).where(lowest, real))
    imag = (lost & down).where(0.0, imag)
    return real, ((y == 0) & ~size.isfinite()).where(y, imag)


def _expm1(x: Any, y: Any) -> Pair:
    half = (y * 0.5).sin()
    real = x.expm1() * y.cos() - 2.0 * half * half
    size = x.exp()
    return _at_infinity(x, y, size, real, size * y.sin(), -1.0)


def _log(x: Any, y: Any) -> Pair:
    return _log_of_size(x, y), y.atan2(x)


def _log_of_size(x: Any, y: Any) -> Any:
    """log(hypot(x, y)), exact where that is near zero, and without overflow."""
    high, low = x.abs().maximum(y.abs()), x.abs().minimum(y.abs())
    near = (high > 0.5) & (high < 2.0)
    p, q = near.where(high, 1.0), near.where(low, 0.0)
    exact = 0.5 * ((p - 1.0) * (p + 1.0) + q * q).log1p()
    ratio = low / ((high > 0) & high.isfinite()).where(high, 1.0)
    ratio = ratio.isfinite().where(ratio, 0.0)
    far = high.log() + 0.5 * (ratio * ratio).log1p()
    missing = x.isnan() | y.isnan()
    known = missing.where(math.nan, near.where(exact, far))
    return (x.isinf() | y.isinf()).where(math.inf, known)


def _log1p(x: Any, y: Any) -> Pair:
    small = (x.abs() < 0.5) & (y.abs() < 0.5)
    p, q = small.where(x, 0.0), small.where(y, 0.0)
    exact = 0.5 * (p * (p + 2.0) + q * q).log1p()
    return small.where(exact, _log_of_size(x + 1.0, y)), y.atan2(x + 1.0)


def _scaled(function: Callable[[Any, Any], Pair], factor: float) -> Callable[[Any, Any], Pair]:
    def scaled(x: Any, y: Any) -> Pair:
        real, imag = function(x, y)
        return real * factor, imag * factor

    return scaled


def _sqrt(x: Any, y: Any) -> Pair:
    size = x.abs().maximum(y.abs())
    usual = (size > 0) & size.isfinite()
    # scaled by powers of four: no sum of squares overflows, and none loses digits
    limits = dtypes.finfo(x.dtype)
    large, small = size > limits.max / 8, size < limits.smallest_normal * 2.0**20
    scale = large.where(2.0**-4, small.where(2.0**60, 1.0))
    back = large.where(4.0, small.where(2.0**-30, 1.0))
    p, q = usual.where(x * scale, 1.0), usual.where(y * scale, 0.0)
    root = ((p.abs() + _hypotenuse(p, q)) * 0.5).sqrt()
    upper = q.signbit().where(-root, root)
    right = p >= 0
    real = right.where(root, q / (upper * 2.0)) * back
    imag = right.where(q / (root * 2.0), upper) * back
    real, imag = usual.where(real, x.abs()), usual.where(imag, y)  # of zero
    odd_real = y.isinf().where(math.inf, (x == -math.inf).where(y.abs() * 0.0, x))
    odd_imag = (x == -math.inf).where(signed(math.inf, y), (x == math.inf).where(y * 0.0, x + y))
    odd = ~size.isfinite()
    return odd.where(odd_real + _nan_of(x, y), real), odd.where(y.isinf().where(y, odd_imag), imag)


def _nan_of(x: Any, y: Any) -> Any:
    """NaN where y is and x is not infinite, else 0."""
    return (y.isnan() & ~x.isinf()).where(math.nan, 0.0)


def _hypotenuse(x: Any, y: Any) -> Any:
    """sqrt(x * x + y * y) of numbers that are neither zero nor large."""
    high, low = x.abs().maximum(y.abs()), x.abs().minimum(y.abs())
    ratio = low / high
    return high * (ratio * ratio + 1.0).sqrt()


# ---- hyperbolic ----------------------------------------------------------------------------------


def _sinh(x: Any, y: Any) -> Pair:
    lost = ~y.isfinite()
    real = (lost & (x.isinf() | (x == 0))).where(x, x.sinh() * y.cos())
    size = x.cosh()
    return real, ((y == 0) & ~size.isfinite()).where(y, size * y.sin())


def _cosh(x: Any, y: Any) -> Pair:
    lost = ~y.isfinite()
    real = (lost & x.isinf()).where(math.inf, x.cosh() * y.cos())
    size = x.sinh()
    imag = (lost & (x == 0)).where(0.0, size * y.sin())
    return real, ((y == 0) & ~size.isfinite()).where(x.signbit().where(-y, y), imag)


def _tanh(x: Any, y: Any) -> Pair:
    far = x.abs() > (11.0 if x.dtype is dtypes.float32 else 22.0)
    p = far.where(1.0, x)
    sine, cosine, rise = y.sin(), y.cos(), p.sinh()
    below = rise * rise + cosine * cosine
    lost = ~y.isfinite()
    tail = (lost & x.isinf()).where(0.0, 4.0 * sine * cosine * (x.abs() * -2.0).exp())
    real = far.where(signed(1.0, x), rise * p.cosh() / below)
    real = (lost & x.isfinite()).where((x == 0).where(x, math.nan), real)
    imag = far.where(tail, sine * cosine / below)
    return real, ((y == 0) & ~x.isfinite()).where(y, imag)


def _asinh(x: Any, y: Any) -> Pair:
    a, b = _sqrt(y + 1.0, -x), _sqrt(1.0 - y, x)
    real = _asinh_of_product(x, y, x, a[0] * b[1] - b[0] * a[1])
    imag = y.atan2(_is_large(x, y).where(x.abs(), a[0] * b[0] - a[1] * b[1]))
    odd = ~(x.isfinite() & y.isfinite())
    far = (x.isinf() | y.isinf()).where(signed(math.inf, x), math.nan)
    turned = (x.isnan() & (y == 0)).where(y, y.atan2(x.abs()))
    return odd.where(far, real), odd.where(turned, imag)


def _asinh_of_product(x: Any, y: Any, sign: Any, product: Any) -> Any:
    """asinh of a difference of products; of large numbers x + iy, where these overflow, log(2 |z|)
    with the signs of `sign`."""
    far = _is_large(x, y)
    size = _log_of_size(x, y) + _LN2
    return far.where(sign.signbit().where(-size, size), far.where(0.0, product).asinh())


def _is_large(x: Any, y: Any) -> Any:
    """Whether products of the roots of 1 + z and 1 - z may overflow."""
    return x.abs().maximum(y.abs()) > dtypes.finfo(x.dtype).max / 8


def _acos(x: Any, y: Any) -> Pair:
    a, b = _sqrt(1.0 - x, -y), _sqrt(x + 1.0, y)
    real = a[0].atan2(b[0]) * 2.0
    imag = _asinh_of_product(x, y, -y, b[0] * a[1] - b[1] * a[0])
    odd = ~(x.isfinite() & y.isfinite())
    turned = (y.isnan() & (x == 0)).where(math.pi / 2, y.abs().atan2(x))
    far = (x.isinf() | y.isinf()).where(signed(-math.inf, y), math.nan)
    return odd.where(turned, real), odd.where(far, imag)


def _acosh(x: Any, y: Any) -> Pair:
    real, imag = _acos(x, y)
    return y.signbit().where(imag, -imag), y.signbit().where(-real, real)


def _atanh(x: Any, y: Any) -> Pair:
    left = x.signbit()
    a, b = left.where(-x, x), left.where(-y, y)
    limits = dtypes.finfo(x.dtype)
    far = a.maximum(b.abs()) > limits.max**0.5 / 2
    p, q = far.where(0.0, a), far.where(0.0, b)
    tiny = (p == 1.0) & (q.abs() < limits.smallest_normal**0.5) & (q != 0)
    inner = tiny.where(0.0, (1.0 - p) * (1.0 - p) + q * q)
    real = (p * 4.0 / tiny.where(1.0, inner)).log1p() * 0.25
    real = tiny.where((tiny.where(q.abs(), 1.0).log() - _LN2) * -0.5, real)
    imag = (q * 2.0).atan2((1.0 - p) * (1.0 + p) - q * q) * 0.5
    turned = signed(math.pi / 2, b)
    half = (a * 0.5).maximum(b.abs() * 0.5)
    ratio_a, ratio_b = a * 0.5 / half, b * 0.5 / half
    falling = ratio_a / (ratio_a * ratio_a + ratio_b * ratio_b) * 0.5 / half
    infinite = x.isinf() | y.isinf()
    real = far.where(infinite.where(0.0, falling), real)
    imag = far.where((a.isinf() & b.isnan()).where(math.nan, turned), imag)
    missing = (x.isnan() | y.isnan()) & ~infinite
    real = missing.where((a == 0).where(0.0, math.nan), real)
    real, imag = y.isinf().where(0.0, real), y.isinf().where(turned, missing.where(math.nan, imag))
    imag = (a.isinf() & b.isnan()).where(math.nan, (a.isinf()).where(turned, imag))
    real = a.isinf().where(0.0, real)
    return left.where(-real, real), left.where(-imag, imag)


# ---- circular: functions of i * z ---------------------------------------------------------------


def _rotated(function: Callable[[Any, Any], Pair]) -> Callable[[Any, Any], Pair]:
    """-i * function(i * z)."""

    def rotated(x: Any, y: Any) -> Pair:
        real, imag = function(-y, x)
        return imag, -real

    return rotated


def _cos(x: Any, y: Any) -> Pair:
    return _cosh(-y, x)


_sin, _tan, _asin, _atan = map(_rotated, (_sinh, _tanh, _asinh, _atanh))

_TABLE: dict[str, tuple[str, Callable[[Any, Any], Pair]]] = {
    "exp": ("e to the power x.", _exp),
    "expm1": ("exp(x) - 1, exact near zero.", _expm1),
    "exp2": ("2 to the power x.", _exp2),
    "log": ("The natural logarithm, with an imaginary part from -pi to pi.", _log),
    "log1p": ("log(1 + x), exact near zero.", _log1p),
    "log2": ("The logarithm to base 2.", _scaled(_log, 1.0 / _LN2)),
    "log10": ("The logarithm to base 10.", _scaled(_log, 1.0 / _LN10)),
    "sqrt": ("The square root, with a real part that is not negative.", _sqrt),
    "sinh": ("Hyperbolic sine.", _sinh),
    "cosh": ("Hyperbolic cosine.", _cosh),
    "tanh": ("Hyperbolic tangent.", _tanh),
    "asinh": ("Inverse hyperbolic sine.", _asinh),
    "acosh": ("Inverse hyperbolic cosine.", _acosh),
    "atanh": ("Inverse hyperbolic tangent.", _atanh),
    "sin": ("Sine.", _sin),
    "cos": ("Cosine.", _cos),
    "tan": ("Tangent.", _tan),
    "asin": ("Inverse sine.", _asin),
    "acos": ("Inverse cosine.", _acos),
    "atan": ("Inverse tangent.", _atan),
}

METHODS: dict[str, Callable[[Any], Any]] = {
    name: _method(name, says, function) for name, (says, function) in _TABLE.items()
}
"""The functions as methods, by name."""
