"""Training mode of a layer, and detection of a forgotten `train()`.

A layer's mode is its own `training` where `Module.train()` or `eval()` has set it, and
`Tensor.training` otherwise. A layer that acts differently in training and that runs in inference
mode because nobody set any, while gradients are recorded, is noted: the next `step` of an optimiser
outside `Tensor.train()` says so.
"""

from __future__ import annotations

from typing import Any

from weft.tensor import Tensor
from weft.tensor.protocol import grad_enabled

_defaulted: list[str] = []


def is_training(layer: Any) -> bool:
    """Whether a layer that acts differently in training is to act so."""
    own = layer.__dict__.get("training")
    if own is not None:
        return bool(own)
    if Tensor.training:
        return True
    if grad_enabled() and not _defaulted:
        _defaulted.append(type(layer).__name__)
    return False


def take_defaulted() -> str | None:
    """The kind of the layer that was noted first since the last call of this; None: none was."""
    return _defaulted.pop() if _defaulted else None


def dropped(layer: Any, x: Tensor, p: float) -> Tensor:
    """Dropout of x with probability p if `layer` is in training mode, else x."""
    if not p or not is_training(layer):
        return x
    with Tensor.train():
        return x.dropout(p)
