"""More functions of one and of two numbers, by the names that NumPy and PyTorch give them.

Each is a short composition. Functions of real numbers take integers as floats, are computed in
float32 at least, and come back in the float dtype that their operands have together.
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.arguments import real
from weft.base.dtype import DType, dtypes
from weft.base.errors import DTypeError
from weft.base.promotion import least_upper_dtype, least_upper_float, promote_with_scalar
from weft.tensor.ops.transcendental import in_wide
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike


def _real_pair(self: TensorBase, other: Any) -> tuple[Any, Any, DType]:
    """Both operands in one dtype wide enough to compute in, and the dtype of the result."""
    other = self._operand(other)
    if isinstance(other, TensorBase):
        own = least_upper_float(least_upper_dtype(self._uop.dtype, other._uop.dtype))
    else:
        own = least_upper_float(promote_with_scalar(self._uop.dtype, other))
    wide = own if own.itemsize > 2 else dtypes.float32
    other = other.cast(wide) if isinstance(other, TensorBase) else float(other)
    return self.cast(wide), other, own


# ---- of two numbers -----------------------------------------------------------------------


def floor_divide(self: TensorT, x: ArrayLike) -> TensorT:
    """`self // x`: the quotient rounded down.

    >>> Tensor([7, -7]).floor_divide(2).tolist()
    [3, -4]
    """
    return self // x


def fmod(self: TensorT, x: ArrayLike) -> TensorT:
    """Remainder with the sign of self, as in C; see `mod` for that with the sign of x, and for
    the quotients up to which it is exact among floats.

    >>> Tensor([7, -7]).fmod(3).tolist()
    [1, -1]
    """
    a, b, second = self._pair(x)
    left, right = self._wrap_with(a, second), self._wrap_with(b, second)
    if dtypes.is_float(a.dtype):
        return left._float_remainder(right)[0]
    # toward zero: what the quotient leaves
    return left - left.idiv(right) * right


def float_power(self: TensorT, exponent: ArrayLike) -> TensorT:
    """Power in float64.

    >>> Tensor([2, 3]).float_power(-1).tolist()
    [0.5, 0.3333]
    """
    exponent = self._operand(exponent)
    wide = exponent.cast(dtypes.float64) if isinstance(exponent, TensorBase) else exponent
    return self.cast(dtypes.float64).pow(wide)


def hypot(self: TensorT, other: ArrayLike) -> TensorT:
    """sqrt(x*x + y*y), without intermediate overflow or underflow.

    >>> Tensor([3.0, 1e30]).hypot(Tensor([4.0, 0.0])).tolist()
    [5.0, 1e+30]
    """
    a, b, own = _real_pair(self, other)
    b = self.__class__._as_tensor(b, self, a._uop.dtype)
    large, small = a.abs().maximum(b.abs()), a.abs().minimum(b.abs())
    plain = (large == 0) | (large == math.inf)
    share = plain.where(0.0, small) / plain.where(1.0, large)
    length = large * (share * share + 1).sqrt()
    infinite = (a.isinf() | b.isinf()) & ~(large == math.inf)
    return infinite.where(math.inf, length).cast(own)


def atan2(self: TensorT, other: ArrayLike) -> TensorT:
    """The angle of the point (other, self), from -pi to pi; signs of zeros tell sides.

    >>> Tensor([1.0, -1.0]).atan2(Tensor([0.0, -1.0])).tolist()
    [1.5708, -2.3562]
    """
    y, x, own = _real_pair(self, other)
    x = self.__class__._as_tensor(x, self, y._uop.dtype)
    steep = y.detach().abs() > x.detach().abs()
    above, below = steep.where(x, y), steep.where(y, x)
    both = above.isinf() & below.isinf()
    plain = both | ((below == 0) & (above == 0))
    share = plain.where(0.0, above) / plain.where(1.0, below)
    share = both.where(above.sign() * below.sign(), share)
    angle = share.atan()
    side = y.detach().signbit().where(-1.0, 1.0).cast(y._uop.dtype)
    flat = (x.detach().signbit()).where(side * math.pi + angle, angle)
    # the quotient has the sign of y, but for the quotient of zeros
    flat = (plain & (flat == 0)).where(flat.copysign(y.detach()), flat)
    return steep.where(side * (math.pi / 2) - angle, flat).cast(own)


def logaddexp(self: TensorT, other: ArrayLike) -> TensorT:
    """log(exp(x) + exp(y)), which does not overflow.

    >>> Tensor([0.0, 1000.0]).logaddexp(0.0).tolist()
    [0.6931, 1000.0]
    """
    a, b, own = _real_pair(self, other)
    apart = (a == b).where(0.0, a - b).abs()
    return ((-apart).exp().log1p() + a.maximum(b)).cast(own)


def logaddexp2(self: TensorT, other: ArrayLike) -> TensorT:
    """log2(2**x + 2**y), which does not overflow.

    >>> Tensor([1.0, 1000.0]).logaddexp2(1.0).tolist()
    [2.0, 1000.0]
    """
    a, b, own = _real_pair(self, other)
    apart = (a == b).where(0.0, a - b).abs()
    more = (-apart).exp2().log1p() * (1 / math.log(2))
    return ((apart == 0).where(1.0, more) + a.maximum(b)).cast(own)


def xlogy(self: TensorT, other: ArrayLike) -> TensorT:
    """self * log(other); 0 where self is 0, unless `other` is NaN.

    >>> Tensor([0.0, 2.0]).xlogy(Tensor([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    a, b, own = _real_pair(self, other)
    b = self.__class__._as_tensor(b, self, a._uop.dtype)
    nothing = (a == 0) & ((b <= 0) | (b == math.inf))
    return nothing.where(0.0, a * nothing.where(1.0, b).log()).cast(own)


def heaviside(self: TensorT, values: ArrayLike) -> TensorT:
    """0 below zero, 1 above, `values` at zero; NaN stays. Gradient: 0.

    >>> Tensor([-1.5, 0.0, 2.0]).heaviside(0.5).tolist()
    [0.0, 0.5, 1.0]
    """
    a, b, _ = self._pair(values)
    x, at_zero = self._from_node(a), self._from_node(b)
    step = (x == 0).where(at_zero, (x > 0).cast(a.dtype))
    return x.isnan().where(x, step) if dtypes.is_float(a.dtype) else step


def fmax(self: TensorT, other: ArrayLike) -> TensorT:
    """The larger of two; the other one where one is NaN. Gradient: half to each at a tie.

    >>> Tensor([1.0, float("nan")]).fmax(Tensor([2.0, 3.0])).tolist()
    [2.0, 3.0]
    """
    x = self._operand(other)
    larger = self.maximum(x)
    missing = x.isnan() if isinstance(x, TensorBase) else self.full_like(x != x, dtype="bool")
    return self.isnan().where(x, missing.where(self, larger))


def fmin(self: TensorT, other: ArrayLike) -> TensorT:
    """The smaller of two; the other one where one is NaN. Gradient: half to each at a tie.

    >>> Tensor([1.0, float("nan")]).fmin(Tensor([2.0, 3.0])).tolist()
    [1.0, 3.0]
    """
    x = self._operand(other)
    smaller = self.minimum(x)
    missing = x.isnan() if isinstance(x, TensorBase) else self.full_like(x != x, dtype="bool")
    return self.isnan().where(x, missing.where(self, smaller))


def addcmul(self: TensorT, tensor1: ArrayLike, tensor2: ArrayLike, value: float = 1) -> TensorT:
    """self + value * tensor1 * tensor2.

    >>> Tensor([1, 2]).addcmul(Tensor([3, 4]), Tensor([5, 6]), value=2).tolist()
    [31, 50]
    """
    product = self._as_tensor(tensor1, self) * tensor2
    return self + product * real(value, "value")


def addcdiv(self: TensorT, tensor1: ArrayLike, tensor2: ArrayLike, value: float = 1) -> TensorT:
    """self + value * tensor1 / tensor2.

    >>> Tensor([1.0, 2.0]).addcdiv(Tensor([3.0, 4.0]), 2.0).tolist()
    [2.5, 4.0]
    """
    quotient = self._as_tensor(tensor1, self) / tensor2
    return self + quotient * real(value, "value")


def logical_and(self: TensorT, other: ArrayLike) -> TensorT:
    """Whether neither is zero.

    >>> Tensor([0, 2, 3]).logical_and(Tensor([1, 1, 0])).tolist()
    [False, True, False]
    """
    return self.cast(dtypes.bool) & self.__class__._as_tensor(other, self).cast(dtypes.bool)


def logical_or(self: TensorT, other: ArrayLike) -> TensorT:
    """Whether one is not zero.

    >>> Tensor([0, 2, 0]).logical_or(Tensor([1, 1, 0])).tolist()
    [True, True, False]
    """
    return self.cast(dtypes.bool) | self.__class__._as_tensor(other, self).cast(dtypes.bool)


def logical_xor(self: TensorT, other: ArrayLike) -> TensorT:
    """Whether exactly one is not zero.

    >>> Tensor([0, 2, 0]).logical_xor(Tensor([1, 1, 0])).tolist()
    [True, False, False]
    """
    return self.cast(dtypes.bool) ^ self.__class__._as_tensor(other, self).cast(dtypes.bool)


# ---- of one number ------------------------------------------------------------------------


def signbit(self: TensorT) -> TensorT:
    """Whether the sign is minus, that of -0.0 included.

    >>> Tensor([-1.0, -0.0, 0.0]).signbit().tolist()
    [True, True, False]
    """
    dtype = self._uop.dtype
    if not dtypes.is_float(dtype):
        return self.detach() < 0 if dtypes.is_int(dtype) else self.full_like(False)
    return self.full_like(1, dtype=dtype).copysign(self).detach() < 0


def positive(self: TensorT) -> TensorT:
    """self: `+x`.

    >>> Tensor([-1, 1]).positive().tolist()
    [-1, 1]
    """
    self._no_bool("plus")
    return self._wrap(self._uop)


def frac(self: TensorT) -> TensorT:
    """What `trunc` cuts off, with the sign of self.

    >>> Tensor([1.25, -2.5]).frac().tolist()
    [0.25, -0.5]
    """
    return self - self.trunc()


@in_wide
def logit(self: TensorT, eps: float | None = None) -> TensorT:
    """log(x / (1 - x)), the inverse of `sigmoid`; `eps` bounds x to [eps, 1 - eps] first.

    >>> Tensor([0.5, 0.75]).logit().tolist()
    [0.0, 1.0986]
    """
    eps = None if eps is None else real(eps, "eps")
    x = self if eps is None else self.clamp(eps, 1 - eps)
    return (x / (1 - x)).log()


@in_wide
def sinc(self: TensorT) -> TensorT:
    """sin(pi x) / (pi x); 1 at 0.

    >>> Tensor([0.0, 0.5]).sinc().tolist()
    [1.0, 0.6366]
    """
    nothing = self == 0
    x = nothing.where(1.0, self)
    # reduce by whole periods first: multiples of pi are no floats, and zeros must be exact
    whole = x.round()
    sine = ((x - whole) * math.pi).sin()
    odd = (whole * 0.5).trunc() * 2 != whole
    return nothing.where(1.0, odd.where(-sine, sine) / (x * math.pi))


@in_wide
def deg2rad(self: TensorT) -> TensorT:
    """Degrees as radians.

    >>> Tensor([180.0]).deg2rad().tolist()
    [3.1416]
    """
    return self * (math.pi / 180)


@in_wide
def rad2deg(self: TensorT) -> TensorT:
    """Radians as degrees.

    >>> Tensor([0.5]).rad2deg().tolist()
    [28.6479]
    """
    return self * (180 / math.pi)


def nan_to_num(
    self: TensorT, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> TensorT:
    """NaN and infinities replaced: by `nan`, and by the greatest and the least finite numbers.

    >>> Tensor([float("nan"), 1.0]).nan_to_num().tolist()
    [0.0, 1.0]
    """
    dtype = self._uop.dtype
    if not dtypes.is_float(dtype):
        return self._wrap(self._uop)
    limits = dtypes.finfo(dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    finite = (self == math.inf).where(high, (self == -math.inf).where(low, self))
    return self.isnan().where(nan, finite)


def isposinf(self: TensorT) -> TensorT:
    """Where it is infinite and above zero.

    >>> Tensor([float("inf"), float("-inf")]).isposinf().tolist()
    [True, False]
    """
    return self.isinf(True, False)


def isneginf(self: TensorT) -> TensorT:
    """Where it is infinite and below zero.

    >>> Tensor([float("inf"), float("-inf")]).isneginf().tolist()
    [False, True]
    """
    return self.isinf(False, True)


def clamp_min(self: TensorT, min: ArrayLike) -> TensorT:
    """Bounded below.

    >>> Tensor([1, 5]).clamp_min(3).tolist()
    [3, 5]
    """
    return self.clamp(min_=min)


def clamp_max(self: TensorT, max: ArrayLike) -> TensorT:
    """Bounded above.

    >>> Tensor([1, 5]).clamp_max(3).tolist()
    [1, 3]
    """
    return self.clamp(max_=max)


# ---- questions ----------------------------------------------------------------------------


def allclose(
    self: TensorBase,
    other: ArrayLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements are close (see `isclose`): a Python bool, computed now.

    >>> Tensor([1.0, 2.0]).allclose(Tensor([1.0, 2.0 + 1e-7]))
    True
    """
    return bool(self.isclose(other, rtol, atol, equal_nan).all().item())


def equal(self: TensorBase, other: ArrayLike) -> bool:
    """Whether shape and all elements are the same: a Python bool, computed now.

    Element by element it is `eq`.

    >>> Tensor([1, 2]).equal(Tensor([1, 2])), Tensor([1, 2]).equal(Tensor([1]))
    (True, False)
    """
    if not isinstance(other, TensorBase):
        raise DTypeError(
            "equal compares two tensors",
            asked=f"equal with a {type(other).__name__}",
            try_="x == number, element by element",
        )
    return self.shape == other.shape and bool((self == other).all().item())
