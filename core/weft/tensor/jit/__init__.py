"""`jit`: trace a function once, then replay its kernels."""

from __future__ import annotations

from weft.tensor.jit.function import Jit, jit

__all__ = ["Jit", "jit"]
