"""Activations, and softmax over an axis."""

from __future__ import annotations

from typing import Any

from weft.base.dtype import DType, dtypes
from weft.tensor import Tensor
from weft.torch.registry import converter


@converter("aten::elu")
def elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    """Return scale (x if x > 0 else alpha (exp(input_scale x) - 1))."""
    negative = (x * input_scale).minimum(0).expm1() * alpha
    return (x > 0).where(x, negative) * scale


@converter("aten::gelu")
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """Return x times the normal distribution function, exact or by tanh."""
    return x.gelu(approximate)


@converter("aten::hardtanh")
def hardtanh(x: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    """Return x limited to [min_val, max_val]."""
    return x.clamp(min_val, max_val)


@converter("aten::leaky_relu")
def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Return x, times the slope where it is negative."""
    return x.leaky_relu(negative_slope)


@converter("aten::rrelu_with_noise_functional")
def randomized_leaky_relu(
    x: Tensor, noise: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return x, times random slopes where it is negative, and the factors. In evaluation the slope
    is the mean of the limits."""
    if not training:
        return x.leaky_relu((lower + upper) / 2), noise
    drawn = Tensor.rand(*x.shape, dtype=x.dtype, device=x.device) * (upper - lower) + lower
    factors = (x <= 0).where(drawn, 1.0)
    return x * factors, factors


@converter("aten::rrelu_with_noise_backward")
def randomized_leaky_relu_backward(
    grad: Tensor, x: Tensor, noise: Tensor, lower: float, upper: float, training: bool,
    self_is_result: bool,
) -> Tensor:  # fmt: skip
    """Return the gradient of the input of `randomized_leaky_relu`."""
    if training and upper - lower > 1e-6:
        return grad * noise
    return (x > 0).where(grad, grad * ((lower + upper) / 2))


@converter("aten::_softmax")
def softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Return the softmax of an axis."""
    return x.softmax(dim, dtype=_wide(x, half_to_float)) if x.ndim else x * 0 + 1


@converter("aten::_log_softmax")
def log_softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Return the logarithm of the softmax of an axis."""
    return x.log_softmax(dim, dtype=_wide(x, half_to_float)) if x.ndim else x * 0


def _wide(x: Tensor, half_to_float: bool) -> DType:
    return dtypes.float32 if half_to_float else x.dtype
