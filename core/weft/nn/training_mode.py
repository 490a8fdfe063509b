"""Training mode of a layer, and detection of a forgotten `train()`.

The mode of a layer is its own `training` if `Module.train()` or `eval()` has set it, else
`Tensor.training`. This module notes a layer with a training mode that runs in inference mode by
default while gradients are recorded. The next `step` of an optimiser outside `Tensor.train()` then
raises an error.
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
