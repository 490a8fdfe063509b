"""Order statistics (median, k-th element), prefix extremes, norms of vectors, sorted searches."""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.tensor import Tensor
from weft.torch.operators.reductions import Dims, axes_of
from weft.torch.registry import converter


def _first(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the element and its position for a tensor without axes."""
    return x, Tensor.zeros(dtype=dtypes.int64, device=x.device)


def _with_position(found: Any) -> tuple[Tensor, Tensor]:
    values, positions = found
    return values, positions.cast(dtypes.int64)


@converter("aten::kthvalue")
def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the k-th smallest element of an axis, counted from 1, and its position."""
    return _with_position(x.kthvalue(k, dim, keepdim)) if x.ndim else _first(x)


@converter("aten::median", "aten::median.dim")
def median(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the lower middle of the sorted elements; along an axis also its position."""
    return _middle(x, "median", dim, keepdim)


@converter("aten::nanmedian", "aten::nanmedian.dim")
def nanmedian(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of the elements that are not NaN."""
    return _middle(x, "nanmedian", dim, keepdim)


def _middle(x: Tensor, method: str, dim: int | None, keepdim: bool) -> Any:
    if not x.ndim:
        return x if dim is None else _first(x)
    found = getattr(x, method)(dim, keepdim)
    return found if dim is None else _with_position(found)


@converter("aten::cummax")
def cummax(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the largest element of each prefix, and its last position."""
    return _prefix_extreme(x, "cummax", dim)


@converter("aten::cummin")
def cummin(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the smallest element of each prefix, and its last position."""
    return _prefix_extreme(x, "cummin", dim)


def _prefix_extreme(x: Tensor, method: str, dim: int) -> tuple[Tensor, Tensor]:
    if not x.ndim:
        return _first(x)
    values = getattr(x, method)(dim)
    shape = tuple(size if axis == dim % x.ndim else 1 for axis, size in enumerate(x.shape))
    places = Tensor.arange(x.shape[dim], dtype=dtypes.int32, device=x.device).reshape(shape)
    is_extreme = x == values
    if dtypes.is_float(x.dtype):
        is_extreme = is_extreme | x.isnan()
    return values, is_extreme.where(places, 0).cummax(dim).cast(dtypes.int64)


@converter("aten::logcumsumexp")
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """Return the logarithm of the sum of exponentials of each prefix."""
    return x.logcumsumexp(dim) if x.ndim else x


@converter("aten::linalg_vector_norm")
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Return the norm of order `ord` of the elements of axes."""
    x = (x if dtype is None else x.cast(dtype)).abs()
    if not x.ndim:
        return x if ord else (x != 0).cast(x.dtype)
    axes = axes_of(dim)
    if ord == 0:
        return (x != 0).sum(axes, keepdim).cast(x.dtype)
    if math.isinf(ord):
        return x.max(axes, keepdim) if ord > 0 else x.min(axes, keepdim)
    if ord == 1:
        return x.sum(axes, keepdim)
    if ord == 2:
        return x.square().sum(axes, keepdim).sqrt()
    return x.pow(ord).sum(axes, keepdim).pow(1 / ord)


@converter("aten::fmax")
def fmax(x: Tensor, y: Tensor) -> Tensor:
    """Return the larger of two elements; the other one where one is NaN."""
    return x.fmax(y)


@converter("aten::fmin")
def fmin(x: Tensor, y: Tensor) -> Tensor:
    """Return the smaller of two elements; the other one where one is NaN."""
    return x.fmin(y)


@converter("aten::signbit")
def signbit(x: Tensor) -> Tensor:
    """Return whether the sign of each element is minus."""
    return x.signbit()


@converter("aten::searchsorted")
def searchsorted(
    sequence: Tensor, values: Any, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return where each value would be inserted into a sorted sequence."""
    if sorter is not None:
        sequence = sequence.gather(-1, sorter)
    found = sequence.searchsorted(values, right or side == "right")
    return found.cast(dtypes.int32 if out_int32 else dtypes.int64)


@converter("aten::bucketize")
def bucketize(
    x: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return the number of the interval between sorted boundaries that holds each element."""
    x = x if isinstance(x, Tensor) else Tensor(x, device=boundaries.device)
    return x.bucketize(boundaries, right).cast(dtypes.int32 if out_int32 else dtypes.int64)
