"""Activation functions of neural networks. Integers are converted to the default float first."""

from __future__ import annotations

import math
from typing import Any

from weft.base.arguments import choice, real
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor.ops.transcendental import (
    in_floats,
    in_wide,
    value_with_derivative,
    with_derivative,
)
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike, DTypeLike

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_GAMMA = 1.0507009873554804934193349852946


def relu(self: TensorT) -> TensorT:
    """max(x, 0); NaN stays. Gradient at 0: 0.

    >>> Tensor([-1.0, 0.0, 2.5]).relu().tolist()
    [0.0, 0.0, 2.5]
    """
    if not dtypes.is_float(self._uop.dtype):
        return self.maximum(0)
    return value_with_derivative(self.maximum(0), self, "relu")


@in_wide
@with_derivative("sigmoid")
def sigmoid(self: TensorT) -> TensorT:
    """1 / (1 + exp(-x)), of exp(-|x|), which cannot overflow.

    >>> Tensor([-1000.0, 0.0, 2.0]).sigmoid().tolist()
    [0.0, 0.5, 0.8808]
    """
    negative = self < 0
    power = negative.where(self, -self).exp()
    return negative.where(power, 1) / (power + 1)


@in_wide
def logsigmoid(self: TensorT) -> TensorT:
    """log of the logistic function.

    >>> Tensor([-1000.0, 0.0]).logsigmoid().tolist()
    [-1000.0, -0.6931]
    """
    return -((-self).softplus())


@in_wide
def hardsigmoid(self: TensorT, alpha: float = 1 / 6, beta: float = 0.5) -> TensorT:
    """alpha x + beta, between 0 and 1.

    >>> Tensor([-4.0, 0.0, 1.5, 4.0]).hardsigmoid().tolist()
    [0.0, 0.5, 0.75, 1.0]
    """
    alpha, beta = real(alpha, "alpha"), real(beta, "beta")
    # so that near -beta / alpha nothing but the sum is rounded
    line = (self + beta / alpha) * alpha if alpha else self * alpha + beta
    return line.hardtanh(0.0, 1.0)


@in_wide
@with_derivative("elu")
def elu(self: TensorT, alpha: float = 1.0) -> TensorT:
    """x above 0, else alpha (exp(x) - 1).

    >>> Tensor([-1.0, 0.0, 2.0]).elu().tolist()
    [-0.6321, 0.0, 2.0]
    """
    return (self > 0).where(self, _below_zero(self).expm1() * alpha)


@in_wide
@with_derivative("celu")
def celu(self: TensorT, alpha: float = 1.0) -> TensorT:
    """x above 0, else alpha (exp(x / alpha) - 1).

    >>> Tensor([-1.0, 0.0, 2.0]).celu(alpha=2.0).tolist()
    [-0.7869, 0.0, 2.0]
    """
    return (self > 0).where(self, (_below_zero(self) / alpha).expm1() * alpha)


@in_wide
def selu(self: TensorT, alpha: float = _SELU_ALPHA, gamma: float = _SELU_GAMMA) -> TensorT:
    """gamma times elu of alpha: by default those of G. Klambauer and others,
    "TensorT-Normalizing Neural Networks" (2017).

    >>> Tensor([-1.0, 0.0, 2.0]).selu().tolist()
    [-1.1113, 0.0, 2.1014]
    """
    return self.elu(alpha) * real(gamma, "gamma")


def _below_zero(self: TensorBase) -> Any:
    """x where it is not above 0: what lies above must not overflow in the branch not taken."""
    return (self > 0).where(0, self)


@in_wide
def silu(self: TensorT) -> TensorT:
    """x times its logistic.

    >>> Tensor([-1.0, 0.0, 2.0]).silu().tolist()
    [-0.2689, 0.0, 1.7616]
    """
    return self * self.sigmoid()


def relu6(self: TensorT) -> TensorT:
    """Between 0 and 6. Gradient at both: 0.

    >>> Tensor([-1.0, 2.0, 8.0]).relu6().tolist()
    [0.0, 2.0, 6.0]
    """
    return self.hardtanh(0, 6)


@in_wide
def hardswish(self: TensorT) -> TensorT:
    """x times (x + 3, between 0 and 6) / 6.

    >>> Tensor([-1.5, 0.0, 3.0]).hardswish().tolist()
    [-0.375, 0.0, 3.0]
    """
    return self * (self + 3).hardtanh(0, 6) / 6


def hardtanh(self: TensorT, min_val: float = -1, max_val: float = 1) -> TensorT:
    """Between min_val and max_val. Gradient at both: 0, unlike that of `clamp`.

    >>> Tensor([-3.0, 0.5, 3.0]).hardtanh().tolist()
    [-1.0, 0.5, 1.0]
    >>> Tensor([-3.0, 0.5, 3.0]).hardtanh(-2, 2).tolist()
    [-2.0, 0.5, 2.0]
    """
    above = (self >= max_val).where(max_val, self)
    return (self <= min_val).where(min_val, above)


@in_wide
def gelu(self: TensorT, approximate: str = "tanh") -> TensorT:
    """x times the normal distribution at x: by tanh (Hendrycks, Gimpel), or "none": by erf.

    >>> Tensor([-1.0, 0.0, 2.0]).gelu().tolist()
    [-0.1588, 0.0, 1.9546]
    >>> Tensor([-1.0, 0.0, 2.0]).gelu(approximate="none").tolist()
    [-0.1587, 0.0, 1.9545]
    """
    if choice(approximate, "approximation", ("none", "tanh")) == "none":
        return self * 0.5 * ((self * math.sqrt(0.5)).erf() + 1)
    # (1 + tanh(u)) / 2 is the logistic of 2u
    inner = (self * self * self * 0.044715 + self) * (2 * math.sqrt(2 / math.pi))
    return self * inner.sigmoid()


@in_wide
def quick_gelu(self: TensorT) -> TensorT:
    """x times the logistic of 1.702 x.

    >>> Tensor([-1.0, 0.0, 2.0]).quick_gelu().tolist()
    [-0.1542, 0.0, 1.9357]
    """
    return self * (self * 1.702).sigmoid()


def leaky_relu(self: TensorT, neg_slope: float = 0.01) -> TensorT:
    """x, or neg_slope x where it is not above 0.

    >>> Tensor([-2.0, 0.0, 3.0]).leaky_relu(0.25).tolist()
    [-0.5, 0.0, 3.0]
    """
    return (self > 0).where(self, self * neg_slope)


@in_wide
def mish(self: TensorT) -> TensorT:
    """x tanh(softplus(x)).

    >>> Tensor([-1.0, 0.0, 2.0]).mish().tolist()
    [-0.3034, 0.0, 1.944]
    """
    return self * self.softplus().tanh()


def softplus(self: TensorT, beta: float = 1.0, threshold: float | None = None) -> TensorT:
    """log(1 + exp(beta x)) / beta, as max(x, 0) + log1p(exp(-|x|)), which cannot overflow.

    Where beta x is above `threshold`, if there is one, it is x itself.

    >>> Tensor([-1.0, 0.0, 1000.0]).softplus().tolist()
    [0.3133, 0.6931, 1000.0]
    """
    value = _softplus(self, beta)
    return value if threshold is None else (self * beta > threshold).where(self, value)


@in_wide
@with_derivative("softplus")
def _softplus(self: TensorT, beta: float) -> TensorT:
    x = self * beta
    negative = x < 0
    far = negative.where(x, -x).exp().log1p()
    return (negative.where(0, x) + far) / beta


@in_wide
def softsign(self: TensorT) -> TensorT:
    """x / (1 + |x|).

    >>> Tensor([-3.0, 0.0, 1.0]).softsign().tolist()
    [-0.75, 0.0, 0.5]
    """
    return self / (self.abs() + 1)


@in_floats
def softmin(self: TensorT, axis: int = -1, dtype: DTypeLike | None = None) -> TensorT:
    """softmax of -x.

    >>> Tensor([0.0, 0.0]).softmin().tolist()
    [0.5, 0.5]
    """
    return (-self).softmax(axis, dtype)


def glu(self: TensorT, dim: int = -1) -> TensorT:
    """The first half of an axis times the logistic of the second.

    >>> Tensor([2.0, 0.0]).glu().tolist()
    [1.0]
    """
    size = self.shape[self._resolve_dim(dim)] if self.shape else 1
    if size % 2:
        raise ShapeError(
            "an axis of odd length has no halves", asked=f"glu({dim}) of shape {self.shape}"
        )
    return self.narrow(dim, 0, size // 2) * self.narrow(dim, size // 2, size // 2).sigmoid()


def prelu(self: TensorT, weight: ArrayLike) -> TensorT:
    """x, or weight x where it is below 0: one weight, or one for each channel (axis 1).

    >>> Tensor([-2.0, 2.0]).prelu(Tensor([0.5])).tolist()
    [-1.0, 2.0]
    """
    weight = self.__class__._as_tensor(weight, self)
    if weight.numel() != 1:
        if len(self.shape) < 2 or weight.shape != (self.shape[1],):
            raise ShapeError(
                "there is one weight, or one for each channel",
                asked=f"prelu of {self.shape} with weights {weight.shape}",
            )
        weight = weight.reshape((1, -1, *(1,) * (len(self.shape) - 2)))
    else:
        weight = weight.reshape(())
    return (self > 0).where(self, self * weight)


def hardshrink(self: TensorT, lambd: float = 0.5) -> TensorT:
    """0 between -lambd and lambd, x elsewhere.

    >>> Tensor([-1.0, 0.25, 0.75]).hardshrink().tolist()
    [-1.0, 0.0, 0.75]
    """
    lambd = real(lambd, "lambd")
    return ((self >= -lambd) & (self <= lambd)).where(0, self)


@in_floats
def softshrink(self: TensorT, lambd: float = 0.5) -> TensorT:
    """x drawn toward 0 by lambd, and 0 between -lambd and lambd.

    >>> Tensor([-1.0, 0.25, 0.75]).softshrink().tolist()
    [-0.5, 0.0, 0.25]
    """
    lambd = real(lambd, "lambd")
    if lambd < 0:
        raise ArgumentError("lambd is not below 0", asked=f"softshrink({lambd})")
    low = (self < -lambd).where(self + lambd, self * 0)
    return (self > lambd).where(self - lambd, low)


@in_floats
def tanhshrink(self: TensorT) -> TensorT:
    """x - tanh(x).

    >>> Tensor([0.0, 1.0]).tanhshrink().tolist()
    [0.0, 0.2384]
    """
    return self - self.tanh()


def threshold(self: TensorT, threshold: float, value: float) -> TensorT:
    """x above the threshold, `value` elsewhere.

    >>> Tensor([1.0, 3.0]).threshold(2.0, 0.5).tolist()
    [0.5, 3.0]
    """
    return (self <= threshold).where(value, self)
