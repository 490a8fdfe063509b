"""The front end: Tensor and what belongs to it."""

from __future__ import annotations

from weft.tensor.tensor import Tensor

__all__ = ["Tensor"]
