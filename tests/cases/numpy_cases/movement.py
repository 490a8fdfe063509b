"""Moves of an array and of a tensor alike, one drawn at a time: what chains of movement are of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from cases.numpy_cases import Draw

Moved: TypeAlias = tuple[str, Any, Any]
"""What was done, and the tensor and the array after it."""

MOVES: list[Callable[[Draw, Any, Any], Moved | None]] = []
"""Each takes a tensor and its array; None where their shape does not allow the move."""


def _move(function: Any) -> Any:
    MOVES.append(function)
    return function


def moved(draw: Draw, x: Any, a: Any) -> Moved:
    """One move that is drawn for the shape; none at times."""
    return draw.choice(MOVES)(draw, x, a) or ("nothing", x, a)


def a_slice(draw: Draw, size: int) -> slice:
    """One of any direction and step, its ends at times beyond the axis or left out."""
    step = draw.choice([None, 1, 1, 2, 3, 5, -1, -1, -2, -4])
    ends = [draw.choice([None, draw.integer(-size - 2, size + 2)]) for _ in range(2)]
    return slice(*ends, step)


def _axis(draw: Draw, a: Any) -> int:
    return draw.integer(-a.ndim, a.ndim - 1)


@_move
def permute(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Axes in any order."""
    order = draw.pick.sample(range(a.ndim), a.ndim)
    return f"permute {order}", x.permute(*order), a.transpose(order)


@_move
def transpose(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Two axes exchanged."""
    if not a.ndim:
        return None
    one, two = _axis(draw, a), _axis(draw, a)
    return f"transpose {one} {two}", x.transpose(one, two), a.swapaxes(one, two)


@_move
def flip(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Some axes flipped."""
    import numpy

    axes = draw.axes(a.ndim)
    return f"flip {axes}", x.flip(axes), numpy.flip(a, axes)


@_move
def shrink(draw: Draw, x: Any, a: Any) -> Moved | None:
    """A window of some axes."""
    spans = []
    for size in a.shape:
        start, stop = sorted([draw.integer(0, size), draw.integer(0, size)])
        spans.append((start, stop) if draw.chance() and start < stop else (0, size))
    at = tuple(slice(start, stop) for start, stop in spans)
    return f"shrink {spans}", x.shrink(tuple(spans)), a[at]


@_move
def cut(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Slices with steps."""
    at = tuple(a_slice(draw, size) for size in a.shape)
    return f"{at}", x[at], a[at]


@_move
def pad(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Zeros, or another number, around; among integers a fraction is cut off."""
    import numpy

    by = [(draw.integer(0, 3), draw.integer(0, 3)) if draw.chance() else (0, 0) for _ in a.shape]
    value = draw.choice([0, 0, 1, 1.5])
    padded = numpy.pad(a, by, constant_values=value) if by else a
    return f"pad {by} {value}", x.pad(tuple(by), value=value), padded


@_move
def reshape(draw: Draw, x: Any, a: Any) -> Moved | None:
    """The same elements in another shape."""
    to = _another_shape(draw, a.size)
    return f"reshape {to}", x.reshape(to), a.reshape(to)


def _another_shape(draw: Draw, size: int) -> tuple[int, ...]:
    if size == 0:
        return tuple(draw.pick.sample([0, draw.integer(0, 4), 2], 3))
    shape: list[int] = []
    left = size
    while left > 1 and len(shape) < 4:
        factor = draw.choice([d for d in range(2, min(left, 300) + 1) if left % d == 0] or [left])
        shape.append(factor)
        left //= factor
    shape += [left] * (left > 1) + [1] * draw.chance(0.3)
    draw.pick.shuffle(shape)
    return tuple(shape)


@_move
def expand(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Axes of one element, and new ones, repeated."""
    import numpy

    to = [draw.integer(1, 4) if size == 1 else size for size in a.shape]
    to = [draw.integer(1, 3)] * draw.chance(0.3) + to
    return f"expand {to}", x.expand(tuple(to)), numpy.broadcast_to(a, to)


@_move
def roll(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Round along an axis."""
    import numpy

    if not a.ndim:
        return None
    axis, by = _axis(draw, a), draw.integer(-70, 70)
    return f"roll {by} {axis}", x.roll(by, axis), numpy.roll(a, by, axis)


@_move
def repeat(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Everything several times along each axis."""
    import numpy

    if not a.ndim:
        return None
    times = [draw.integer(1, 3) for _ in a.shape]
    return f"repeat {times}", x.repeat(*times), numpy.tile(a, times)


@_move
def interleave(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Each element several times."""
    import numpy

    if not a.ndim:
        return None
    axis, times = _axis(draw, a), draw.integer(1, 3)
    got = x.repeat_interleave(times, axis)
    return f"repeat_interleave {times} {axis}", got, numpy.repeat(a, times, axis)


@_move
def unfold(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Windows that overlap along an axis."""
    import numpy

    if not a.ndim:
        return None
    axis, size, step = draw.integer(0, a.ndim - 1), draw.integer(1, 5), draw.integer(1, 4)
    if a.shape[axis] < size:
        return None
    view = numpy.lib.stride_tricks.sliding_window_view(a, size, axis)
    at = (slice(None),) * axis + (slice(None, None, step),)
    return f"unfold {axis} {size} {step}", x.unfold(axis, size, step), view[at]


@_move
def stack(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Itself twice along a new axis."""
    import numpy

    axis = draw.integer(-a.ndim - 1, a.ndim)
    return f"stack {axis}", x.stack(x, dim=axis), numpy.stack([a, a], axis)


@_move
def cat(draw: Draw, x: Any, a: Any) -> Moved | None:
    """Itself and itself flipped along an axis."""
    import numpy

    if not a.ndim:
        return None
    axis = _axis(draw, a)
    got = x.cat(x.flip(axis), dim=axis)
    return f"cat with its flip {axis}", got, numpy.concatenate([a, numpy.flip(a, axis)], axis)


@_move
def diagonal(draw: Draw, x: Any, a: Any) -> Moved | None:
    """A diagonal of two axes."""
    import numpy

    k = draw.integer(-2, 2)
    if a.ndim < 2 or not numpy.diagonal(a, k, 0, -1).size:
        return None
    return f"diagonal {k}", x.diagonal(k, 0, -1), numpy.diagonal(a, k, 0, -1)


@_move
def triangle(draw: Draw, x: Any, a: Any) -> Moved | None:
    """One side of a diagonal."""
    import numpy

    k = draw.integer(-3, 3)
    if a.ndim < 2 or not a.size:
        return None
    if draw.chance():
        return f"tril {k}", x.tril(k), numpy.tril(a, k)
    return f"triu {k}", x.triu(k), numpy.triu(a, k)
