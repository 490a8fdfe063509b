"""Order along an axis. Always stable; NaN counts as the largest."""

from __future__ import annotations

from weft.array_api.array import Array, as_array, as_indices
from weft.array_api.manipulation import _axis

__all__ = ["argsort", "sort"]


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along an axis."""
    x = as_array(x)
    return x.sort(_axis(axis, x.ndim), descending)[0]


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices (int64) that sort an axis."""
    x = as_array(x)
    return as_indices(x.argsort(_axis(axis, x.ndim), descending))
