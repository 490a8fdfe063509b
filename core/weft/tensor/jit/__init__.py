"""`jit`: a function's kernels are recorded once and replayed from then on."""

from __future__ import annotations

from weft.tensor.jit.function import Jit, jit

__all__ = ["Jit", "jit"]
