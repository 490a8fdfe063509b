"""Complex tensors: see README.md."""

from __future__ import annotations

from weft.tensor.complex.tensor import ComplexTensor

__all__ = ["ComplexTensor"]
