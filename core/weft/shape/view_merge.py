"""View composition: compose two views into one, or None if no single view expresses the result.

The upper view reads the indices of the lower one, numbered in row-major order. Method: if the
composition is affine, then one step along an axis of the upper view moves the lower view's
coordinates by a constant, and that constant can only be the difference between the coordinates of
the first two elements. So those differences are taken, and accepted when the coordinates they
predict stay inside the lower shape for the whole upper shape: positions in row-major order are
linear in coordinates, so the prediction is then right everywhere. Nothing is searched for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from weft.shape.view import Axis, Shape, View, merged_axes
from weft.uop import sint
from weft.uop.symbolic.sint import fold, high_of, low_of


def compose(upper: View, lower: View) -> View | None:
    """One view equal to reading `upper` over `lower`; None where there is none (or none is found).

    Every position that `upper` can reach must be an index of `lower`.
    """
    if upper.static and lower.static:
        return _compose_static(upper, lower)
    return _compose(upper, lower)


@lru_cache(maxsize=8192)
def _compose_static(upper: View, lower: View) -> View | None:
    return _compose(upper, lower)


def _compose(upper: View, lower: View) -> View | None:
    if lower.contiguous or 0 in upper.shape or upper.hides_all:
        return upper
    if lower.hides_all:
        if not upper.shape:
            return None  # a shape without axes has no mask that could express it
        return View.hidden(upper.shape)
    if upper.mask is not None:
        return _compose_masked(upper, lower)
    if upper.contiguous and upper.size == lower.size:
        moved = lower.reshape(upper.shape)
        if moved is not None:
            return moved
    offset, axes = merged_axes(lower)
    composed = _compose_over_axes(upper, offset, axes)
    if composed is not None or lower.mask is None:
        return composed
    # where an interval over merged axes is no box in the upper shape, its pieces may be
    whole = lower.mask
    plain = [
        Axis(extent, stride, low, high)
        for extent, stride, (low, high) in zip(lower.shape, lower.strides, whole)
    ]
    return _compose_over_axes(upper, lower.offset, plain)


def _compose_masked(upper: View, lower: View) -> View | None:
    """Compose the visible part of the upper view, and pad the result again."""
    mask = upper.mask or ()
    inner = _compose(upper.shrink(mask), lower)
    if inner is None:
        return None
    return inner.pad(
        tuple([(low, fold(extent - high)) for (low, high), extent in zip(mask, upper.shape)])
    )


def _coordinates(position: sint, axes: list[Axis]) -> list[sint] | None:
    """The coordinates of a row-major position; None where symbols keep them unknown."""
    found: list[sint] = []
    for axis in reversed(axes):
        coordinate: sint
        size = axis.size
        if isinstance(position, int) and isinstance(size, int):
            position, coordinate = divmod(position, size)
        elif axis is axes[0] or (low_of(position) >= 0 and high_of(position) < low_of(axis.size)):
            # the outermost axis takes the rest; elsewhere no carry may occur
            position, coordinate = 0, position
        else:
            quotient, coordinate = fold(position // axis.size), fold(position % axis.size)
            if fold(quotient * axis.size + coordinate) != position or low_of(position) < 0:
                return None
            position = quotient
        found.append(coordinate)
    found.reverse()
    return found


def _compose_over_axes(upper: View, base: sint, axes: list[Axis]) -> View | None:
    if not axes:
        return View.create(upper.shape, (0,) * len(upper.shape), base)
    start = _coordinates(upper.offset, axes)
    if start is None:
        return None
    steps: list[list[sint]] = []  # steps[k][d]: how far coordinate k moves along upper axis d
    for extent, stride in zip(upper.shape, upper.strides):
        if extent == 1 or stride == 0:
            steps.append([0] * len(axes))
            continue
        after = _coordinates(fold(upper.offset + stride), axes)
        if after is None:
            return None
        steps.append([fold(b - a) for a, b in zip(start, after)])
    by_axis = [[step[k] for step in steps] for k in range(len(axes))]
    reaches = [_range(first, moves, upper.shape) for first, moves in zip(start, by_axis)]
    for axis, (least, greatest) in zip(axes, reaches):
        if low_of(least) < 0 or high_of(fold(greatest - axis.size)) >= 0:
            return None
    # the affine map is correct; now apply the masks of the lower view
    mask: list[tuple[sint, sint]] | None = None
    for axis, first, moves, (least, greatest) in zip(axes, start, by_axis, reaches):
        if axis.full or (
            low_of(fold(least - axis.low)) >= 0 and high_of(fold(greatest - axis.high)) < 0
        ):
            continue
        if high_of(fold(greatest - axis.low)) < 0 or low_of(fold(least - axis.high)) >= 0:
            if not upper.shape:
                return None
            return View.hidden(upper.shape)
        if mask is None:
            mask = [(0, extent) for extent in upper.shape]
        if not _restrict(mask, axis, first, moves, upper.shape):
            return None
    strides: list[sint] = []
    for step in steps:
        total: sint = 0
        for move, axis in zip(step, axes):
            total = total + move * axis.stride
        strides.append(fold(total))
    offset = base
    for first, axis in zip(start, axes):
        offset = offset + first * axis.stride
    return View.create(
        upper.shape, tuple(strides), fold(offset), None if mask is None else tuple(mask)
    )


def _range(first: sint, moves: list[sint], shape: Shape, skip: int = -1) -> tuple[sint, sint]:
    """The least and greatest value of a coordinate over the upper shape, without axis `skip`."""
    least = greatest = first
    for position, (move, extent) in enumerate(zip(moves, shape)):
        if position == skip or (move.__class__ is int and move == 0):
            continue
        if high_of(move) <= 0:
            least = least + move * (extent - 1)
        elif low_of(move) >= 0:
            greatest = greatest + move * (extent - 1)
        else:
            least = least + low_of(move) * (extent - 1)
            greatest = greatest + high_of(move) * (extent - 1)
    return fold(least), fold(greatest)


def _restrict(
    mask: list[tuple[sint, sint]], axis: Axis, first: sint, moves: list[sint], shape: Shape
) -> bool:
    """Narrow `mask` to where axis.low <= coordinate < axis.high; False where that is no box."""
    numbers = [axis.low, axis.high, first, *moves]
    if not all(isinstance(number, int) for number in numbers):
        return False
    moving = [position for position, move in enumerate(moves) if move != 0]
    for position in moving:
        move = cast(int, moves[position])
        least, greatest = _range(first, moves, shape, skip=position)
        if not isinstance(least, int) or not isinstance(greatest, int):
            return False
        # the other axes shift the coordinate by least ... greatest: the bounds on this one must
        # come out the same at both ends, then the others do not matter
        if _solve(axis, least, move) == (bounds := _solve(axis, greatest, move)):
            low, high = mask[position]
            if low.__class__ is not int:
                return False
            extent = shape[position]
            if high.__class__ is int:
                high = min(high, bounds[1])
            elif low_of(extent) >= bounds[1]:
                high = bounds[1]
            elif high_of(extent) > bounds[1]:
                return False
            low = max(low, bounds[0])
            if high.__class__ is int and high <= low:
                low = high = 0
            mask[position] = (low, high)
            return True
    return False


def _solve(axis: Axis, first: int, move: int) -> tuple[int, int]:
    """The interval of i with axis.low <= first + move * i < axis.high."""
    low, high = int(axis.low), int(axis.high)
    if move > 0:
        return -((first - low) // move), -((first - high) // move)
    return -((high - 1 - first) // -move), (first - low) // -move + 1
