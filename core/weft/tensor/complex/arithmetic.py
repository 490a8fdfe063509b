"""Arithmetic and comparison of complex tensors.

Sums, and products with real numbers, are one operation on the interleaved numbers; products of two
complex tensors are made of their parts.

Source: R. L. Smith, "Algorithm 116: Complex division", Communications of the ACM (1962).
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import dtypes
from weft.tensor.complex.parts import parts_of, result_dtype


def add(self: Any, x: Any, reverse: bool = False, *, alpha: float = 1) -> Any:
    """Sum, of self and alpha * x."""
    x = self._other(x)
    x = x if alpha == 1 else x * alpha
    return _sum(self, x, 1)


def sub(self: Any, x: Any, reverse: bool = False, *, alpha: float = 1) -> Any:
    """Difference, of self and alpha * x."""
    x = self._other(x)
    x = x if alpha == 1 else x * alpha
    difference = _sum(self, x, -1)
    return -difference if reverse else difference


def _sum(self: Any, x: Any, sign: int) -> Any:
    dtype = result_dtype(self, x)
    part = dtypes.real_dtype(dtype)
    own = self._interleaved.cast(part)
    if getattr(x, "_interleaved", None) is not None:
        own, other = _aligned(own, x._interleaved.cast(part))
        return self._over(own + other if sign > 0 else own - other)
    a, b = parts_of(self, dtype), parts_of(x, dtype)
    real = a.real + b.real if sign > 0 else a.real - b.real
    imag = a.imag
    if b.imag is not None:
        imag = imag + b.imag if sign > 0 else imag - b.imag
    return self._of_parts(real, imag)


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Two interleaved tensors of one rank, so that they broadcast axis by axis."""
    rank = max(a.ndim, b.ndim)
    first, second = (x.reshape((1,) * (rank - x.ndim) + tuple(x.shape)) for x in (a, b))
    return first, second


def mul(self: Any, x: Any, reverse: bool = False) -> Any:
    """Product."""
    x = self._other(x)
    dtype = result_dtype(self, x)
    b = parts_of(x, dtype)
    if b.imag is None:
        factor = b.real if isinstance(b.real, float) else b.real.unsqueeze(-1)
        own = self._interleaved.cast(dtypes.real_dtype(dtype))
        if not isinstance(factor, float):
            own, factor = _aligned(own, factor)
        return self._over(own * factor)
    a = parts_of(self, dtype)
    return self._of_parts(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def div(self: Any, x: Any, reverse: bool = False, rounding_mode: str | None = None) -> Any:
    """Quotient. :raises DTypeError: for a rounding mode."""
    if rounding_mode is not None:
        raise self._refused(f"div(rounding_mode={rounding_mode!r})")
    x = self._other(x)
    dtype = result_dtype(self, x)
    if reverse:
        return self._of_parts(*_quotient(parts_of(x, dtype), parts_of(self, dtype)))
    b = parts_of(x, dtype)
    if b.imag is None:
        divisor = b.real if isinstance(b.real, float) else b.real.unsqueeze(-1)
        own = self._interleaved.cast(dtypes.real_dtype(dtype))
        if not isinstance(divisor, float):
            own, divisor = _aligned(own, divisor)
        return self._over(own / divisor)
    if isinstance(b.real, float):
        whole = self._constant_operand(x, dtype)
        b = parts_of(whole, dtype)
    return self._of_parts(*_quotient(parts_of(self, dtype), b))


def _quotient(a: Any, b: Any) -> tuple[Any, Any]:
    """a / b by Smith's method, which overflows only where the quotient does."""
    swapped = b.real.abs() < b.imag.abs()
    large, small = swapped.where(b.imag, b.real), swapped.where(b.real, b.imag)
    ratio = small / (large == 0).where(1.0, large)
    divisor = large + small * ratio
    top = 0.0 if a.imag is None else a.imag
    first, second = swapped.where(top, a.real), swapped.where(a.real, top)
    real = (first + second * ratio) / divisor
    imag = (second - first * ratio) / divisor
    return real, swapped.where(-imag, imag)


def neg(self: Any) -> Any:
    """Negative."""
    return self._over(-self._interleaved)


def conj(self: Any) -> Any:
    """The complex conjugate.

    >>> Tensor([1 + 2j]).conj().tolist()
    [(1-2j)]
    """
    return self._of_parts(self._real_part(), -self._imag_part())


def reciprocal(self: Any) -> Any:
    """1 / x."""
    return div(self, 1.0, True)


def square(self: Any) -> Any:
    """x * x."""
    a, b = self._parts()
    return self._of_parts((a - b) * (a + b), a * b * 2.0)


def eq(self: Any, x: Any) -> Any:
    """Equal in both parts, as bool."""
    x = self._other(x)
    dtype = result_dtype(self, x)
    a, b = parts_of(self, dtype), parts_of(x, dtype)
    return (a.real == b.real) & (a.imag == (0.0 if b.imag is None else b.imag))


def ne(self: Any, x: Any) -> Any:
    """Not equal in one part or both, as bool."""
    return ~eq(self, x)


def abs(self: Any) -> Any:
    """The absolute value; its gradient is zero at zero."""
    a = self._parts()
    size = a.real.detach().abs().maximum(a.imag.detach().abs())
    bad = (size == 0) | (size == math.inf) | size.isnan()
    scale = bad.where(1.0, size)
    real, imag = a.real / scale, a.imag / scale
    square = real * real + imag * imag
    # a root has no finite derivative at zero
    root = (size == 0).where(1.0, square).sqrt() * scale
    either = a.real.isinf() | a.imag.isinf()
    return either.where(math.inf, (size == 0).where(square, root))


def angle(self: Any) -> Any:
    """The argument, between -pi and pi.

    >>> Tensor([1j]).angle().item() == weft.pi / 2
    True
    """
    return self._imag_part().atan2(self._real_part())


def sign(self: Any) -> Any:
    """x / abs(x); zero for zero. If one part alone is infinite, that part is 1 or -1.

    >>> Tensor([3 + 4j, 0j]).sign().tolist()
    [(0.6+0.8j), 0j]
    """
    whole = self._interleaved
    infinite = whole.isinf()
    reduced = whole.detach().sign()
    reduced = infinite.where(reduced, reduced * 0.0)
    near = self._over(infinite.any(-1).unsqueeze(-1).where(reduced, whole))
    both = infinite.all(-1)
    size = abs(near)
    return near / both.where(math.nan, (size == 0).where(1.0, size))


def pow(self: Any, x: Any, reverse: bool = False) -> Any:
    """self to the power x; whole numbers up to 64 as exponents are multiplied out.

    Of zero: 1 to the power 0, 0 to a power with a positive real part, else NaN.
    """
    x = self._other(x)
    if not reverse and isinstance(x, (bool, int, float)) and float(x).is_integer():
        if -64 <= x <= 64:
            power = _whole_power(self, int(math.fabs(x)))
            return power if x >= 0 else reciprocal(power)
    dtype = result_dtype(self, x)
    base, exponent = (
        self._constant_operand(y, dtype) for y in ((x, self) if reverse else (self, x))
    )
    zero = base == 0
    power = (exponent * zero.where(1.0, base).log()).exp()
    real = exponent.real > 0
    at_zero = (exponent == 0).where(1.0, real.where(0.0, math.nan))
    return zero.where(at_zero, power)


def _whole_power(x: Any, exponent: int) -> Any:
    """By repeated squaring."""
    if exponent == 0:
        return x * 0.0 + 1.0 if x.numel() == 0 else x.ones_like()
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else result * x
        exponent >>= 1
        x = x * x if exponent else x
    return result


def isclose(
    self: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether the distance is at most atol + rtol * abs(other)."""
    other = self._constant_operand(self._other(other), result_dtype(self, self._other(other)))
    near = (self - other).abs() <= other.abs() * rtol + atol
    near = (near & self.isfinite() & other.isfinite()) | (self == other)
    return near | (self.isnan() & other.isnan()) if equal_nan else near


def allclose(
    self: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are close: see `isclose`."""
    return bool(isclose(self, other, rtol, atol, equal_nan).all().item())


def equal(self: Any, other: Any) -> bool:
    """Whether shape and all elements are the same."""
    return tuple(self.shape) == tuple(other.shape) and bool((self == other).all().item())


def isnan(self: Any) -> Any:
    """Whether a part is NaN."""
    return self._interleaved.isnan().any(-1)


def isinf(self: Any) -> Any:
    """Whether a part is infinite."""
    return self._interleaved.isinf().any(-1)


def isfinite(self: Any) -> Any:
    """Whether both parts are finite."""
    return self._interleaved.isfinite().all(-1)


def round(self: Any, decimals: int = 0) -> Any:
    """Both parts rounded."""
    return self._over(self._interleaved.round(decimals))


METHODS = (
    "abs add allclose angle conj div eq equal isclose isfinite isinf isnan mul ne neg pow "
    "reciprocal round sign square sub"
).split()
"""The functions here that are methods of complex tensors."""
