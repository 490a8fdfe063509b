"""Functions of real numbers: exponentials, logarithms, circular and hyperbolic functions.

EXP2, LOG2, SIN, SQRT and RECIP are what devices know; the rest is composed of them with small
error. Integers are converted to the default float first. Types narrower than float32 are computed
in float32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Self

from weft.base.dtype import dtypes
from weft.base.promotion import least_upper_float
from weft.tensor.ops.operands import known_facts, number_node
from weft.tensor.protocol import TensorBase, record
from weft.uop import Ops, UOp

_LOG2_E = math.log2(math.e)
_LN_2 = math.log(2.0)
# log2(e) minus its value in float32, and in float64
_LOG2_E_LOW = {
    dtypes.float32: (1.4426950216293335, 1.925963033500649e-08),
    dtypes.float64: (1.4426950408889634, 2.0355273740931033e-17),
}

# exp(x*x) erfc(x) (1 + 2x) as a polynomial of (x - 2) / (x + 2), the constant first: fitted at
# Chebyshev points of [0.5, 4.5] and of [0.5, 6.5]; worst errors of erf 1.2e-7 and 8e-16.
_ERFC_SINGLE = [
    1.276978384584409,
    -0.09276385410467217,
    -0.16603093675061373,
    0.16405266252019793,
    -0.054204150684572024,
    -0.008046259277049467,
    0.008563653825709535,
    0.0012356109030551327,
    -0.0009094664534619868,
]
_ERFC_DOUBLE = [
    1.2769783815525293,
    -0.09276382658573701,
    -0.16603039761519622,
    0.16405128003329383,
    -0.05422000099380167,
    -0.008034015090359562,
    0.00872265388553854,
    0.0012713393001644456,
    -0.0014568138814352247,
    -0.0004543465659784345,
    0.00020636520615429995,
    0.00015109465017404736,
    -1.4842084214255867e-06,
    -3.674708500745764e-05,
    -1.3686816949407844e-05,
    4.841181113262843e-06,
    6.063293528088553e-06,
    -6.822295253881455e-07,
    -2.61220931058871e-06,
    1.017298609518262e-06,
    1.5765487471045158e-06,
]


def in_wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a method in float32 at least, and give its result in the dtype of self."""

    @wraps(function)
    def widened(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = least_upper_float(self._uop.dtype)
        if self._uop.dtype is own and own.itemsize > 2:
            return function(self, *args, **kwargs)
        wide = own if own.itemsize > 2 else dtypes.float32
        return function(self.cast(wide), *args, **kwargs).cast(own)

    return widened


def with_slope(name: str) -> Callable[..., Any]:
    """The derivative of a method is the one of that name in `weft.autograd.slopes`, at the
    parameters that it is called with."""

    def marked(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def sloped(self: Any, *parameters: Any, **named: Any) -> Any:
            value = function(self, *parameters, **named)
            return sloped_value(value, self, name, *parameters, *named.values())

        return sloped

    return marked


def sloped_value(value: Any, argument: Any, name: str, *parameters: Any) -> Any:
    """`value`, whose derivative with respect to `argument` is the one of that name."""
    u = value._uop
    node = record(Ops.SLOPE, u.dtype, (u, argument._uop), (name, *parameters))
    return value._wrap(known_facts(node, u.shape, u.device))


class TranscendentalMixin(TensorBase):
    """Methods for functions of real numbers."""

    __slots__ = ()

    def sqrt(self) -> Self:
        """Square root; NaN below zero."""
        return self._unary(Ops.SQRT)

    def rsqrt(self) -> Self:
        """1 / square root."""
        return self.sqrt().reciprocal()

    def exp2(self) -> Self:
        """2 to the power of self."""
        return self._unary(Ops.EXP2)

    def log2(self) -> Self:
        """Binary logarithm; -inf at 0, NaN below."""
        return self._unary(Ops.LOG2)

    def sin(self) -> Self:
        """Sine."""
        return self._unary(Ops.SIN)

    def exp(self) -> Self:
        """e to the power of self.

        2 ** (x log2(e)), times a correction for what was rounded away in that product (by a
        multiplication and addition rounded once), without which the error would grow with |x|.
        """
        own = least_upper_float(self._uop.dtype)
        if own.itemsize < 4:
            # the error of the product is far below what the narrow result can show
            return (self.cast(dtypes.float32) * _LOG2_E).exp2().cast(own)
        x = self.cast(own)
        high, low = _LOG2_E_LOW[own]
        scaled = x * high
        power = scaled.exp2()
        value = power * self._from_node(_correction(x._uop, scaled._uop, high, low))
        return sloped_value(value, x, "exp")

    @in_wide
    @with_slope("expm1")
    def expm1(self) -> Self:
        """exp(x) - 1, exact near 0."""
        x = self
        power = x.exp()
        near = x * _polynomial(x, [1 / math.factorial(n) for n in range(1, _terms(x, 9, 15))])
        small = x.detach().abs() < 0.35
        return small.where(near, power - 1)

    @in_wide
    @with_slope("log")
    def log(self) -> Self:
        """Natural logarithm; -inf at 0, NaN below."""
        return self.log2() * _LN_2

    @in_wide
    @with_slope("log1p")
    def log1p(self) -> Self:
        """log(1 + x), exact near 0: what 1 + x loses is put back to first order."""
        whole = self + 1
        lost = ((self - (whole - 1)) / whole).detach()
        return whole.log() + (lost.abs() < 1).where(lost, 0)

    @in_wide
    @with_slope("log10")
    def log10(self) -> Self:
        """Decimal logarithm."""
        return self.log2() * math.log10(2.0)

    # ---- circular -----------------------------------------------------------------------------

    @in_wide
    @with_slope("cos")
    def cos(self) -> Self:
        """Cosine, as 1 - 2 sin(x/2) ** 2: halving is exact where adding a quarter turn is not."""
        half = (self * 0.5).sin()
        return 1 - half * half * 2

    @in_wide
    @with_slope("tan")
    def tan(self) -> Self:
        """Tangent."""
        return self.sin() / self.cos()

    @in_wide
    @with_slope("atan")
    def atan(self) -> Self:
        """Arc tangent.

        Arguments above 1 are inverted, then the angle is halved twice, atan(x) = 2 atan(x / (1 +
        sqrt(1 + x*x))), and the Taylor series does the rest.
        """
        size = self.abs()
        large = size > 1
        x = large.where(large.where(size, 1).reciprocal(), size)
        for _ in range(2):
            x = x / ((x * x + 1).sqrt() + 1)
        series = [(-1) ** n / (2 * n + 1) for n in range(_terms(self, 7, 12))]
        angle = x * _polynomial(x * x, series) * 4
        angle = large.where(math.pi / 2 - angle, angle)
        return (self < 0).where(-angle, angle)

    @in_wide
    @with_slope("asin")
    def asin(self) -> Self:
        """Arc sine; NaN outside [-1, 1]."""
        return (self / ((1 - self) * (1 + self)).sqrt()).atan()

    @in_wide
    @with_slope("acos")
    def acos(self) -> Self:
        """Arc cosine; NaN outside [-1, 1]."""
        return ((1 - self) / (1 + self)).sqrt().atan() * 2

    # ---- hyperbolic ---------------------------------------------------------------------------

    @in_wide
    @with_slope("tanh")
    def tanh(self) -> Self:
        """Hyperbolic tangent: -expm1(-2|x|) / (2 + expm1(-2|x|)), with the sign of x."""
        negative = self < 0
        fall = (negative.where(self, -self) * 2).expm1()
        size = -fall / (fall + 2)
        return negative.where(-size, size)

    @in_wide
    def sinh(self) -> Self:
        """Hyperbolic sine, of expm1 near 0 and of halved exponents far out, lest they overflow."""
        negative = self < 0
        size = negative.where(-self, self)
        small = size < 1
        rise = small.where(size, 0).expm1()
        near = (rise + rise / (rise + 1)) * 0.5
        far = (size - _LN_2).exp() - (-size - _LN_2).exp()
        value = small.where(near, far)
        return negative.where(-value, value)

    @in_wide
    def cosh(self) -> Self:
        """Hyperbolic cosine."""
        return (self - _LN_2).exp() + (-self - _LN_2).exp()

    @in_wide
    @with_slope("asinh")
    def asinh(self) -> Self:
        """Inverse hyperbolic sine: log1p(|x| + x*x / (1 + sqrt(1 + x*x))), with the sign of x."""
        negative = self < 0
        size = negative.where(-self, self)
        large = size > 1e9
        x = large.where(1, size)
        square = x * x
        near = (x + square / ((square + 1).sqrt() + 1)).log1p()
        value = large.where(large.where(size, 1).log() + _LN_2, near)
        return negative.where(-value, value)

    @in_wide
    @with_slope("acosh")
    def acosh(self) -> Self:
        """Inverse hyperbolic cosine; NaN below 1."""
        large = self > 1e9
        x = large.where(1, self)
        less = x - 1
        near = (less + (less * (x + 1)).sqrt()).log1p()
        return large.where(large.where(self, 1).log() + _LN_2, near)

    @in_wide
    @with_slope("atanh")
    def atanh(self) -> Self:
        """Inverse hyperbolic tangent, log1p(2|x| / (1 - |x|)) / 2; NaN outside [-1, 1]."""
        negative = self < 0
        size = negative.where(-self, self)
        value = (size * 2 / (1 - size)).log1p() * 0.5
        return negative.where(-value, value)

    # ---- the error function -------------------------------------------------------------------

    @in_wide
    @with_slope("erf")
    def erf(self) -> Self:
        """The error function: its Taylor series up to 1/2, beyond as 1 - exp(-x*x) p(t) / (1 + 2x)
        with a polynomial of t = (x - 2) / (x + 2) (the form of Shepherd and Laframboise, 1981)."""
        double = self._uop.dtype is dtypes.float64
        negative = self < 0
        size = negative.where(-self, self)
        small = size < 0.5
        x = small.where(size, 0)
        series = [(-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(_terms(self, 7, 14))]
        near = x * _polynomial(x * x, series) * (2 / math.sqrt(math.pi))
        # where the complement is nothing beside 1, it stays so
        y = size.clamp(0.5, 6.5 if double else 4.5)
        scaled = _polynomial((y - 2) / (y + 2), _ERFC_DOUBLE if double else _ERFC_SINGLE)
        far = 1 - (-(y * y)).exp() * scaled / (y * 2 + 1)
        value = small.where(near, far)
        return negative.where(-value, value)


def _terms(x: Any, single: int, double: int) -> int:
    return double if x._uop.dtype is dtypes.float64 else single


def _polynomial(x: Any, coefficients: list[float]) -> Any:
    """Horner's rule, the constant first."""
    result = x * coefficients[-1] + coefficients[-2] if len(coefficients) > 1 else coefficients[0]
    for c in coefficients[-3::-1]:
        result = result * x + c
    return result


def _correction(x: UOp, scaled: UOp, high: float, low: float) -> UOp:
    """2 ** (x * log2(e) - scaled), which is nearly 1; exactly 1 where that is not finite.

    No gradient flows through it: it is constant but for rounding.
    """
    dtype = x.dtype

    def const(value: float) -> UOp:
        return number_node(dtype, value)

    rest = record(Ops.MULACC, dtype, (x, const(high), record(Ops.NEG, dtype, (scaled,))))
    rest = record(Ops.MULACC, dtype, (x, const(low), rest))
    factor = record(Ops.MULACC, dtype, (rest, const(_LN_2), const(1.0)))
    square = record(Ops.MUL, dtype, (rest, rest))
    finite = record(Ops.CMPLT, dtypes.bool, (square, const(1.0)))
    chosen = record(Ops.WHERE, dtype, (finite, factor, const(1.0)))
    return known_facts(record(Ops.DETACH, dtype, (chosen,)), x.shape, x.device)
