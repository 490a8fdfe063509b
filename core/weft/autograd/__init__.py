"""Gradients as one more graph over the same nodes."""

from __future__ import annotations

from weft.autograd.backward import Paths, gradient
from weft.autograd.rules import RULES
from weft.autograd.slopes import AGAIN, is_checkpoint

__all__ = ["AGAIN", "RULES", "Paths", "gradient", "is_checkpoint"]
