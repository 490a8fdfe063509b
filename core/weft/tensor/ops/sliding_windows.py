"""Sliding windows over any number of spatial axes, as views."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import index_of, shown, whole
from weft.base.errors import ArgumentError
from weft.base.intmath import ceildiv
from weft.tensor.protocol import TensorBase, TensorT
from weft.uop import UOp, sint
from weft.uop.symbolic.quotient_bounds import least_value
from weft.uop.symbolic.sint import fold


def per_axis(value: Any, axes: int, what: str, least: int = 1) -> tuple[int, ...]:
    """One number for every axis. :raises ArgumentError: for another number of them, or less."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(given) != axes:
        raise ArgumentError(
            f"{what} has a number for each of {axes} spatial axes",
            asked=f"{what}={shown(value)}",
            because=f"these are {len(given)}",
            try_=f"one whole number for all of them, or {axes}; and say which argument is which",
        )
    return tuple(whole(each, what, least) for each in given)


def kernel_of(kernel_size: Any) -> tuple[int, ...]:
    """The window's size along each axis: an int is that of two. Raises ArgumentError."""
    axes = len(kernel_size) if isinstance(kernel_size, (tuple, list)) else 2
    if axes == 0:
        raise ArgumentError("a window has at least one axis", asked="kernel_size=()")
    return per_axis(kernel_size, axes, "kernel_size")


def edges(padding: Any, axes: int) -> tuple[tuple[int, int], ...]:
    """(before, after) for every axis. :raises ArgumentError: for another number of them."""
    number = index_of(padding)
    if number is not None:
        return ((number, number),) * axes
    given = tuple(padding) if isinstance(padding, (tuple, list)) else ()
    numbers = [index_of(p) for p in given]
    plain = [p for p in numbers if p is not None]
    if len(plain) == len(given) == axes:
        return tuple((p, p) for p in plain)
    if len(plain) == len(given) == 2 * axes:
        return tuple(zip(plain[::2], plain[1::2]))[::-1]
    pairs = [tuple(map(index_of, p)) for p in given if isinstance(p, (tuple, list))]
    found = [(p[0], p[1]) for p in pairs if len(p) == 2 and p[0] is not None and p[1] is not None]
    if len(found) == len(given) == axes:
        return tuple(found)
    raise ArgumentError(
        f"padding has one or two whole numbers for each of {axes} spatial axes",
        asked=f"padding={shown(padding)}",
        try_="1, (1, 2) for each axis, or ((1, 1), (2, 2)) for before and after each",
    )


def sliding_windows(
    self: TensorT, size: tuple[int, ...], step: tuple[int, ...], dilation: tuple[int, ...]
) -> TensorT:
    """Windows of the last axes: (..., *spatial) -> (..., *windows, *size), nothing copied.

    window o, place k is x[o * step + k * dilation].
    """
    axes = len(size)
    front = self.shape[: len(self.shape) - axes]
    x = self
    for axis in range(axes):
        x = windows_of_axis(x, len(front) + axis, size[axis], step[axis], dilation[axis])
    return x


def windows_of_axis(self: TensorT, axis: int, size: int, step: int, dilation: int) -> TensorT:
    """One axis becomes its windows; their places go to the end of the shape."""
    shape = self.shape
    length = shape[axis]
    count = fold((length - dilation * (size - 1) - 1) // step + 1)
    rank = len(shape)

    def only(pair: tuple[sint, sint]) -> tuple[Any, ...]:
        return tuple(pair if i == axis else None for i in range(rank))

    def split(x: Any, *sizes: sint) -> Any:
        return x.reshape((*shape[:axis], *sizes, *shape[axis + 1 :]))

    if dilation == 1 and size <= step:
        # windows do not overlap: rows of `step` elements, of which the first `size` are read
        whole = count * step
        fits = least_value(fold(length - whole)) >= 0 or not whole > length
        x = self.shrink(only((0, whole))) if fits else self.pad(only((0, whole - length)))
        x = split(x, count, step)
        x = x.shrink(tuple((0, size) if i == axis + 1 else None for i in range(rank + 1)))
        order = [i for i in range(rank + 1) if i != axis + 1]
        return x.permute(*order, axis + 1)
    if isinstance(length, UOp):
        return _windows_one_by_one(self, axis, size, step, dilation, count)
    # In rows of `row` elements cut from a repetition of x, each row starts `dilation` later.
    rounds = max(ceildiv(count * step - dilation, length), 1)
    row = length * rounds + dilation
    # Nothing looks behind the last window of the last row: filled up there, not repeated, the
    # gradient has no more terms than places.
    repeats = ceildiv((size - 1) * row + (count - 1) * step + 1, length)
    have, whole = min(repeats * length, size * row), size * row
    x = split(self, 1, length)
    x = x._expanded((*shape[:axis], repeats, length, *shape[axis + 1 :]))
    x = split(x, repeats * length).shrink(only((0, have))).pad(only((0, whole - have)))
    x = split(x, size, row)
    x = x.shrink(tuple((0, count * step) if i == axis + 1 else None for i in range(rank + 1)))
    if step > 1:
        x = split(x, size, count, step)
        x = x.shrink(tuple((0, 1) if i == axis + 2 else None for i in range(rank + 2)))
        x = split(x, size, count)
    order = [i for i in range(rank + 1) if i != axis]
    return x.permute(*order, axis)


def _windows_one_by_one(
    self: TensorBase, axis: int, size: int, step: int, dilation: int, count: Any
) -> Any:
    """The same for an axis whose length is a variable: each place of the windows by itself."""
    shape = self.shape
    reach = fold(count * step)

    def only(pair: tuple[Any, Any]) -> tuple[Any, ...]:
        return tuple(pair if i == axis else None for i in range(len(shape)))

    x = self.pad(only((0, step - 1)))
    places = []
    for at in range(0, size * dilation, dilation):
        place = x.shrink(only((at, fold(reach + at))))
        if step > 1:
            place = place.reshape((*shape[:axis], count, step, *shape[axis + 1 :]))
            window = (None if i != axis + 1 else (0, 1) for i in range(len(shape) + 1))
            place = place.shrink(tuple(window))
        places.append(place.reshape((*shape[:axis], count, *shape[axis + 1 :], 1)))
    return places[0].cat(*places[1:], dim=-1)
