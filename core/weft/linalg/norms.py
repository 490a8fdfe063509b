"""Norms of vectors and matrices, condition numbers."""

from __future__ import annotations

import math
from typing import Any

from weft.base.arguments import shown
from weft.base.errors import ArgumentError, ShapeError
from weft.linalg.matrices import floats, matrices, tensor
from weft.tensor import Tensor

__all__ = ["cond", "matrix_norm", "norm", "vector_norm"]


def vector_norm(
    x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of order `ord` over axes, over all of them for None: a number, inf or -inf.

    >>> weft.linalg.vector_norm(Tensor([3.0, 4.0])).item()
    5.0
    """
    x = floats("vector_norm", x)
    x = x if dtype is None else x.cast(dtype)
    found: Tensor = x.norm(float(ord), dim, keepdim)
    return found


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of matrices along two axes: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    :raises ArgumentError: for another order.

    >>> weft.linalg.matrix_norm(Tensor([[1.0, 2.0], [3.0, 4.0]]), ord=1).item()
    6.0
    """
    a = floats("matrix_norm", matrices("matrix_norm", A))
    a = a if dtype is None else a.cast(dtype)
    rows, columns = (axis % a.ndim for axis in dim)
    if rows == columns:
        raise ShapeError("a matrix norm is along two axes", asked=f"dim={dim} of shape {a.shape}")
    if ord == "fro":
        found: Tensor = a.norm(2.0, (rows, columns), keepdim)
        return found
    a = a.movedim((rows, columns), (-2, -1))
    if ord in (2, -2, "nuc"):
        values = a.svdvals()
        value = values.sum(-1) if ord == "nuc" else values.max(-1) if ord == 2 else values.min(-1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = a.abs().sum(-2 if ord in (1, -1) else -1)
        value = sums.max(-1) if ord > 0 else sums.min(-1)
    else:
        raise ArgumentError(
            f"there is no norm {shown(ord)} of matrices",
            asked=f"matrix_norm(ord={shown(ord)})",
            try_='"fro", "nuc", 1, -1, 2, -2, math.inf or -math.inf',
        )
    if keepdim:
        for axis in sorted((rows, columns)):
            value = value.unsqueeze(axis)
    kept: Tensor = value
    return kept


def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of vectors (one axis) or of matrices (two axes). Without `ord` that of all elements.

    >>> weft.linalg.norm(Tensor([[1.0, 2.0], [2.0, 0.0]])).item()
    3.0
    """
    a = tensor("norm", A)
    axes = dim if dim is None or isinstance(dim, tuple | list) else (dim,)
    count = a.ndim if axes is None else len(axes)
    if ord is None or (count == 1 and isinstance(ord, int | float)):
        return vector_norm(a, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    if count != 2:
        raise ShapeError(
            "a norm is of vectors or of matrices",
            asked=f"norm(ord={shown(ord)}, dim={dim}) of shape {a.shape}",
            try_="dim= of one axis or of two, or a.flatten()",
        )
    return matrix_norm(a, ord, (-2, -1) if axes is None else axes, keepdim, dtype=dtype)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number: the norm of A times that of its inverse. p: an order, None is 2.

    >>> weft.linalg.cond(Tensor([[1.0, 0.0], [0.0, 0.5]])).item()
    2.0
    """
    a = floats("cond", matrices("cond", A))
    if p in (None, 2, -2):
        values = a.svdvals()
        large, small = values.max(-1), values.min(-1)
        found: Tensor = small / large if p == -2 else large / small
        return found
    return matrix_norm(a, p) * matrix_norm(a.inv(), p)
