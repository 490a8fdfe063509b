"""Sums, extremes, variances, positions of extremes, sorting and prefix sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.sequences import prod as product
from weft.tensor import Tensor
from weft.torch.operators.derivatives import gradients
from weft.torch.registry import converter

Dims = int | Sequence[int] | None


def axes_of(dim: Dims) -> Any:
    """Return the axes for a method of Tensor: no axis in the list means all of them."""
    if dim is None or isinstance(dim, int):
        return dim
    return tuple(dim) or None


def reduced_all(x: Tensor, keepdim: bool, result: Tensor) -> Tensor:
    """Return the result of a reduction of all elements, with axes of size one if asked."""
    return result.reshape((1,) * x.ndim) if keepdim else result


@converter("aten::sum")
def sum_(x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None):
    """Return the sum over axes. Integers are summed in int64."""
    if not x.ndim:
        return x.cast(dtype) if dtype is not None else x
    return x.sum(axes_of(dim), keepdim, dtype=dtype)


@converter("aten::mean")
def mean(x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None):
    """Return the mean over axes."""
    x = x if dtype is None else x.cast(dtype)
    return x.mean(axes_of(dim), keepdim) if x.ndim else x


@converter("aten::prod")
def prod(x: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DType | None = None):
    """Return the product over an axis, or of all elements."""
    return x.prod(dim, keepdim, dtype=dtype) if x.ndim else x


@converter("aten::amax")
def amax(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the largest elements over axes."""
    return x.max(axes_of(dim), keepdim) if x.ndim else x


@converter("aten::amin")
def amin(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the smallest elements over axes."""
    return x.min(axes_of(dim), keepdim) if x.ndim else x


@converter("aten::max", "aten::max.dim")
def max_(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the largest element; with an axis also its position."""
    if dim is None or not x.ndim:
        return amax(x) if dim is None else (x, Tensor.zeros(dtype=dtypes.int64, device=x.device))
    return x.max(dim, keepdim), x.argmax(dim, keepdim)


@converter("aten::min", "aten::min.dim")
def min_(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the smallest element; with an axis also its position."""
    if dim is None or not x.ndim:
        return amin(x) if dim is None else (x, Tensor.zeros(dtype=dtypes.int64, device=x.device))
    return x.min(dim, keepdim), x.argmin(dim, keepdim)


@converter("aten::argmax")
def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the position of the largest element of an axis, or of all."""
    return _position(x, "argmax", dim, keepdim)


@converter("aten::argmin")
def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the position of the smallest element of an axis, or of all."""
    return _position(x, "argmin", dim, keepdim)


def _position(x: Tensor, method: str, dim: int | None, keepdim: bool) -> Tensor:
    if not x.ndim:
        return Tensor.zeros(dtype=dtypes.int64, device=x.device)
    if dim is None:
        return reduced_all(x, keepdim, getattr(x.reshape(-1), method)(0))
    return getattr(x, method)(dim, keepdim)


@converter("aten::any")
def any_(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return whether an element of the axes is not zero."""
    return x.any(axes_of(dim), keepdim) if x.ndim else x.cast(dtypes.bool)


@converter("aten::all")
def all_(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return whether no element of the axes is zero."""
    return x.all(axes_of(dim), keepdim) if x.ndim else x.cast(dtypes.bool)


@converter("aten::var.dim")
def var_unbiased(x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    """Return the variance over axes, divided by n - 1 or by n."""
    return var(x, dim, correction=int(unbiased), keepdim=keepdim)


@converter("aten::var", "aten::var.correction")
def var(x: Tensor, dim: Dims = None, *, correction: Any = None, keepdim: bool = False) -> Tensor:
    """Return the variance over axes, divided by n - correction."""
    axes = axes_of(dim)
    if not x.ndim:
        x, axes, keepdim = x.reshape(1), 0, False
    return x.var(axes, keepdim, correction=1 if correction is None else correction)


@converter("aten::cumsum")
def cumsum(x: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Return the sums of all prefixes of an axis."""
    return x.cumsum(dim, dtype=dtype) if x.ndim else x


@converter("aten::cumprod")
def cumprod(x: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Return the products of all prefixes of an axis."""
    return x.cumprod(dim, dtype=dtype) if x.ndim else x


@converter("aten::sort", "aten::sort.stable")
def sort(x: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None):
    """Sort an axis: values and their positions."""
    if not x.ndim:
        return x, Tensor.zeros(dtype=dtypes.int64, device=x.device)
    return tuple(x.sort(dim, descending))


@converter("aten::topk")
def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the k largest or smallest elements of an axis, and their positions."""
    if not x.ndim:
        x = x.reshape(1)
        return x[0] if k else x[:0], Tensor.zeros(dtype=dtypes.int64, device=x.device)
    return tuple(x.topk(k, dim, largest, sorted))


@converter("aten::_cdist_forward")
def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """Return the p-norms of the differences of all pairs of rows."""
    return x1.cdist(x2, p)


@converter("aten::_cdist_backward")
def cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, distances: Tensor) -> Tensor:
    """Return the gradient of the first points of `cdist`."""
    return gradients(lambda x: x.cdist(x2, p), (x1,), grad)[0]


@converter("aten::_pdist_forward")
def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    """Return the p-norms of the differences of all pairs of different rows."""
    count = x.shape[0]
    first, second = Tensor.triu_indices(count, count, 1, device=x.device).unbind(0)
    difference = (x[first] - x[second]).abs()
    if p == float("inf"):
        return difference.max(1) if product(difference.shape) else difference.sum(1)
    if not p:
        return (difference != 0).sum(1).cast(x.dtype)
    return difference.pow(p).sum(1).pow(1 / p)
