"""Picking elements by integer arrays. Indices may count from the end."""

from __future__ import annotations

from weft.array_api.array import Array, as_array, must_be
from weft.array_api.manipulation import _axis
from weft.base.errors import ShapeError
from weft.shape.movement import broadcast_shapes

__all__ = ["take", "take_along_axis"]


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """The parts of an axis that `indices` name; a vector needs no axis.

    :raises ShapeError: without an axis for anything but a vector.
    """
    x, index = as_array(x), as_array(indices)
    must_be("take", index, "int")
    if axis is None:
        if x.ndim != 1:
            raise ShapeError("take needs an axis", asked=f"take from shape {x.shape}", try_="axis=")
        axis = 0
    at = _axis(axis, x.ndim)
    return x[(slice(None),) * at + (index,)]


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """An index for every element of the result; other axes broadcast."""
    x, index = as_array(x), as_array(indices)
    must_be("take_along_axis", index, "int")
    if x.ndim != index.ndim:
        raise ShapeError(
            "an array and its indices have as many axes",
            asked=f"take_along_axis of {x.shape} at {index.shape}",
        )
    at = _axis(axis, x.ndim)
    rest = broadcast_shapes(
        tuple(1 if i == at else s for i, s in enumerate(x.shape)),
        tuple(1 if i == at else s for i, s in enumerate(index.shape)),
    )
    own = tuple(x.shape[at] if i == at else s for i, s in enumerate(rest))
    chosen = tuple(index.shape[at] if i == at else s for i, s in enumerate(rest))
    return x._expanded(own).gather(at, index._expanded(chosen))
