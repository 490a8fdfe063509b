"""Values of an image at points between its elements: nearest, N-linear and N-cubic interpolation.

A position is a list with one tensor (batch, *points) for each spatial axis, counted in elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import reduce

from weft.base.dtype import dtypes
from weft.tensor import Tensor

Bound = Callable[[Tensor, int], Tensor]
"""Moves integer indices of an axis into its range: bound(index, size)."""


def values_at(x: Tensor, indices: Sequence[Tensor], batch: Tensor | None = None) -> Tensor:
    """Return the elements of (batch, channels, *space) at integer indices inside of the image.

    :param indices: (samples, *points) for each spatial axis, or shapes that broadcast to it.
    :param batch: the image that each sample reads; None: sample i reads image i.
    :returns: (samples, channels, *points).
    """
    images, channels, *sizes = x.shape
    place = indices[0].cast(dtypes.int32)
    for index, size in zip(indices[1:], sizes[1:], strict=True):
        place = place * size + index.cast(dtypes.int32)
    points = tuple(place.shape)
    area = 1
    for size in sizes:
        area = area * size
    if images > 1 or batch is not None:
        if batch is None:
            batch = Tensor.arange(images, dtype=dtypes.int32, device=x.device)
        place = place + (batch.cast(dtypes.int32) * area).reshape(-1, *(1,) * (len(points) - 1))
    rows = x.transpose(0, 1).reshape(channels, images * area)
    return rows[:, place.reshape(-1)].reshape(channels, *points).transpose(0, 1)


def linear_samples(x: Tensor, positions: Sequence[Tensor], bound: Bound | None = None) -> Tensor:
    """Interpolate N-linearly: (batch, channels, *points), in the dtype of the positions.

    :param bound: moves indices into the image; None: the value outside of the image is zero.
    """
    floors = [position.floor() for position in positions]
    shares = [position - floor for position, floor in zip(positions, floors, strict=True)]
    weights = [[1 - share, share] for share in shares]
    starts = [floor.cast(dtypes.int32) for floor in floors]
    return weighted_samples(x, starts, weights, bound)


def cubic_samples(
    x: Tensor, positions: Sequence[Tensor], bound: Bound | None = None, a: float = -0.75
) -> Tensor:
    """Interpolate by cubic convolution in each axis.

    Source: R. Keys, "Cubic convolution interpolation for digital image processing" (1981).
    """
    floors = [position.floor() for position in positions]
    shares = [position - floor for position, floor in zip(positions, floors, strict=True)]
    weights = [cubic_weights(share, a) for share in shares]
    starts = [floor.cast(dtypes.int32) - 1 for floor in floors]
    return weighted_samples(x, starts, weights, bound)


def nearest_samples(x: Tensor, positions: Sequence[Tensor], bound: Bound | None = None) -> Tensor:
    """Take the nearest element; a position halfway between two takes the even index."""
    starts = [position.round().cast(dtypes.int32) for position in positions]
    ones = [[position.ones_like(requires_grad=False)] for position in positions]
    return weighted_samples(x, starts, ones, bound)


def cubic_weights(share: Tensor, a: float) -> list[Tensor]:
    """Return the weights of the elements at -1, 0, 1 and 2 from the one before the point."""

    def inner(t: Tensor) -> Tensor:
        return ((a + 2) * t - (a + 3)) * t * t + 1

    def outer(t: Tensor) -> Tensor:
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a

    return [outer(share + 1), inner(share), inner(1 - share), outer(2 - share)]


def weighted_samples(
    x: Tensor, starts: Sequence[Tensor], weights: Sequence[Sequence[Tensor]], bound: Bound | None
) -> Tensor:
    """Return the sum of neighbours from `starts` on, each with the product of its axes' weights."""
    sizes = x.shape[2:]
    terms = []
    for corner in itertools.product(*(range(len(each)) for each in weights)):
        indices, factors = [], []
        for axis, step in enumerate(corner):
            index, factor = starts[axis] + step, weights[axis][step]
            if bound is None:
                inside = (index >= 0) & (index < sizes[axis])
                factor = inside.where(factor, 0)
                index = index.clamp(0, sizes[axis] - 1)
            else:
                index = bound(index, sizes[axis])
            indices.append(index)
            factors.append(factor)
        factor = reduce(lambda one, other: one * other, factors)
        terms.append(values_at(x, indices).cast(factor.dtype) * factor.unsqueeze(1))
    return reduce(lambda one, other: one + other, terms)
