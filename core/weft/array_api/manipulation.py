"""Shapes: movement over the same elements, and putting arrays together."""

from __future__ import annotations

from typing import Any

from weft.array_api.array import Array, as_array
from weft.base.arguments import kind_of, shown, whole
from weft.base.errors import ArgumentError, IndexingError, ShapeError, WrongKind
from weft.base.promotion import least_upper_dtype
from weft.shape.movement import broadcast_shapes as _broadcast
from weft.tensor import Tensor
from weft.tensor.alias import is_view

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """All in the shape that they broadcast to."""
    parts = [as_array(x) for x in arrays]
    shape = _broadcast(*(x.shape for x in parts)) if parts else ()
    return [x.expand(shape) for x in parts]


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that these broadcast to. :raises ShapeError: if they do not."""
    shape: Any = _broadcast(*shapes) if shapes else ()
    return tuple(shape)


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """x in a shape that it broadcasts to. :raises ShapeError: if it does not."""
    x, shape = as_array(x), tuple(shape)
    if _broadcast(x.shape, shape) != shape:
        raise ShapeError(
            f"shape {x.shape} does not broadcast to {shape}", asked=f"broadcast_to({shape})"
        )
    return x.expand(shape)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """One after another along an axis, or all flattened for axis None."""
    parts = _several(arrays, "concat")
    if axis is None:
        parts, axis = [x.reshape(x.size) for x in parts], 0
    kind = least_upper_dtype(*(x.dtype for x in parts))
    first, *rest = [x.cast(kind) for x in parts]
    return as_array(first.cat(*rest, dim=axis))


def expand_dims(x: Array, /, axis: int | tuple[int, ...] = 0) -> Array:
    """Axes of size one inserted. :raises IndexingError: outside the axes of the result."""
    x = as_array(x)
    given = axis if isinstance(axis, tuple) else (axis,)
    rank = x.ndim + len(given)
    places = {_axis(a, rank) for a in given}
    if len(places) != len(given):
        raise ShapeError("an axis is named twice", asked=f"expand_dims(axis={axis})")
    own = iter(x.shape)
    return x.reshape(tuple(1 if i in places else next(own) for i in range(rank)))


def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Axes reversed, all of them for None."""
    x = as_array(x)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    places = tuple(_axis(a, x.ndim) for a in axes)
    return x.flip(places) if places else x


def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """Axes moved; the rest keep their order."""
    x = as_array(x)
    sources = tuple(source) if isinstance(source, (tuple, list)) else (source,)
    targets = tuple(destination) if isinstance(destination, (tuple, list)) else (destination,)
    from_, to = [[_axis(a, x.ndim) for a in axes] for axes in (sources, targets)]
    if len(set(from_)) != len(from_) or len(set(to)) != len(to) or len(from_) != len(to):
        raise ShapeError("one place for each axis", asked=f"moveaxis({source}, {destination})")
    return x.movedim(from_, to)


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Axis i of the result is axis axes[i] of x."""
    x = as_array(x)
    places = tuple(_axis(a, x.ndim) for a in axes)
    if sorted(places) != list(range(x.ndim)):
        raise ShapeError("every axis once", asked=f"permute_dims({axes}) of shape {x.shape}")
    return x.permute(*places) if places else x


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Each element several times in a row; a number of times for each in an array of integers.

    Such an array is computed at once: the shape of the result depends on it.
    """
    x = as_array(x)
    if axis is None:
        x, axis = x.reshape(x.size), 0
    axis = _axis(axis, x.ndim)
    times = repeats if isinstance(repeats, Tensor) else whole(repeats, "repeats")
    return x.repeat_interleave(times, axis)


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """The same elements in another shape, one extent of which may be -1.

    :param copy: True: a copy; None: a view where the strides of x allow it; False: nothing else.
    :raises ArgumentError: (a ValueError) if `copy` is False and a copy is needed.
    """
    x = as_array(x)
    extents = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if copy:
        return x.clone().reshape(extents)
    made = x.reshape(extents)
    if copy is False and not is_view(made):
        raise ArgumentError(
            "this array cannot be reshaped without a copy",
            asked=f"reshape of shape {x.shape} to {made.shape}, copy=False",
            because="no strides say where the elements are in the new shape",
            try_="copy=None",
        )
    return made


def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Shifted along axes, what falls off one end coming back at the other."""
    x = as_array(x)
    if axis is None:
        if x.ndim == 0:
            return x
        return x.reshape(x.size).roll(whole(shift, "shift"), 0).reshape(x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    return x.roll(tuple(whole(s, "shift") for s in shifts), tuple(_axis(a, x.ndim) for a in axes))


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Without axes of size one. :raises ShapeError: if one is of another size."""
    x = as_array(x)
    axes = axis if isinstance(axis, tuple) else (axis,)
    places = {_axis(a, x.ndim) for a in axes}
    if any(x.shape[a] != 1 for a in places):
        raise ShapeError(
            "only axes of size one can be left out", asked=f"squeeze({axis}) of shape {x.shape}"
        )
    return x.reshape(tuple(s for i, s in enumerate(x.shape) if i not in places))


def stack(arrays: Any, /, *, axis: int = 0) -> Array:
    """One after another along a new axis. :raises ShapeError: if shapes differ."""
    parts = _several(arrays, "stack")
    kind = least_upper_dtype(*(x.dtype for x in parts))
    first, *rest = [x.cast(kind) for x in parts]
    return as_array(first.stack(*rest, dim=_axis(axis, first.ndim + 1)))


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """The whole array several times along each axis; missing axes and numbers count as one."""
    x, times = as_array(x), tuple(repetitions)
    return x.tile(times) if times else x


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts of an axis, each without it."""
    x = as_array(x)
    at = _axis(axis, x.ndim)
    return tuple(x[(slice(None),) * at + (i,)] for i in range(x.shape[at]))


def _axis(axis: Any, rank: int) -> int:
    place = whole(axis, "an axis")
    if not -rank <= place < rank:
        raise IndexingError(
            f"axis {axis} is not there", asked=f"axis {axis}", because=f"there are {rank} axes"
        )
    return place % rank


def _several(arrays: Any, name: str) -> list[Array]:
    """At least one array. :raises WrongKind: for what is no sequence of arrays."""
    try:
        parts = list(arrays)
    except TypeError:  # it has no elements
        raise WrongKind(
            f"{name} takes a sequence of arrays",
            asked=f"{name}({shown(arrays)})",
            because=f"that is {kind_of(arrays)}",
            try_=f"{name}([x, y])",
        ) from None
    if not parts:
        raise ArgumentError(f"{name} needs an array", asked=f"{name} of nothing")
    return [as_array(x) for x in parts]
