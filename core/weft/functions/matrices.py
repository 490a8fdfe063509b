"""Functions that make matrices: of blocks, and of diagonals."""

from __future__ import annotations

from typing import Any

from weft.base.errors import ShapeError
from weft.tensor import Tensor

__all__ = ["block_diag", "diag_embed"]


def block_diag(*tensors: Tensor) -> Tensor:
    """The matrix with these matrices along its diagonal. A vector is a row, a number 1 x 1.

    :raises ShapeError: for more than two axes.

    >>> weft.block_diag(Tensor([[1, 2]]), Tensor([3])).tolist()
    [[1, 2, 0], [0, 0, 3]]
    """
    blocks: list[Any] = [each.atleast_2d() for each in tensors] or [Tensor.zeros(1, 0)]
    for block in blocks:
        if block.ndim != 2:
            raise ShapeError("blocks are matrices", asked=f"block_diag of shape {block.shape}")
    width, place, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        right = width - place - block.shape[1]
        rows.append(block.pad(((0, 0), (place, right))))
        place += block.shape[1]
    found: Tensor = rows[0].cat(*rows[1:], dim=0)
    return found


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices along two new axes, with the last axis of the input as their diagonal.

    :param offset: which diagonal, above the main one for positive numbers.

    >>> weft.diag_embed(Tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    x: Any = input
    size = x.shape[-1] + abs(offset)
    padded = x.pad((*((0, 0),) * (x.ndim - 1), (max(-offset, 0), max(offset, 0))))
    rows = Tensor.arange(size, device=x.device).unsqueeze(1)
    columns = Tensor.arange(size, device=x.device).unsqueeze(0)
    wide = padded.unsqueeze(-1)
    square = (columns - rows == offset).where(wide, wide.zeros_like())
    found: Tensor = square.movedim((-2, -1), (dim1, dim2))
    return found
