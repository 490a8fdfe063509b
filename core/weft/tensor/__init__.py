"""The front end: Tensor and what belongs to it."""

from __future__ import annotations

from weft.tensor.tensor import Tensor

__all__ = ["Tensor", "from_dlpack"]

from_dlpack = Tensor.from_dlpack
"""A tensor over another library's memory; see `Tensor.from_dlpack`."""
