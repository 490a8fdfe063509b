"""Activations that write their result into the input, under PyTorch's names."""

from __future__ import annotations

from weft.nn.functional import activations as F
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = [
    "celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_",
]  # fmt: skip


def relu_(input: Tensor) -> Tensor:
    """input = max(input, 0); gives the input.

    >>> x = Tensor([1.0, -2.0])
    >>> nn.functional.relu_(x) is x, x.tolist()
    (True, [1.0, 0.0])
    """
    return tensor_of(input, "relu_").assign(F.relu(input))


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu` into the input, which it gives."""
    return tensor_of(input, "elu_").assign(F.elu(input, alpha))


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu` into the input, which it gives."""
    return tensor_of(input, "celu_").assign(F.celu(input, alpha))


def selu_(input: Tensor) -> Tensor:
    """`selu` into the input, which it gives."""
    return tensor_of(input, "selu_").assign(F.selu(input))


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh` into the input, which it gives."""
    return tensor_of(input, "hardtanh_").assign(F.hardtanh(input, min_val, max_val))


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`leaky_relu` into the input, which it gives."""
    return tensor_of(input, "leaky_relu_").assign(F.leaky_relu(input, negative_slope))


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold` into the input, which it gives."""
    return tensor_of(input, "threshold_").assign(F.threshold(input, threshold, value))


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False
) -> Tensor:
    """`rrelu` into the input, which it gives."""
    return tensor_of(input, "rrelu_").assign(F.rrelu(input, lower, upper, training))
