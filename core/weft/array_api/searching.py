"""Where things are."""

from __future__ import annotations

from typing import Any, Literal

from weft.array_api.array import Array, as_array, as_indices, both
from weft.array_api.indexing import take
from weft.array_api.manipulation import _axis
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor import Tensor

__all__ = ["argmax", "argmin", "isin", "nonzero", "searchsorted", "where"]


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Place (int64) of the first maximum; of all elements in a row for axis None."""
    return _place("argmax", as_array(x), axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Place (int64) of the first minimum; of all elements in a row for axis None."""
    return _place("argmin", as_array(x), axis, keepdims)


def _place(method: str, x: Array, axis: int | None, keepdims: bool) -> Array:
    if axis is None:
        flat = getattr(x.reshape(x.size), method)(0)
        return as_indices(flat).reshape((1,) * x.ndim if keepdims else ())
    return as_indices(getattr(x, method)(_axis(axis, x.ndim), keepdims))


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """The places (int64) of what is not zero, an array for each axis; computed at once.

    :raises ShapeError: for a 0-d array.
    """
    x = as_array(x)
    if x.ndim == 0:
        raise ShapeError("nonzero needs an axis", asked="nonzero of shape ()")
    places = as_indices(x.nonzero())
    return tuple(places[:, i] for i in range(x.ndim))


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """x1 where the condition holds, else x2; both may be numbers if one is an array."""
    mask = as_array(condition)
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        return mask.where(x1, x2)
    a, b = both(x1, x2)
    return mask.where(a, b)


def searchsorted(
    x1: Array, x2: Any, /, *, side: Literal["left", "right"] = "left", sorter: Array | None = None
) -> Array:
    """Where each of x2 is inserted into the sorted vector x1 (int64): before equal elements for
    "left", behind them for "right". With `sorter` x1 is in order by these places.

    :raises ArgumentError: for another side.
    """
    if side not in ("left", "right"):
        raise ArgumentError('side is "left" or "right"', asked=f"searchsorted(side={side!r})")
    rows, values = as_array(x1), as_array(x2, x1)
    if rows.ndim != 1:
        raise ShapeError("searchsorted looks into a vector", asked=f"shape {rows.shape}")
    if sorter is not None:
        rows = take(rows, sorter)
    flat = rows.searchsorted(values.reshape(values.size), right=side == "right")
    return as_indices(flat).reshape(values.shape)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Which elements of x1 occur in x2."""
    a, b = both(x1, x2)
    found = a.isin(b)
    return ~found if invert else found
