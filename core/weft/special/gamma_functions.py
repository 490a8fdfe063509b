"""The gamma function's logarithm and its derivatives.

Source: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions" (1964), chapter 6;
F. Johansson, "Rigorous high-precision computation of the Hurwitz zeta function" (2014).
"""

from __future__ import annotations

import math
from typing import Any

from weft.autograd import Function
from weft.base.arguments import whole
from weft.base.errors import ArgumentError
from weft.special.series import elementwise, is_double, polynomial
from weft.tensor import Tensor

EULER = 0.57721566490153286060651209
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
)  # fmt: skip
"""B(2), B(4), ..., B(16)."""
_LOG_OF_2PI = math.log(2 * math.pi)
_SHIFT, _SHIFT_OF_DERIVATIVE = 6, 10


def _zeta_minus_one(s: int) -> float:
    """The sum of n ** -s over n from 2 on, by the Euler-Maclaurin formula."""
    cut = 60.0
    total = sum(n**-s for n in range(2, int(cut)))
    total += cut ** (1 - s) / (s - 1) + 0.5 * cut**-s + s * cut ** (-s - 1) / 12
    third = s * (s + 1) * (s + 2) * cut ** (-s - 3) / 720
    return total - third + third * 720 * (s + 3) * (s + 4) / cut**2 / 30240


_LOG_SERIES = [1 - EULER] + [(-1) ** k * _zeta_minus_one(k) / k for k in range(2, 28)]
"""log gamma(2 + z) / z in powers of z: exact to float64 for |z| <= 0.5."""


class _LogGamma(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return _log_gamma(x)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * digamma(ctx.saved_tensors[0])


class _Polygamma(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, n: int) -> Any:
        ctx.save_for_backward(x)
        ctx.n = n
        return _polygamma(x, n)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * _Polygamma.apply(ctx.saved_tensors[0], ctx.n + 1), None


@elementwise
def gammaln(input: Tensor) -> Tensor:
    """The logarithm of |gamma(x)|. Infinite at 0 and the negative integers.

    >>> weft.special.gammaln(Tensor([1.0, 0.5, 10.0])).tolist()
    [0.0, 0.5724, 12.8018]
    """
    found: Tensor = _LogGamma.apply(input)
    return found


@elementwise
def digamma(input: Tensor) -> Tensor:
    """The derivative of `gammaln`. NaN at the negative integers, infinite at 0.

    >>> weft.special.digamma(Tensor([1.0, 0.5])).tolist()
    [-0.5772, -1.9635]
    """
    found: Tensor = _Polygamma.apply(input, 0)
    return found


def polygamma(n: int, input: Tensor) -> Tensor:
    """The derivative of order n of `digamma`. Negative arguments: n up to 1; NaN beyond.

    :raises ArgumentError: for a negative n.

    >>> weft.special.polygamma(1, Tensor([1.0])).tolist()
    [1.6449]
    """
    order = whole(n, "n")
    if order < 0:
        raise ArgumentError("the order of a derivative is not negative", asked=f"polygamma({n}, x)")
    found: Tensor = elementwise(_Polygamma.apply)(input, order)
    return found


def multigammaln(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p.

    :raises ArgumentError: for p below 1.

    >>> weft.special.multigammaln(Tensor([2.0]), 2).tolist()
    [0.4516]
    """
    count = whole(p, "p", least=1)
    total: Any = count * (count - 1) / 4 * math.log(math.pi)
    for i in range(count):
        total = gammaln(input - i / 2) + total
    found: Tensor = total
    return found


def zeta(input: Tensor, q: Tensor) -> Tensor:
    """The Hurwitz zeta function: the sum of (q + k) ** -x over k from 0 on, for x > 1 and q > 0;
    NaN elsewhere, infinite for x = 1.

    >>> weft.special.zeta(Tensor([2.0]), Tensor([1.0])).tolist()
    [1.6449]
    """
    found: Tensor = elementwise(_checked_zeta)(input, q)
    return found


def _checked_zeta(s: Any, q: Any) -> Any:
    q = q.cast(s.dtype)
    fits = (s > 1) & (q > 0)
    value = _hurwitz(fits.where(s, 2.0), fits.where(q, 1.0))
    return fits.where(value, ((s == 1) & (q > 0)).where(math.inf, math.nan))


def _log_gamma(x: Any) -> Any:
    mirrored = x < 0.5
    y = mirrored.where(1 - x, x)
    is_small = y < 2.5
    near = is_small.where(y, 2.0)
    is_below = near < 1.5
    z = near - is_below.where(1.0, 2.0)
    series = polynomial(z, _LOG_SERIES if is_double(x) else _LOG_SERIES[:13]) * z
    small = series - is_below.where(z, 0.0).log1p()

    far = is_small.where(8.0, y)
    shifted = far < 8.5
    w = shifted.where(far + _SHIFT, far)
    start = shifted.where(far, 1.0)
    product = start
    for i in range(1, _SHIFT):
        product = product * (start + i)
    terms = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI[:7], 1)]
    inverse = w.reciprocal()
    tail = polynomial(inverse * inverse, terms) * inverse
    large = (w - 0.5) * (w.log() - 1) + (_LOG_OF_2PI - 1) / 2 + tail
    large = large - shifted.where(product, 1.0).log()
    value = is_small.where(small, large)

    turn = (mirrored.where(x, 0.5) - mirrored.where(x, 0.5).round()).abs() * math.pi
    reflected = math.log(math.pi) - turn.sin().log() - value
    value = mirrored.where(reflected, value)
    return x.isinf().where(math.inf, value)


def _polygamma(x: Any, n: int) -> Any:
    if n > 1:
        positive = x > 0
        value = _hurwitz(float(n + 1), positive.where(x, 1.0)) * math.factorial(n)
        value = value if n % 2 else -value
        at_pole = math.inf if n % 2 else -math.inf
        return positive.where(value, (x == 0).where(at_pole, math.nan))
    mirrored = x < 0.5
    y = mirrored.where(1 - x, x)
    direct = _hurwitz(2.0, y) if n else _digamma(y)
    inside = mirrored.where(x - x.round(), 0.5)
    turn = inside * math.pi
    sine = turn.sin()
    if n:
        reflected = (math.pi / sine).square() - direct
        return mirrored.where(reflected, direct)
    reflected = direct - turn.cos() / sine * math.pi
    lost = (x < 0) & (x == x.floor())
    value = mirrored.where(reflected, direct)
    at_zero = x.signbit().where(math.inf, -math.inf)
    return lost.where(math.nan, (x == 0).where(at_zero, value))


def _digamma(y: Any) -> Any:
    """For y >= 0.5, by the asymptotic series after a shift of the argument."""
    shifted = y < 10.5
    w = shifted.where(y + _SHIFT_OF_DERIVATIVE, y)
    start = shifted.where(y, 1.0)
    moved: Any = 0.0
    for i in range(_SHIFT_OF_DERIVATIVE):
        moved = (start + i).reciprocal() + moved
    inverse = w.reciprocal()
    square = inverse * inverse
    tail = polynomial(square, [b / (2 * k) for k, b in enumerate(_BERNOULLI[:7], 1)]) * square
    return w.log() - inverse * 0.5 - tail - shifted.where(moved, 0.0)


def _hurwitz(s: Any, q: Any) -> Any:
    """The sum of (q + k) ** -s for q > 0, by the Euler-Maclaurin formula."""
    total: Any = 0.0
    for k in range(_SHIFT_OF_DERIVATIVE):
        total = (q + k) ** -s + total
    w = q + _SHIFT_OF_DERIVATIVE
    power = w**-s
    total = total + power * w / (s - 1) + power * 0.5
    factor: Any = s / w
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + power * factor * (bernoulli / math.factorial(2 * k))
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (w * w)
    return total
