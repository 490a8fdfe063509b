"""Numerical integration of samples: the trapezoidal rule.

Source: W. H. Press et al., "Numerical Recipes", 3rd edition, section 4.1.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.tensor import Tensor

__all__ = ["cumulative_trapezoid", "trapezoid", "trapz"]


def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | Tensor = 1.0, dim: int = -1
) -> Tensor:
    """The integral of samples along an axis, by the trapezoidal rule.

    :param x: the places of the samples: of one axis, or with the shape of y.
    :param dx: their distance, where x is None.
    :raises ShapeError: if y and x have different numbers of samples.

    >>> weft.trapezoid(Tensor([1.0, 2.0, 3.0])).item()
    4.0
    >>> weft.trapezoid(Tensor([1.0, 2.0, 3.0]), Tensor([0.0, 1.0, 3.0])).item()
    6.5
    """
    found: Tensor = _areas(y, x, dx, dim).sum(dim)
    return found


trapz = trapezoid


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | Tensor = 1.0, dim: int = -1
) -> Tensor:
    """The integrals up to each sample but the first: see `trapezoid`.

    >>> weft.cumulative_trapezoid(Tensor([1.0, 2.0, 3.0])).tolist()
    [1.5, 4.0]
    """
    found: Tensor = _areas(y, x, dx, dim).cumsum(dim)
    return found


def _areas(y: Any, x: Any, dx: Any, dim: int) -> Any:
    """The area between each two neighbours along the axis."""
    y = y if dtypes.is_float(y.dtype) or y.is_complex() else y.cast(dtypes.default_float)
    axis, count = y._resolve_dim(dim), y.shape[dim]
    pieces = max(count - 1, 0)
    means = (y.narrow(axis, 0, pieces) + y.narrow(axis, count - pieces, pieces)) * 0.5
    if x is None:
        return means * dx
    if x.ndim == 1 and y.ndim > 1:
        x = x.reshape(*[-1 if number == axis else 1 for number in range(y.ndim)])
    if x.shape[axis - y.ndim] != count:
        raise ShapeError(
            "samples and their places have one number",
            asked=f"trapezoid of shape {y.shape} along axis {dim} at places of shape {x.shape}",
        )
    place = axis - y.ndim
    steps = x.narrow(place, count - pieces, pieces) - x.narrow(place, 0, pieces)
    return means * steps
