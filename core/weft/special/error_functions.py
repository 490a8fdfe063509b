"""The complement of the error function, its inverse, and the normal distribution.

Source: M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x**2) erfc(x)"
(1981); M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution" (1988).
"""

from __future__ import annotations

import math
from typing import Any

from weft.autograd import Function
from weft.special.chebyshev_tables import ERFCX
from weft.special.series import chebyshev, elementwise, polynomial
from weft.tensor import Tensor

_ROOT_OF_PI = math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)
_UNDERFLOWS = 30.0  # exp(-x*x) is 0 from here on

# the rational functions of AS 241: numerator and denominator, the constant first
_CENTRE = (
    (3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
    (1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
     21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
     3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770,
     0.0227238449892691845833, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
     0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4,
     1.05075007164441684324e-9),
)  # fmt: skip
_FAR_TAIL = (
    (6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
     0.296560571828504891230, 0.0265321895265761230930, 0.00124266094738807843860,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15),
)  # fmt: skip


class _Erfcx(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return _erfcx(x)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * (x * 2 * erfcx(x) - 2 / _ROOT_OF_PI)


class _Erfc(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        beyond = x > 0.5
        y = beyond.where(x.minimum(_UNDERFLOWS), 1.0)
        return beyond.where(_square_exponential(y) * _erfcx(y), 1 - x.erf())

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * (-x * x).exp() * (-2 / _ROOT_OF_PI)


class _Quantile(Function):
    """The inverse of the error function, of y, and of its distance 1 - |y| from the ends."""

    @staticmethod
    def forward(ctx: Any, y: Any, distance: Any) -> Any:
        value = _quantile(y * 0.5, distance * 0.5) * _ROOT_HALF
        ctx.save_for_backward(value)
        return value

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (value,) = ctx.saved_tensors
        return gradient * (value * value).exp() * (_ROOT_OF_PI / 2), None


@elementwise
def erfc(input: Tensor) -> Tensor:
    """1 - erf(x), without cancellation for large x.

    >>> weft.special.erfc(Tensor([0.0, 1.0])).tolist()
    [1.0, 0.1573]
    """
    found: Tensor = _Erfc.apply(input)
    return found


@elementwise
def erfcx(input: Tensor) -> Tensor:
    """exp(x*x) * erfc(x), the scaled complement.

    >>> weft.special.erfcx(Tensor([0.0, 10.0])).tolist()
    [1.0, 0.0561]
    """
    found: Tensor = _Erfcx.apply(input)
    return found


@elementwise
def erfinv(input: Tensor) -> Tensor:
    """The inverse of erf, from -1 to 1. Infinite at the ends, NaN outside.

    >>> weft.special.erfinv(Tensor([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.4769, inf]
    """
    found: Tensor = _Quantile.apply(input, 1 - input.abs())
    return found


@elementwise
def ndtr(input: Tensor) -> Tensor:
    """The probability that a normal variable is below x.

    >>> weft.special.ndtr(Tensor([0.0, 1.0])).tolist()
    [0.5, 0.8413]
    """
    return erfc(input * -_ROOT_HALF) * 0.5


@elementwise
def ndtri(input: Tensor) -> Tensor:
    """The inverse of `ndtr`: the quantile of the normal distribution. NaN outside of 0 to 1.

    >>> weft.special.ndtri(Tensor([0.5, 0.975])).tolist()
    [0.0, 1.96]
    """
    value: Tensor = _Quantile.apply(input * 2 - 1, input.minimum(1 - input) * 2)
    return value * math.sqrt(2)


@elementwise
def log_ndtr(input: Tensor) -> Tensor:
    """log(ndtr(x)), finite where ndtr(x) underflows.

    >>> weft.special.log_ndtr(Tensor([0.0, -20.0])).tolist()
    [-0.6931, -203.9172]
    """
    low = input < -1
    x = low.where(input, -1.0)
    tail = (erfcx(x * -_ROOT_HALF) * 0.5).log() - x * x * 0.5
    rest = (erfc(low.where(0.0, input) * _ROOT_HALF) * -0.5).log1p()
    return low.where(tail, rest)


def _erfcx(x: Any) -> Any:
    beyond = x > 0.5
    y = beyond.where(x, 1.0)
    t = y.isinf().where(1.0, (y - 2) / (y + 2))
    scaled = chebyshev(t, -0.6, 1.0, ERFCX) / (y * 2 + 1)
    below = beyond.where(0.0, x)
    return beyond.where(scaled, (below * below).exp() * (1 - below.erf()))


def _square_exponential(x: Any) -> Any:
    """exp(-x*x) with the square in two parts, of which the first one is exact."""
    head = (x * 16).trunc() / 16
    return (head * -head).exp() * ((head - x) * (head + x)).exp()


def _quantile(q: Any, tail: Any) -> Any:
    """The quantile of the probability 0.5 + q. tail: the smaller of it and its complement."""
    is_central = q.abs() <= 0.425
    centre = is_central.where(q, 0.0)
    r = 0.180625 - centre * centre
    middle = centre * polynomial(r, _CENTRE[0]) / polynomial(r, _CENTRE[1])
    distance = is_central.where(0.25, tail)
    r = (-distance.log()).maximum(0).sqrt()
    is_near, is_end = r <= 5, distance == 0
    near, far = is_near.where(r, 2.0) - 1.6, (is_near | is_end).where(6.0, r) - 5
    outer = is_near.where(
        polynomial(near, _TAIL[0]) / polynomial(near, _TAIL[1]),
        polynomial(far, _FAR_TAIL[0]) / polynomial(far, _FAR_TAIL[1]),
    )
    outer = is_end.where(math.inf, (distance < 0).where(math.nan, outer))
    return is_central.where(middle, (q < 0).where(-outer, outer))
