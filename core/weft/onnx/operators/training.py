"""Steps of optimizers: Adagrad, Adam, momentum (domain ai.onnx.preview.training).

Inputs and outputs come in groups: first every parameter, then every gradient, then every state.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.onnx.graph import Node
from weft.onnx.registry import operator
from weft.tensor import Tensor

_DOMAIN = "ai.onnx.preview.training"


def _by_parameter(
    node: Node, xs: tuple[Tensor, ...], count: int, step: Callable[..., tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    """Results of `step` for each parameter with its gradient and states, in groups.

    :raises OnnxError: if the inputs are no `count` groups of equal length.
    """
    if len(xs) % count:
        raise node.refuse(
            f"{len(xs)} tensors are no {count} groups of equal length",
            "each parameter has a gradient and the same number of states",
        )
    parameters = len(xs) // count
    results = [step(*xs[i::parameters]) for i in range(parameters)]
    return tuple(tensor for group in zip(*results, strict=True) for tensor in group)


@operator("Adagrad", domain=_DOMAIN)
def adagrad(
    node: Node,
    rate: Tensor,
    updates: Tensor,
    *xs: Tensor,
    norm_coefficient: float = 0.0,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
) -> tuple[Tensor, ...]:
    """A step of Adagrad (J. Duchi and others, 2011): new parameters and sums of squares."""

    def step(x: Tensor, gradient: Tensor, squares: Tensor) -> tuple[Tensor, ...]:
        decayed = (rate / (updates.cast(rate.dtype) * decay_factor + 1)).cast(x.dtype)
        gradient = x * norm_coefficient + gradient
        squares = squares + gradient * gradient
        return x - decayed * gradient / (squares.sqrt() + epsilon), squares

    return _by_parameter(node, xs, 3, step)


@operator("Adam", domain=_DOMAIN)
def adam(
    node: Node,
    rate: Tensor,
    updates: Tensor,
    *xs: Tensor,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
) -> tuple[Tensor, ...]:
    """A step of Adam (D. Kingma, J. Ba, 2015): new parameters, means and mean squares."""

    def step(x: Tensor, gradient: Tensor, means: Tensor, squares: Tensor) -> tuple[Tensor, ...]:
        count = updates.cast(rate.dtype)
        corrected = rate * (1 - count.pow(beta, reverse=True)).sqrt()
        corrected = corrected / (1 - count.pow(alpha, reverse=True))
        adjusted = (updates > 0).where(corrected, rate).cast(x.dtype)
        gradient = x * norm_coefficient + gradient
        means = means * alpha + gradient * (1 - alpha)
        squares = squares * beta + gradient * gradient * (1 - beta)
        moved = x - adjusted * means / (squares.sqrt() + epsilon)
        return moved * (1 - norm_coefficient_post), means, squares

    return _by_parameter(node, xs, 4, step)


@operator("Momentum", domain=_DOMAIN)
def momentum(
    node: Node,
    rate: Tensor,
    updates: Tensor,
    *xs: Tensor,
    alpha: float,
    beta: float,
    norm_coefficient: float,
    mode: str,
) -> tuple[Tensor, ...]:
    """A step of gradient descent with momentum, in the mode "standard" or "nesterov"."""
    if mode not in ("standard", "nesterov"):
        raise node.refuse(f"there is no mode {mode!r}", "standard or nesterov")

    def step(x: Tensor, gradient: Tensor, velocity: Tensor) -> tuple[Tensor, ...]:
        gradient = x * norm_coefficient + gradient
        velocity = velocity * alpha + (updates > 0).where(gradient * beta, gradient)
        moved = velocity if mode == "standard" else gradient + velocity * alpha
        return x - rate.cast(x.dtype) * moved, velocity

    return _by_parameter(node, xs, 3, step)
