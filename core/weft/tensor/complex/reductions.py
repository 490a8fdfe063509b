"""Reductions and running sums of complex tensors.

A sum is the sum of each part: one reduction of the interleaved numbers. A product is a tree of
products of two, a running product a scan in as many steps.

Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms", Communications of the ACM (1986).
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.sequences import prod as product_of
from weft.tensor.ops.reduce import axis_and_correction


def _with_dtype(self: Any, dtype: Any) -> Any:
    return self if dtype is None else self.cast(dtype)


def sum(self: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Sum over axes; over all of them for None."""
    x = _with_dtype(self, dtype)
    axes = x._resolve_dims(axis)
    return x._over(x._interleaved.sum(axes, keepdim)) if axes else x._over(x._interleaved)


def mean(self: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """Average over axes; over all of them for None."""
    axes = self._resolve_dims(axis)
    return (
        self._over(self._interleaved.mean(axes, keepdim)) if axes else self._over(self._interleaved)
    )


def var_mean(
    self: Any, axis: Any = None, keepdim: bool = False, correction: float | None = 1, *,
    unbiased: bool | None = None,
) -> Any:  # fmt: skip
    """The mean of the squared distance from the mean, over n - correction, a real number; and the
    mean."""
    axis, correction = axis_and_correction(axis, correction, unbiased)
    axes = self._resolve_dims(axis)
    middle = mean(self, axes, True)
    distance = (self - middle)._interleaved
    squares = (distance * distance).sum(-1)
    count = product_of(self.shape[a] for a in axes)
    total = squares.sum(axes, keepdim) if axes else squares
    spread = total / float(count - correction) if count > correction else total * float("nan")
    return spread, middle.reshape(tuple(spread.shape))


def std_mean(self: Any, *args: Any, **named: Any) -> Any:
    """The square root of the variance, a real number; and the mean."""
    spread, middle = var_mean(self, *args, **named)
    return spread.sqrt(), middle


def var(self: Any, *args: Any, **named: Any) -> Any:
    """The variance of `var_mean`."""
    return var_mean(self, *args, **named)[0]


def std(self: Any, *args: Any, **named: Any) -> Any:
    """The square root of the variance: a real number."""
    return std_mean(self, *args, **named)[0]


def prod(self: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Product over axes; over all of them for None."""
    x = _with_dtype(self, dtype)
    axes = x._resolve_dims(axis)
    kept = [a for a in range(x.ndim) if a not in axes]
    shape = tuple(x.shape)
    count = product_of(shape[a] for a in axes)
    x = x.permute(*axes, *kept).reshape((count, *(shape[a] for a in kept)))
    if count == 0:
        x = x._over(x._interleaved.sum(0)) + 1.0
    while count > 1:
        half = count // 2
        pairs = x[:half] * x[half : 2 * half]
        x = pairs.cat(x[2 * half :]) if count % 2 else pairs
        count = half + count % 2
    sizes = (1 if a in axes else size for a, size in enumerate(shape))
    return x.reshape(tuple(sizes) if keepdim else tuple(shape[a] for a in kept))


def cumsum(self: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Running sum along an axis."""
    x = _with_dtype(self, dtype)
    place = x._resolve_dim(axis)
    return x._over(x._interleaved.cumsum(place) if x.ndim else x._interleaved)


def cumprod(self: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Running product along an axis."""
    x = _with_dtype(self, dtype)
    place = x._resolve_dim(axis)
    if not x.ndim:
        return x._over(x._interleaved)
    x = x.movedim(place, 0)
    size, step = x.shape[0], 1
    while step < size:
        x = x[:step].cat(x[step:] * x[: size - step])
        step *= 2
    return x.movedim(0, place)


def any(self: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """Whether one is not zero."""
    return (self != 0).any(axis, keepdim)


def all(self: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """Whether none is zero."""
    return (self != 0).all(axis, keepdim)


def count_nonzero(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """How many are not zero."""
    return (self != 0).count_nonzero(dim, keepdim)


def nonzero(self: Any, as_tuple: bool = False) -> Any:
    """The places of what is not zero; see `Tensor.nonzero`."""
    return (self != 0).nonzero(as_tuple)


def argwhere(self: Any) -> Any:
    """The places of what is not zero, a row for each."""
    return (self != 0).argwhere()


def norm(self: Any, p: Any = 2.0, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The norm of the absolute values."""
    found = self.abs().norm(p, dim, keepdim)
    return found if dtype is None else found.cast(dtypes.real_dtype(dtype))


METHODS = (
    "all any argwhere count_nonzero cumprod cumsum mean nonzero norm prod std std_mean sum var "
    "var_mean"
).split()
"""The functions here that are methods of complex tensors."""
