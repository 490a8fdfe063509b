"""Functions of real numbers: exponentials, logarithms, circular and hyperbolic functions.

EXP2, LOG2, SIN, SQRT and RECIP are what devices know; the rest is composed of them with small
error. Integers are converted to the default float first. Types narrower than float32 are computed
in float32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import signature
from typing import Any, Self, TypeVar

from weft.base.arguments import real
from weft.base.dtype import dtypes
from weft.base.promotion import least_upper_float
from weft.tensor.autocast import FLOAT32, answered_in
from weft.tensor.ops.operators import known_facts, number_node
from weft.tensor.protocol import TensorBase, named_after, record
from weft.uop import Ops, UOp

_LOG2_E = math.log2(math.e)
_LN_2 = math.log(2.0)
# log2(e) minus its value in float32, and in float64
_LOG2_E_LOW = {
    dtypes.float32: (1.4426950216293335, 1.925963033500649e-08),
    dtypes.float64: (1.4426950408889634, 2.0355273740931033e-17),
}

# pi in three parts, each what the dtype holds of what those before it leave.
_PI_PARTS = {
    dtypes.float32: (3.1415927410125732, -8.742277657347586e-08, -3.4302490200117637e-15),
    dtypes.float64: (3.141592653589793, 1.2246467991473532e-16, -2.9947698097183397e-33),
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


Method = TypeVar("Method", bound=Callable[..., Any])


def in_wide(function: Method) -> Method:
    """Compute a method in float32 at least, and give its result in the dtype of self; in float32
    under autocast, for those that it keeps there."""
    is_kept = function.__name__ in FLOAT32

    @named_after(function)
    def widened(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = least_upper_float(self._uop.dtype)
        if self._uop.dtype is own and own.itemsize > 2:
            return function(self, *args, **kwargs)
        wide = own if own.itemsize > 2 else dtypes.float32
        result = function(self.cast(wide), *args, **kwargs)
        return result.cast(answered_in(own) if is_kept else own)

    return widened


def in_floats(function: Method) -> Method:
    """Integers and bool in the default float first: their differences would wrap."""

    @named_after(function)
    def converted(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self.cast(least_upper_float(self._uop.dtype)), *args, **kwargs)

    return converted


def with_derivative(name: str) -> Callable[[Method], Method]:
    """Give a method the derivative of that name in `weft.autograd.derivatives`, with the parameters
    of the call."""

    def marked(function: Method) -> Method:
        names = list(signature(function).parameters)[1:]

        @named_after(function)
        def differentiable(self: Any, *parameters: Any, **named: Any) -> Any:
            if parameters or named:
                parameters = tuple(real(each, what) for each, what in zip(parameters, names))
                named = {what: real(each, what) for what, each in named.items()}
            value = function(self, *parameters, **named)
            return value_with_derivative(value, self, name, *parameters, *named.values())

        return differentiable

    return marked


def value_with_derivative(value: Any, argument: Any, name: str, *parameters: Any) -> Any:
    """`value`, with the derivative of that name with respect to `argument`."""
    u = value._uop
    node = record(Ops.CUSTOM_VJP, u.dtype, (u, argument._uop), (name, *parameters))
    return value._wrap_with(known_facts(node, u.shape, u.device), argument)


class TranscendentalMixin(TensorBase):
    """Methods for functions of real numbers."""

    __slots__ = ()

    def sqrt(self) -> Self:
        """Square root; NaN below zero.

        >>> Tensor([4.0, 2.0, -1.0]).sqrt().tolist()
        [2.0, 1.4142, nan]
        """
        return self._unary(Ops.SQRT)

    @in_wide
    def rsqrt(self) -> Self:
        """1 / square root.

        >>> Tensor([4.0, 0.25]).rsqrt().tolist()
        [0.5, 2.0]
        """
        root = self.sqrt()
        return value_with_derivative(root.reciprocal(), self.cast(root.dtype), "rsqrt")

    def exp2(self) -> Self:
        """2 to the power of self.

        >>> Tensor([0.0, 3.0, -1.0]).exp2().tolist()
        [1.0, 8.0, 0.5]
        """
        return self._unary(Ops.EXP2)

    def log2(self) -> Self:
        """Binary logarithm; -inf at 0, NaN below.

        >>> Tensor([1.0, 8.0]).log2().tolist()
        [0.0, 3.0]
        """
        return self._unary(Ops.LOG2)

    def sin(self) -> Self:
        """Sine.

        >>> Tensor([0.0, math.pi / 2]).sin().tolist()
        [0.0, 1.0]
        """
        return self._unary(Ops.SIN)

    def exp(self) -> Self:
        """e to the power of self.

        2 ** (x log2(e)), times a correction for what was rounded away in that product (by a
        multiplication and addition rounded once), without which the error would grow with |x|.

        >>> Tensor([0.0, 1.0]).exp().tolist()
        [1.0, 2.7183]
        >>> Tensor([0, 1]).exp().dtype
        dtypes.float
        """
        own = least_upper_float(self._uop.dtype)
        if own.itemsize < 4:
            # the error of the product is far below what the narrow result can show
            return (self.cast(dtypes.float32) * _LOG2_E).exp2().cast(answered_in(own))
        x = self.cast(own)
        high, low = _LOG2_E_LOW[own]
        scaled = x * high
        power = scaled.exp2()
        value = power * self._from_node(_correction(x._uop, scaled._uop, high, low))
        return value_with_derivative(value, x, "exp")

    @in_wide
    @with_derivative("expm1")
    def expm1(self) -> Self:
        """exp(x) - 1, exact near 0.

        >>> Tensor([0.0, 1.0]).expm1().tolist()
        [0.0, 1.7183]
        """
        x = self
        power = x.exp()
        near = x * _polynomial(x, [1 / math.factorial(n) for n in range(1, _terms(x, 9, 15))])
        small = x.detach().abs() < 0.35
        return small.where(near, power - 1)

    @in_wide
    @with_derivative("log")
    def log(self) -> Self:
        """Natural logarithm; -inf at 0, NaN below.

        >>> Tensor([0.0, 1.0, math.e]).log().tolist()
        [-inf, 0.0, 1.0]
        """
        return self.log2() * _LN_2

    @in_wide
    @with_derivative("log1p")
    def log1p(self) -> Self:
        """log(1 + x), exact near 0: the rounding error of 1 + x is corrected to first order.

        >>> Tensor([0.0, 1.0]).log1p().tolist()
        [0.0, 0.6931]
        """
        whole = self + 1
        lost = ((self - (whole - 1)) / whole).detach()
        value = whole.log() + (lost.abs() < 1).where(lost, 0)
        return (self == 0).where(self, value)  # -0 too

    @in_wide
    @with_derivative("log10")
    def log10(self) -> Self:
        """Decimal logarithm.

        >>> Tensor([1.0, 1000.0]).log10().tolist()
        [0.0, 3.0]
        """
        return self.log2() * math.log10(2.0)

    # ---- circular -----------------------------------------------------------------------------

    @in_wide
    @with_derivative("cos")
    def cos(self) -> Self:
        """Cosine.

        The sine of x reduced to the nearest zero, for |x| up to a million periods. For larger x
        sin(2x) / (2 sin(x)), and where 2x overflows 1 - 2 sin(x/2) ** 2; their absolute error is
        1e-7 (float64: 1e-16).

        >>> Tensor([0.0, math.pi]).cos().tolist()
        [1.0, -1.0]
        """
        reduced, near, odd = self._reduced_to_half_pi()
        last = self.abs() > dtypes.finfo(self._uop.dtype).max / 2
        value = near.where(reduced, last.where(self * 0.5, self * 2)).sin()  # one sine for all
        far = last.where(1 - value * value * 2, value / (self.sin() * 2))
        return near.where(odd.where(value, -value), far)

    def _reduced_to_half_pi(self) -> tuple[Any, Any, Any]:
        """Cody-Waite range reduction by (n + 1/2) pi to at most pi/2: the reduced argument, whether
        |x| is small enough for it to be exact, and whether n is odd.

        Each part of pi is subtracted by one fused multiply-add. The first is exact, so the relative
        error near a zero of the cosine is as small as elsewhere.
        """
        x = self.detach()
        dtype = x._uop.dtype
        count = (x * (1 / math.pi)).floor()
        near = count.abs() < (2.0**40 if dtype is dtypes.float64 else 2.0**20)
        count = near.where(count, 0)
        halves = -(count + 0.5)
        rest = x
        for part in _PI_PARTS[dtype]:
            node = record(Ops.MULACC, dtype, (halves._uop, number_node(dtype, part), rest._uop))
            rest = self._from_node(known_facts(node, x._uop.shape, x._uop.device))
        whole = count * 0.5
        return rest, near, whole != whole.floor()

    @in_wide
    @with_derivative("tan")
    def tan(self) -> Self:
        """Tangent: sine over cosine, both of which are exact near their zeros.

        >>> Tensor([0.0, 1.0]).tan().tolist()
        [0.0, 1.5574]
        """
        return self.sin() / self.cos()

    @in_wide
    @with_derivative("atan")
    def atan(self) -> Self:
        """Arc tangent.

        Arguments above 1 are inverted, then the angle is halved twice, atan(x) = 2 atan(x / (1 +
        sqrt(1 + x*x))), and the Taylor series does the rest.

        >>> Tensor([-1.0, 0.0, math.inf]).atan().tolist()
        [-0.7854, 0.0, 1.5708]
        """
        size = self.abs()
        large = size > 1
        x = large.where(large.where(size, 1).reciprocal(), size)
        for _ in range(2):
            x = x / ((x * x + 1).sqrt() + 1)
        series = [(-1) ** n / (2 * n + 1) for n in range(_terms(self, 7, 12))]
        angle = x * _polynomial(x * x, series) * 4
        return self._odd(large.where(math.pi / 2 - angle, angle))

    def _odd(self, size: Any) -> Any:
        """`size` with the sign of self; of a zero, and of NaN, self."""
        return (self < 0).where(-size, (self > 0).where(size, self))

    @in_wide
    @with_derivative("asin")
    def asin(self) -> Self:
        """Arc sine; NaN outside [-1, 1].

        >>> Tensor([-1.0, 0.0, 1.0]).asin().tolist()
        [-1.5708, 0.0, 1.5708]
        """
        return (self / ((1 - self) * (1 + self)).sqrt()).atan()

    @in_wide
    @with_derivative("acos")
    def acos(self) -> Self:
        """Arc cosine; NaN outside [-1, 1].

        >>> Tensor([-1.0, 0.0, 1.0]).acos().tolist()
        [3.1416, 1.5708, 0.0]
        """
        return ((1 - self) / (1 + self)).sqrt().atan() * 2

    # ---- hyperbolic ---------------------------------------------------------------------------

    @in_wide
    @with_derivative("tanh")
    def tanh(self) -> Self:
        """Hyperbolic tangent: -expm1(-2|x|) / (2 + expm1(-2|x|)), with the sign of x.

        >>> Tensor([-1.0, 0.0, 1000.0]).tanh().tolist()
        [-0.7616, 0.0, 1.0]
        """
        negative = self < 0
        fall = (negative.where(self, -self) * 2).expm1()
        size = -fall / (fall + 2)
        return negative.where(-size, size)

    @in_wide
    def sinh(self) -> Self:
        """Hyperbolic sine, of expm1 near 0; it overflows where the result does, not before.

        >>> Tensor([0.0, 1.0]).sinh().tolist()
        [0.0, 1.1752]
        """
        negative = self < 0
        size = negative.where(-self, self)
        small = size < 1
        rise = small.where(size, 0).expm1()
        near = (rise + rise / (rise + 1)) * 0.5
        value = small.where(near, size._half_exp(-1))
        return negative.where(-value, value)

    def _half_exp(self, sign: int) -> Any:
        """(exp(x) + sign * exp(-x)) / 2 where x is not below 0.

        Where exp would overflow it is taken of x / 2, twice; the other term is nothing there.
        """
        big = self > (700 if self._uop.dtype is dtypes.float64 else 80)
        power = big.where(self * 0.5, self).exp()
        half = power * 0.5
        return half * big.where(power, 1) + big.where(0, 0.5 / power) * sign

    @in_wide
    def cosh(self) -> Self:
        """Hyperbolic cosine.

        >>> Tensor([0.0, 1.0]).cosh().tolist()
        [1.0, 1.5431]
        """
        return self.abs()._half_exp(1)

    @in_wide
    @with_derivative("asinh")
    def asinh(self) -> Self:
        """Inverse hyperbolic sine: log1p(|x| + x*x / (1 + sqrt(1 + x*x))), with the sign of x.

        >>> Tensor([-1.0, 0.0, 1.0]).asinh().tolist()
        [-0.8814, 0.0, 0.8814]
        """
        negative = self < 0
        size = negative.where(-self, self)
        large = size > 1e9
        x = large.where(1, size)
        square = x * x
        near = (x + square / ((square + 1).sqrt() + 1)).log1p()
        return self._odd(large.where(large.where(size, 1).log() + _LN_2, near))

    @in_wide
    @with_derivative("acosh")
    def acosh(self) -> Self:
        """Inverse hyperbolic cosine; NaN below 1.

        >>> Tensor([1.0, 2.0]).acosh().tolist()
        [0.0, 1.317]
        """
        large = self > 1e9
        # far below 1 the square must not overflow: what comes of -1 is NaN as well
        x = large.where(1, (self < -1).where(-1, self))
        less = x - 1
        near = (less + (less * (x + 1)).sqrt()).log1p()
        return large.where(large.where(self, 1).log() + _LN_2, near)

    @in_wide
    @with_derivative("atanh")
    def atanh(self) -> Self:
        """Inverse hyperbolic tangent, log1p(2|x| / (1 - |x|)) / 2; NaN outside [-1, 1].

        >>> Tensor([-0.5, 0.0, 1.0]).atanh().tolist()
        [-0.5493, 0.0, inf]
        """
        negative = self < 0
        size = negative.where(-self, self)
        return self._odd((size * 2 / (1 - size)).log1p() * 0.5)

    # ---- the error function -------------------------------------------------------------------

    @in_wide
    @with_derivative("erf")
    def erf(self) -> Self:
        """The error function: its Taylor series near 0, beyond as 1 - exp(-x*x) p(t) / (1 + 2x)
        with a polynomial of t = (x - 2) / (x + 2) (the form of Shepherd and Laframboise, 1981).

        >>> Tensor([-1.0, 0.0, 5.0]).erf().tolist()
        [-0.8427, 0.0, 1.0]
        """
        double = self._uop.dtype is dtypes.float64
        negative = self < 0
        size = negative.where(-self, self)
        edge = 1.0 if double else 0.5
        small = size < edge
        x = small.where(size, 0)
        series = [(-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(_terms(self, 7, 20))]
        near = x * _polynomial(x * x, series) * (2 / math.sqrt(math.pi))
        # where the complement is nothing beside 1, it stays so
        y = size.clamp(edge, 6.5 if double else 4.5)
        scaled = _polynomial((y - 2) / (y + 2), _ERFC_DOUBLE if double else _ERFC_SINGLE)
        far = 1 - (-(y * y)).exp() * scaled / (y * 2 + 1)
        value = small.where(near, far)
        return negative.where(-value, value)

    arccos, arccosh = acos, acosh
    arcsin, arcsinh = asin, asinh
    arctan, arctanh = atan, atanh


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
