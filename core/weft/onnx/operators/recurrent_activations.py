"""The activation functions of RNN, GRU and LSTM, by name, with alpha and beta."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weft.onnx.graph import Node
from weft.tensor import Tensor

Activation = Callable[[Tensor], Tensor]
_Table = dict[str, tuple[Callable[..., Tensor], tuple[float, ...]]]

_ACTIVATIONS: _Table = {
    "relu": (lambda x: x.relu(), ()),
    "tanh": (lambda x: x.tanh(), ()),
    "sigmoid": (lambda x: x.sigmoid(), ()),
    "softsign": (lambda x: x.softsign(), ()),
    "softplus": (lambda x: x.softplus(), ()),
    "affine": (lambda x, alpha, beta: x * alpha + beta, (1.0, 0.0)),
    "leakyrelu": (lambda x, alpha: x.leaky_relu(alpha), (0.01,)),
    "thresholdedrelu": (lambda x, alpha: (x >= alpha).where(x, 0), (1.0,)),
    "scaledtanh": (lambda x, alpha, beta: (x * beta).tanh() * alpha, (1.0, 1.0)),
    "hardsigmoid": (lambda x, alpha, beta: (x * alpha + beta).clamp(0, 1), (0.2, 0.5)),
    "elu": (lambda x, alpha: x.elu(alpha), (1.0,)),
}
"""Function, and the defaults of alpha, or of alpha and beta."""


def activations_of(
    node: Node, names: Sequence[str], alphas: Sequence[float], betas: Sequence[float],
    clip: float | None, direction: str, default: Sequence[str], gates: int | None = None,
) -> list[list[Activation]]:  # fmt: skip
    """Return the functions of each direction.

    alpha and beta are consumed by the functions that have them, in order.

    :param clip: bound of the inputs of the first `gates` functions of a direction; None: of all.
    :raises OnnxError: for an unknown name, another number of names, or an unknown direction.
    """
    if direction not in ("forward", "reverse", "bidirectional"):
        raise node.refuse(
            f"the direction is {direction!r}", "'forward', 'reverse' or 'bidirectional'"
        )
    directions = 2 if direction == "bidirectional" else 1
    wanted = list(names) or list(default) * directions
    unknown = [name for name in wanted if name.lower() not in _ACTIVATIONS]
    if unknown or len(wanted) != len(default) * directions:
        raise node.refuse(
            f"the activations are {wanted}",
            f"{len(default) * directions} of {', '.join(sorted(_ACTIVATIONS))}",
        )
    parameters = iter(alphas), iter(betas)
    clipped = len(default) if gates is None else gates
    found = [
        _activation(name.lower(), parameters, clip if i % len(default) < clipped else None)
        for i, name in enumerate(wanted)
    ]
    return [found[i : i + len(default)] for i in range(0, len(found), len(default))]


def _activation(
    name: str, parameters: tuple[Iterator[float], Iterator[float]], clip: float | None
) -> Activation:
    function, defaults = _ACTIVATIONS[name]
    args = [next(given, default) for given, default in zip(parameters, defaults, strict=False)]

    def activation(x: Tensor) -> Tensor:
        return function(x if clip is None else x.clamp(-clip, clip), *args)

    return activation
