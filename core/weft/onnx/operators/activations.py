"""Activation functions, softmax and dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.registry import operator
from weft.tensor import Tensor

_PLAIN: dict[str, Callable[[Tensor], Tensor]] = {
    "Relu": Tensor.relu, "Sigmoid": Tensor.sigmoid, "Softplus": Tensor.softplus,
    "Softsign": Tensor.softsign, "Mish": Tensor.mish, "HardSwish": Tensor.hardswish,
}  # fmt: skip
"""Activation functions without attributes."""


def _register_plain(name: str, function: Callable[[Tensor], Tensor]) -> None:
    @operator(name)
    def plain(node: Node, x: Tensor, *, consumed_inputs: Any = None) -> Tensor:
        return function(x)


for _name, _function in _PLAIN.items():
    _register_plain(_name, _function)


@operator("LeakyRelu")
def leaky_relu(
    node: Node, x: Tensor, *, alpha: float = 0.01, consumed_inputs: Any = None
) -> Tensor:
    """x, or alpha x below 0."""
    return (x < 0).where(x * alpha, x)


@operator("PRelu", since=7)
def prelu(node: Node, x: Tensor, slope: Tensor) -> Tensor:
    """x, or slope x below 0; the slope broadcasts to x."""
    return (x < 0).where(x * slope, x)


@operator("PRelu")
def prelu_by_channel(
    node: Node, x: Tensor, slope: Tensor, *, consumed_inputs: Any = None
) -> Tensor:
    """x, or slope x below 0; one slope, or one for each channel on axis 1 (opset < 7)."""
    if x.ndim > 2 and slope.numel() != 1:
        slope = slope.reshape((-1, *(1,) * (x.ndim - 2)))
    return prelu(node, x, slope)


@operator("ThresholdedRelu")
def thresholded_relu(node: Node, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """x above alpha, else 0."""
    return (x > alpha).where(x, 0)


@operator("Elu")
def elu(node: Node, x: Tensor, *, alpha: float = 1.0, consumed_inputs: Any = None) -> Tensor:
    """x, or alpha (exp(x) - 1) below 0."""
    return x.elu(alpha)


@operator("Celu", since=12)
def celu(node: Node, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """x, or alpha (exp(x / alpha) - 1) below 0."""
    return x.celu(alpha)


@operator("Selu", since=6)
def selu(
    node: Node,
    x: Tensor,
    *,
    alpha: float = 1.67326319217681884765625,
    gamma: float = 1.05070102214813232421875,
) -> Tensor:
    """gamma times elu of alpha."""
    return x.selu(alpha, gamma)


@operator("Selu")
def selu_by_old_defaults(
    node: Node, x: Tensor, *, alpha: float = 1.6732, gamma: float = 1.0507, consumed_inputs: Any = 0
) -> Tensor:
    """gamma times elu of alpha, with the defaults of opset 1."""
    return x.selu(alpha, gamma)


@operator("Gelu", since=20)
def gelu(node: Node, x: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution at x: by erf, or approximated by tanh."""
    return x.gelu(approximate)


@operator("HardSigmoid")
def hard_sigmoid(
    node: Node, x: Tensor, *, alpha: float = 0.2, beta: float = 0.5, consumed_inputs: Any = None
) -> Tensor:
    """alpha x + beta between 0 and 1."""
    return x.hardsigmoid(alpha, beta)


@operator("Shrink", since=9)
def shrink(node: Node, x: Tensor, *, lambd: float = 0.5, bias: float = 0.0) -> Tensor:
    """x drawn toward 0 by `bias`, and 0 between -lambd and lambd."""
    value = x if dtypes.is_float(x.dtype) else x.cast(dtypes.float32)
    below = (value < -lambd).where(value + bias, 0)
    return (value > lambd).where(value - bias, below).cast(x.dtype)


@operator("Swish", since=24)
def swish(node: Node, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """x times the logistic of alpha x."""
    wide = _wide(x)
    return (wide * (wide * alpha).sigmoid()).cast(x.dtype)


@operator("SwiGLU", since=28)
def swiglu(node: Node, gate: Tensor, value: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Swish of the gate times the value."""
    return swish(node, gate, alpha=alpha) * value


def _wide(x: Tensor) -> Tensor:
    """In float32 where the dtype is shorter: the result is rounded once."""
    return x.cast(dtypes.float32) if x.dtype.itemsize < 4 else x


# ---- softmax ----------------------------------------------------------------------------------


def _trailing_axes(x: Tensor, axis: int) -> tuple[int, ...]:
    """All axes from `axis` on: before opset 13 they are flattened to one."""
    return tuple(range(axis + x.ndim if axis < 0 else axis, x.ndim))


@operator("Softmax", since=13)
def softmax(node: Node, x: Tensor, *, axis: int = -1) -> Tensor:
    """exp(x) / sum of exp(x) along an axis."""
    return x.softmax(axis)


@operator("Softmax")
def softmax_flattened(node: Node, x: Tensor, *, axis: int = 1) -> Tensor:
    """Softmax over all axes from `axis` on (opset < 13)."""
    return x.softmax(_trailing_axes(x, axis))


@operator("LogSoftmax", since=13)
def log_softmax(node: Node, x: Tensor, *, axis: int = -1) -> Tensor:
    """Logarithm of softmax."""
    return x.log_softmax(axis)


@operator("LogSoftmax")
def log_softmax_flattened(node: Node, x: Tensor, *, axis: int = 1) -> Tensor:
    """Logarithm of softmax over all axes from `axis` on (opset < 13)."""
    return x.log_softmax(_trailing_axes(x, axis))


@operator("Hardmax", since=13)
def hardmax(node: Node, x: Tensor, *, axis: int = -1) -> Tensor:
    """1 at the first maximum along an axis, else 0."""
    if 0 in x.shape:
        return x
    axis = axis % x.ndim
    positions = Tensor.arange(x.shape[axis], device=x.device)
    positions = positions.reshape((-1, *(1,) * (x.ndim - 1 - axis)))
    return (x.argmax(axis, keepdim=True) == positions).cast(x.dtype)


@operator("Hardmax")
def hardmax_flattened(node: Node, x: Tensor, *, axis: int = 1) -> Tensor:
    """1 at the first maximum over all axes from `axis` on, else 0 (opset < 13)."""
    if 0 in x.shape:
        return x
    flat = x.reshape((*x.shape[: x.ndim - len(_trailing_axes(x, axis))], -1))
    return hardmax(node, flat).reshape(x.shape)


# ---- dropout ----------------------------------------------------------------------------------


@operator("Dropout", since=12, host_inputs=("ratio", "training_mode"))
def dropout(
    node: Node,
    x: Tensor,
    ratio: np.ndarray | None = None,
    training_mode: np.ndarray | None = None,
    *,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Elements set to 0 at random while training, the others scaled up; and which ones stay.

    With a seed the random numbers are those of NumPy's `RandomState`.
    """
    share = 0.5 if ratio is None else float(ratio.reshape(()))
    if training_mode is None or not bool(training_mode.reshape(())) or share == 0:
        return x, x.full_like(True, dtype=dtypes.bool)
    if seed is None:
        mask = Tensor.rand(x.shape, device=x.device) >= share
    else:
        drawn = np.random.RandomState(seed & 0xFFFFFFFF).uniform(0, 1, x.shape) >= share
        mask = node.tensor(drawn)
    return mask.where(x, 0) / (1 - share), mask


@operator("Dropout", since=7)
def dropout_of_inference(node: Node, x: Tensor, *, ratio: float = 0.5) -> tuple[Tensor, Tensor]:
    """x itself; and a mask in which every element stays (opset 7 to 11)."""
    kind = dtypes.bool if node.opset >= 10 else x.dtype
    return x, x.full_like(1, dtype=kind)


@operator("Dropout")
def dropout_by_attribute(
    node: Node, x: Tensor, *, ratio: float = 0.5, is_test: int = 0, consumed_inputs: Any = None
) -> tuple[Tensor, Tensor]:
    """x itself where `is_test` is set, else elements of it at random (opset < 7)."""
    if is_test:
        return x, x.full_like(1)
    mask = Tensor.rand(x.shape, device=x.device) >= ratio
    return mask.where(x, 0) / (1 - ratio), mask.cast(x.dtype)
