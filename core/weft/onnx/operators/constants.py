"""Numbers that are known while a graph is recorded: they become literals and offsets."""

from __future__ import annotations

from weft.tensor import Tensor
from weft.uop import Ops


def constant_number(x: Tensor) -> bool | int | float | None:
    """The number in a tensor of one element, if it is a constant of the graph; else None."""
    node = x.uop.base
    return node.arg if x.numel() == 1 and node.op is Ops.CONST else None
