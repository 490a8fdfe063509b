"""Reductions and running sums. Of integers both are int64, of unsigned ones uint64."""

from __future__ import annotations

import math
from typing import Any

from weft.array_api.array import Array, as_array, index_dtype, must_be
from weft.array_api.manipulation import _axis, concat
from weft.base.arguments import whole
from weft.base.dtype import DType, to_dtype
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import sum_dtype

__all__ = [
    "all", "any", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "max", "mean",
    "min", "prod", "std", "sum", "var",
]  # fmt: skip

Axes = int | tuple[int, ...] | None


def _wide(own: DType, dtype: Any) -> DType:
    """What a sum accumulates and answers in."""
    return sum_dtype(own) if dtype is None else to_dtype(dtype)


def _reduced(x: Array, axis: Axes) -> tuple[int, ...]:
    """The axes to reduce over, counted from the front."""
    if axis is None:
        return tuple(range(x.ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    places = tuple(_axis(a, x.ndim) for a in given)
    if len(set(places)) != len(places):
        raise ShapeError("an axis is named twice", asked=f"axis={axis} of shape {x.shape}")
    return places


def sum(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Sum; 0 of nothing."""
    x = as_array(x)
    return x.sum(_reduced(x, axis), keepdims, dtype=_wide(x.dtype, dtype))


def prod(x: Array, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Product; 1 of nothing."""
    x = as_array(x)
    return x.prod(_reduced(x, axis), keepdims, dtype=_wide(x.dtype, dtype))


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Maximum; NaN where there is one. :raises ShapeError: of nothing."""
    x = as_array(x)
    return x.max(_reduced(x, axis), keepdims)


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Minimum; NaN where there is one. :raises ShapeError: of nothing."""
    x = as_array(x)
    return x.min(_reduced(x, axis), keepdims)


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Average; NaN of nothing."""
    x = as_array(x)
    return x.mean(_reduced(x, axis), keepdims)


def var(
    x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """Mean square distance from the mean, over n - correction; NaN unless that is above 0."""
    x = as_array(x)
    must_be("var", x, "int", "float")
    places = _reduced(x, axis)
    found = x.var(places, keepdims, correction)
    # of fewer elements than that takes nothing is known
    return found * math.nan if math.prod(x.shape[a] for a in places) <= correction else found


def std(
    x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """Square root of `var`."""
    return var(x, axis=axis, correction=correction, keepdims=keepdims).sqrt()


def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether none is zero; NaN is not zero."""
    x = as_array(x)
    return x.all(_reduced(x, axis), keepdims)


def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether one is not zero; NaN is not zero."""
    x = as_array(x)
    return x.any(_reduced(x, axis), keepdims)


def count_nonzero(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """How many are not zero, in the dtype of indices."""
    x = as_array(x)
    return (x != 0).sum(_reduced(x, axis), keepdims, dtype=index_dtype(x.device))


def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Running sum along an axis, which a vector need not name; from 0 with `include_initial`."""
    at, x = _line("cumulative_sum", x, axis)
    return _from(x.cumsum(at, dtype=_wide(x.dtype, dtype)), at, 0, include_initial)


def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Running product along an axis, which a vector need not name; from 1 with
    `include_initial`."""
    at, x = _line("cumulative_prod", x, axis)
    return _from(x.cumprod(at, dtype=_wide(x.dtype, dtype)), at, 1, include_initial)


def _line(name: str, x: Array, axis: int | None) -> tuple[int, Array]:
    x = as_array(x)
    if axis is None:
        if x.ndim != 1:
            raise ShapeError(f"{name} needs an axis", asked=f"{name} of shape {x.shape}")
        axis = 0
    if x.ndim == 0:
        raise ShapeError(f"{name} runs along an axis", asked=f"{name} of shape ()")
    return _axis(axis, x.ndim), x


def _from(running: Array, at: int, start: int, include: bool) -> Array:
    if not include:
        return running
    shape = tuple(1 if i == at else s for i, s in enumerate(running.shape))
    first = Array.full(shape, start, dtype=running.dtype, device=running.device)
    return concat([first, running], axis=at)


def diff(
    x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None,
    append: Array | None = None,
) -> Array:  # fmt: skip
    """Differences of neighbours along an axis, n times; bool counts as exclusive or."""
    x, n = as_array(x), whole(n, "n")
    if x.ndim == 0 or n < 0:
        raise ArgumentError("diff is along an axis", asked=f"diff(n={n}) of shape {x.shape}")
    return x.diff(n, _axis(axis, x.ndim), prepend, append)
