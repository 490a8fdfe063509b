"""Activation functions of neural networks. Integers are converted to the default float first."""

from __future__ import annotations

import math
from typing import Any, Self

from weft.base.arguments import choice, real
from weft.base.dtype import dtypes
from weft.tensor.ops.transcendental import in_wide, sloped_value, with_slope
from weft.tensor.protocol import TensorBase

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_GAMMA = 1.0507009873554804934193349852946


class ActivationsMixin(TensorBase):
    """Methods that bend."""

    __slots__ = ()

    def relu(self) -> Self:
        """max(x, 0); NaN stays. Gradient at 0: 0.

        >>> Tensor([-1.0, 0.0, 2.5]).relu().tolist()
        [0.0, 0.0, 2.5]
        """
        if not dtypes.is_float(self._uop.dtype):
            return self.maximum(0)
        return sloped_value(self.maximum(0), self, "relu")

    @in_wide
    @with_slope("sigmoid")
    def sigmoid(self) -> Self:
        """1 / (1 + exp(-x)), of exp(-|x|), which cannot overflow.

        >>> Tensor([-1000.0, 0.0, 2.0]).sigmoid().tolist()
        [0.0, 0.5, 0.8808]
        """
        negative = self < 0
        power = negative.where(self, -self).exp()
        return negative.where(power, 1) / (power + 1)

    @in_wide
    def logsigmoid(self) -> Self:
        """log of the logistic function.

        >>> Tensor([-1000.0, 0.0]).logsigmoid().tolist()
        [-1000.0, -0.6931]
        """
        return -((-self).softplus())

    @in_wide
    def hardsigmoid(self, alpha: float = 1 / 6, beta: float = 0.5) -> Self:
        """alpha x + beta, between 0 and 1.

        >>> Tensor([-4.0, 0.0, 1.5, 4.0]).hardsigmoid().tolist()
        [0.0, 0.5, 0.75, 1.0]
        """
        alpha, beta = real(alpha, "alpha"), real(beta, "beta")
        # so that near -beta / alpha nothing but the sum is rounded
        line = (self + beta / alpha) * alpha if alpha else self * alpha + beta
        return line.hardtanh(0.0, 1.0)

    @in_wide
    @with_slope("elu")
    def elu(self, alpha: float = 1.0) -> Self:
        """x above 0, else alpha (exp(x) - 1).

        >>> Tensor([-1.0, 0.0, 2.0]).elu().tolist()
        [-0.6321, 0.0, 2.0]
        """
        return (self > 0).where(self, self._below_zero().expm1() * alpha)

    @in_wide
    @with_slope("celu")
    def celu(self, alpha: float = 1.0) -> Self:
        """x above 0, else alpha (exp(x / alpha) - 1).

        >>> Tensor([-1.0, 0.0, 2.0]).celu(alpha=2.0).tolist()
        [-0.7869, 0.0, 2.0]
        """
        return (self > 0).where(self, (self._below_zero() / alpha).expm1() * alpha)

    @in_wide
    def selu(self, alpha: float = _SELU_ALPHA, gamma: float = _SELU_GAMMA) -> Self:
        """gamma times elu of alpha: by default those of G. Klambauer and others,
        "Self-Normalizing Neural Networks" (2017).

        >>> Tensor([-1.0, 0.0, 2.0]).selu().tolist()
        [-1.1113, 0.0, 2.1014]
        """
        return self.elu(alpha) * real(gamma, "gamma")

    def _below_zero(self) -> Any:
        """x where it is not above 0: what lies above must not overflow in the branch not taken."""
        return (self > 0).where(0, self)

    @in_wide
    def silu(self) -> Self:
        """x times its logistic.

        >>> Tensor([-1.0, 0.0, 2.0]).silu().tolist()
        [-0.2689, 0.0, 1.7616]
        """
        return self * self.sigmoid()

    def swish(self) -> Self:
        """Alias of silu.

        >>> Tensor([-1.0, 0.0, 2.0]).swish().tolist()
        [-0.2689, 0.0, 1.7616]
        """
        return self.silu()

    def relu6(self) -> Self:
        """Between 0 and 6. Gradient at both: 0.

        >>> Tensor([-1.0, 2.0, 8.0]).relu6().tolist()
        [0.0, 2.0, 6.0]
        """
        return self.hardtanh(0, 6)

    @in_wide
    def hardswish(self) -> Self:
        """x times (x + 3, between 0 and 6) / 6.

        >>> Tensor([-1.5, 0.0, 3.0]).hardswish().tolist()
        [-0.375, 0.0, 3.0]
        """
        return self * (self + 3).hardtanh(0, 6) / 6

    def hardtanh(self, min_val: float = -1, max_val: float = 1) -> Self:
        """Between min_val and max_val. Gradient at both: 0, unlike that of `clamp`.

        >>> Tensor([-3.0, 0.5, 3.0]).hardtanh().tolist()
        [-1.0, 0.5, 1.0]
        >>> Tensor([-3.0, 0.5, 3.0]).hardtanh(-2, 2).tolist()
        [-2.0, 0.5, 2.0]
        """
        above = (self >= max_val).where(max_val, self)
        return (self <= min_val).where(min_val, above)

    @in_wide
    def gelu(self, approximate: str = "tanh") -> Self:
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
    def quick_gelu(self) -> Self:
        """x times the logistic of 1.702 x.

        >>> Tensor([-1.0, 0.0, 2.0]).quick_gelu().tolist()
        [-0.1542, 0.0, 1.9357]
        """
        return self * (self * 1.702).sigmoid()

    def leaky_relu(self, neg_slope: float = 0.01) -> Self:
        """x, or neg_slope x where it is not above 0.

        >>> Tensor([-2.0, 0.0, 3.0]).leaky_relu(0.25).tolist()
        [-0.5, 0.0, 3.0]
        """
        return (self > 0).where(self, self * neg_slope)

    @in_wide
    def mish(self) -> Self:
        """x tanh(softplus(x)).

        >>> Tensor([-1.0, 0.0, 2.0]).mish().tolist()
        [-0.3034, 0.0, 1.944]
        """
        return self * self.softplus().tanh()

    def softplus(self, beta: float = 1.0, threshold: float | None = None) -> Self:
        """log(1 + exp(beta x)) / beta, as max(x, 0) + log1p(exp(-|x|)), which cannot overflow.

        Where beta x is above `threshold`, if there is one, it is x itself.

        >>> Tensor([-1.0, 0.0, 1000.0]).softplus().tolist()
        [0.3133, 0.6931, 1000.0]
        """
        value = self._softplus(beta)
        return value if threshold is None else (self * beta > threshold).where(self, value)

    @in_wide
    @with_slope("softplus")
    def _softplus(self, beta: float) -> Self:
        x = self * beta
        negative = x < 0
        far = negative.where(x, -x).exp().log1p()
        return (negative.where(0, x) + far) / beta

    @in_wide
    def softsign(self) -> Self:
        """x / (1 + |x|).

        >>> Tensor([-3.0, 0.0, 1.0]).softsign().tolist()
        [-0.75, 0.0, 0.5]
        """
        return self / (self.abs() + 1)
