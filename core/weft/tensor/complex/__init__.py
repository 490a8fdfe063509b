"""Complex tensors: see README.md."""

from __future__ import annotations

from weft.tensor.complex.construction import interleaved
from weft.tensor.complex.parts import lane
from weft.tensor.complex.tensor import ComplexTensor

__all__ = ["ComplexTensor", "interleaved", "lane"]
