"""Activations as functions, with PyTorch's names and defaults.

`inplace` is taken and left alone: the result is returned, and the input keeps its value.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import real
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = [
    "celu", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6",
    "rrelu", "selu", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign",
    "tanh", "tanhshrink", "threshold",
]  # fmt: skip


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The larger of input and 0.

    >>> nn.functional.relu(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return tensor_of(input, "relu").relu()


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """input bounded to [0, 6]."""
    return tensor_of(input, "relu6").relu6()


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """input, and negative_slope * input below 0 (Maas, Hannun and Ng, 2013)."""
    return tensor_of(input, "leaky_relu").leaky_relu(negative_slope)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
    inplace: bool = False,
) -> Tensor:  # fmt: skip
    """input, and slope * input below 0: if `training` each slope is drawn between lower and upper,
    else it is their mean (Xu et al., 2015).

    >>> nn.functional.rrelu(Tensor([-4.0, 2.0]), 0.25, 0.75).tolist()
    [-2.0, 2.0]
    """
    x = tensor_of(input, "rrelu")
    low, high = real(lower, "lower"), real(upper, "upper")
    if low > high:
        raise ArgumentError(
            "lower is at most upper", asked=f"rrelu(lower={lower}, upper={upper})",
            try_="rrelu(x, lower=1 / 8, upper=1 / 3)",
        )  # fmt: skip
    if not training:
        return x.leaky_relu((low + high) / 2)
    slopes = x.rand_like(requires_grad=False).contiguous() * (high - low) + low
    return (x >= 0).where(x, x * slopes)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """input, and weight * input below 0: one weight, or one per channel (He et al., 2015)."""
    return tensor_of(input, "prelu").prelu(weight)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input, and alpha * (exp(input) - 1) below 0 (Clevert, Unterthiner and Hochreiter, 2016)."""
    return tensor_of(input, "elu").elu(alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(0, input) + min(0, alpha * (exp(input / alpha) - 1)) (Barron, 2017)."""
    return tensor_of(input, "celu").celu(alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """ELU scaled so that it normalises itself (Klambauer et al., 2017)."""
    return tensor_of(input, "selu").selu()


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """input times the normal distribution function at input (Hendrycks and Gimpel, 2016);
    approximate="tanh": by a tanh, as in GPT-2.

    >>> nn.functional.gelu(Tensor([-1.0, 2.0])).tolist()
    [-0.1587, 1.9545]
    """
    return tensor_of(input, "gelu").gelu(approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input)."""
    return tensor_of(input, "silu").silu()


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input)) (Misra, 2020)."""
    return tensor_of(input, "mish").mish()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input))."""
    return tensor_of(input, "sigmoid").sigmoid()


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)), without overflow."""
    return tensor_of(input, "logsigmoid").logsigmoid()


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """input / 6 + 1/2, bounded to [0, 1]."""
    return tensor_of(input, "hardsigmoid").hardsigmoid()


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * relu6(input + 3) / 6 (Howard et al., 2019)."""
    return tensor_of(input, "hardswish").hardswish()


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return tensor_of(input, "tanh").tanh()


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """input bounded to [min_val, max_val]."""
    return tensor_of(input, "hardtanh").hardtanh(min_val, max_val)


def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input)."""
    return tensor_of(input, "tanhshrink").tanhshrink()


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * input)) / beta; input itself where beta * input is above the threshold."""
    return tensor_of(input, "softplus").softplus(beta, threshold)


def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|)."""
    return tensor_of(input, "softsign").softsign()


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """input moved towards 0 by lambd, and 0 between -lambd and lambd."""
    return tensor_of(input, "softshrink").softshrink(lambd)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """input, and 0 between -lambd and lambd."""
    return tensor_of(input, "hardshrink").hardshrink(lambd)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """input where it is above the threshold, else `value`."""
    return tensor_of(input, "threshold").threshold(threshold, value)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of the second (Dauphin et al., 2017)."""
    return tensor_of(input, "glu").glu(dim)


def softmax(input: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """exp(input) over its sum along an axis, the last unless `dim` says another.

    >>> nn.functional.softmax(Tensor([[0.0, 0.0]]), dim=1).tolist()
    [[0.5, 0.5]]
    """
    return tensor_of(input, "softmax").softmax(dim, dtype)


def softmin(input: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """softmax(-input)."""
    return tensor_of(input, "softmin").softmin(dim, dtype)


def log_softmax(input: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """The logarithm of the softmax along an axis, the last unless `dim` says another."""
    return tensor_of(input, "log_softmax").log_softmax(dim, dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A draw from the Gumbel-softmax distribution (Jang, Gu and Poole, 2017).

    hard: a one-hot vector, whose gradient is that of the soft draw.

    >>> nn.functional.gumbel_softmax(Tensor([[1.0, 2.0]]), hard=True).sum().item()
    1.0
    """
    x = tensor_of(logits, "gumbel_softmax")
    kind = x.dtype if dtypes.is_float(x.dtype) else dtypes.default_float
    uniform = x.rand_like(dtype=dtypes.float32, requires_grad=False)
    noise = -(-(uniform + eps).log() + eps).log()
    soft = ((x + noise.cast(kind)) / real(tau, "tau")).softmax(dim)
    if not hard:
        return soft
    chosen = soft.detach().argmax(dim, keepdim=True)
    size = soft.shape[dim]
    shape = tuple(size if i == dim % soft.ndim else 1 for i in range(soft.ndim))
    places = Tensor.arange(size, device=soft.device).reshape(shape)
    return (chosen == places).cast(soft.dtype) - soft.detach() + soft
