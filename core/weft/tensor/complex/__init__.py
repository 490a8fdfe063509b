"""Complex tensors: see README.md."""

from __future__ import annotations

from weft.tensor.complex.construction import interleaved
from weft.tensor.complex.parts import lane
from weft.tensor.complex.tensor import ComplexTensor
from weft.tensor.complex.views import view_as_complex, view_as_real

__all__ = ["ComplexTensor", "interleaved", "lane", "view_as_complex", "view_as_real"]
