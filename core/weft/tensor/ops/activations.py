"""Activation functions of neural networks. Integers are converted to the default float first."""

from __future__ import annotations

import math
from typing import Any, Self

from weft.base.dtype import dtypes
from weft.tensor.ops.transcendental import in_wide, with_slope
from weft.tensor.protocol import TensorBase


class ActivationsMixin(TensorBase):
    """Methods that bend."""

    __slots__ = ()

    def relu(self) -> Self:
        """max(x, 0); NaN stays. Gradient at 0: 0."""
        if not dtypes.is_float(self._uop.dtype):
            return self.maximum(0)
        return (self > 0).where(self, self.detach().maximum(0))

    @in_wide
    @with_slope("sigmoid")
    def sigmoid(self) -> Self:
        """1 / (1 + exp(-x)), of exp(-|x|), which cannot overflow."""
        negative = self < 0
        power = negative.where(self, -self).exp()
        return negative.where(power, 1) / (power + 1)

    @in_wide
    def logsigmoid(self) -> Self:
        """log of the logistic function."""
        return -((-self).softplus())

    def hardsigmoid(self, alpha: float = 1 / 6, beta: float = 0.5) -> Self:
        """alpha x + beta, between 0 and 1."""
        return (self * alpha + beta).hardtanh(0.0, 1.0)

    @in_wide
    @with_slope("elu")
    def elu(self, alpha: float = 1.0) -> Self:
        """x above 0, else alpha (exp(x) - 1)."""
        return (self > 0).where(self, self._below_zero().expm1() * alpha)

    @in_wide
    @with_slope("celu")
    def celu(self, alpha: float = 1.0) -> Self:
        """x above 0, else alpha (exp(x / alpha) - 1)."""
        return (self > 0).where(self, (self._below_zero() / alpha).expm1() * alpha)

    @in_wide
    def selu(self, alpha: float = 1.67326, gamma: float = 1.0507) -> Self:
        """gamma times elu of alpha."""
        return self.elu(alpha) * gamma

    def _below_zero(self) -> Any:
        """x where it is not above 0: what lies above must not overflow in the branch not taken."""
        return (self > 0).where(0, self)

    def silu(self) -> Self:
        """x times its logistic."""
        return self * self.sigmoid()

    def swish(self) -> Self:
        """Alias of silu."""
        return self.silu()

    def relu6(self) -> Self:
        """Between 0 and 6. Gradient at both: 0."""
        return self.hardtanh(0, 6)

    def hardswish(self) -> Self:
        """x times (x + 3, between 0 and 6) / 6."""
        return self * (self + 3).relu6() * (1 / 6)

    def hardtanh(self, min_val: float = -1, max_val: float = 1) -> Self:
        """Between min_val and max_val. Gradient at both: 0, unlike that of `clamp`."""
        above = (self >= max_val).where(max_val, self)
        return (self <= min_val).where(min_val, above)

    @in_wide
    def gelu(self, approximate: str = "tanh") -> Self:
        """x times the normal distribution at x: by tanh (Hendrycks, Gimpel), or "none": by erf."""
        if approximate == "none":
            return self * 0.5 * ((self * math.sqrt(0.5)).erf() + 1)
        # (1 + tanh(u)) / 2 is the logistic of 2u
        inner = (self * self * self * 0.044715 + self) * (2 * math.sqrt(2 / math.pi))
        return self * inner.sigmoid()

    @in_wide
    def quick_gelu(self) -> Self:
        """x times the logistic of 1.702 x."""
        return self * (self * 1.702).sigmoid()

    def leaky_relu(self, neg_slope: float = 0.01) -> Self:
        """x, or neg_slope x where it is not above 0."""
        return (self > 0).where(self, self * neg_slope)

    @in_wide
    def mish(self) -> Self:
        """x tanh(softplus(x))."""
        return self * self.softplus().tanh()

    @in_wide
    @with_slope("softplus")
    def softplus(self, beta: float = 1.0) -> Self:
        """log(1 + exp(beta x)) / beta, as max(x, 0) + log1p(exp(-|x|)), which cannot overflow."""
        x = self * beta
        negative = x < 0
        far = negative.where(x, -x).exp().log1p()
        return (negative.where(0, x) + far) / beta

    def softsign(self) -> Self:
        """x / (1 + |x|)."""
        return self / (self.abs() + 1)
