"""Gradients as one more graph over the same nodes."""

from __future__ import annotations

from weft.autograd.backward import Paths, gradient
from weft.autograd.rules import RULES

__all__ = ["RULES", "Paths", "gradient"]
