"""Images sampled at the positions of a grid, and the grids of affine maps.

Source: M. Jaderberg, K. Simonyan, A. Zisserman, K. Kavukcuoglu, "Spatial transformer networks"
(2015).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.arguments import choice, shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional.point_sampling import cubic_samples, linear_samples, nearest_samples
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["affine_grid", "grid_sample"]

SAMPLERS = {"bilinear": linear_samples, "nearest": nearest_samples, "bicubic": cubic_samples}
PADDINGS = ("zeros", "border", "reflection")


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """The values of images (batch, channels, *space) at the positions of a grid
    (batch, *points, axes): (batch, channels, *points), for two or three spatial axes.

    Positions are from -1 to 1, the last axis of space first. mode: "bilinear" (trilinear for
    three axes), "nearest", and "bicubic" for two axes. padding_mode: what is outside of the image,
    "zeros", "border" or "reflection". align_corners: -1 and 1 are the centres of the elements at
    the corners, not their edges. :raises ShapeError: if the grid does not fit the input.

    >>> image, grid = Tensor([[[[1.0, 3.0]]]]), Tensor([[[[0.0, 0.0]]]])
    >>> nn.functional.grid_sample(image, grid, align_corners=False).tolist()
    [[[[2.0]]]]
    """
    x, grid = tensor_of(input, "grid_sample"), tensor_of(grid, "grid_sample", "grid")
    axes = x.ndim - 2
    fits = grid.ndim == x.ndim and grid.shape[-1] == axes and grid.shape[0] == x.shape[0]
    if axes not in (2, 3) or not fits or 0 in x.shape[2:]:
        raise ShapeError(
            "the grid does not fit the input",
            asked=f"grid_sample of {x.shape} with a grid of {grid.shape}",
            because="the input is (batch, channels, *space) with two or three axes that have "
            "elements, the grid (batch, *points, axes of space)",
        )
    choice(mode, "mode", tuple(SAMPLERS) if axes == 2 else ("bilinear", "nearest"))
    choice(padding_mode, "padding_mode", PADDINGS)
    corners = bool(align_corners)
    return samples(x, positions_of(x, grid, corners), mode, padding_mode, corners)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The positions of the elements of an image of `size`, from -1 to 1, after affine maps theta
    (batch, axes, axes + 1): a grid (batch, *space, axes) for `grid_sample`.

    size: (batch, channels, *space), two or three spatial axes. :raises ShapeError: for another
    shape of theta.

    >>> theta = Tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]])
    >>> nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=False).tolist()
    [[[[0.0, 0.0], [1.0, 0.0]]]]
    """
    theta = tensor_of(theta, "affine_grid", "theta")
    sizes = tuple(whole(n, "size", least=1) for n in size)
    axes = len(sizes) - 2
    if axes not in (2, 3):
        raise ArgumentError(
            "an image has two or three spatial axes",
            asked=f"affine_grid(size={shown(size)})",
            try_="(batch, channels, height, width), or with a depth",
        )
    batch, _, *space = sizes
    if theta.shape != (batch, axes, axes + 1) or not dtypes.is_float(theta.dtype):
        raise ShapeError(
            "theta does not fit the size",
            asked=f"affine_grid of {theta.dtype!r} {theta.shape} with size={sizes}",
            because=f"there is a matrix of floats {(axes, axes + 1)} for each image",
            try_=f"theta of shape {(batch, axes, axes + 1)}",
        )
    places = []
    for count in space:
        steps = Tensor.arange(count, device=theta.device).cast(theta.dtype) * 2 - (count - 1)
        places.append(steps / (max(count - 1, 1) if align_corners else count))
    return mapped_positions(theta, places)


def mapped_positions(theta: Tensor, places: Sequence[Tensor]) -> Tensor:
    """The affine maps theta (batch, axes, axes + 1) of all points whose coordinate along each
    axis is one of `places`: (batch, *space, axes), the last axis of space first."""
    axes = len(places)
    rows = theta.reshape(theta.shape[0], *(1,) * axes, axes, axes + 1)
    y = rows[..., axes]
    for axis, along in enumerate(reversed(places)):
        shape = tuple(-1 if i == axes - 1 - axis else 1 for i in range(axes))
        y = y + rows[..., axis] * along.reshape(1, *shape, 1)
    return y


def positions_of(x: Tensor, grid: Tensor, align_corners: bool) -> list[Tensor]:
    """The positions of a grid, from -1 to 1, counted in elements of each spatial axis of x."""
    wide = dtypes.float64 if dtypes.float64 in (grid.dtype, x.dtype) else dtypes.float32
    sizes = x.shape[2:]
    positions = []
    for axis, size in enumerate(sizes):
        share = (grid[..., len(sizes) - 1 - axis].cast(wide) + 1) / 2
        positions.append(share * (size - 1) if align_corners else share * size - 0.5)
    return positions


def samples(
    x: Tensor, positions: Sequence[Tensor], mode: str, padding_mode: str, align_corners: bool
) -> Tensor:
    """The values of x (batch, channels, *space) at positions that are counted in elements.

    Positions are moved into the image before they are rounded or interpolated; for "bicubic", the
    indices of the neighbours are.
    """

    def inside(place: Tensor, size: int) -> Tensor:
        if padding_mode == "reflection":
            place = _reflected(place, size, align_corners)
        return place.clamp(0, size - 1)

    def bound(index: Tensor, size: int) -> Tensor:
        if mode != "bicubic" or padding_mode == "border":
            return index.clamp(0, size - 1)
        return inside(index.cast(positions[0].dtype), size).round().cast(dtypes.int32)

    if padding_mode == "zeros":
        return SAMPLERS[mode](x, positions).cast(x.dtype)
    if mode != "bicubic":
        positions = [inside(place, size) for place, size in zip(positions, x.shape[2:])]
    return SAMPLERS[mode](x, positions, bound).cast(x.dtype)


def _reflected(place: Tensor, size: int, align_corners: bool) -> Tensor:
    """Mirror positions at the borders of an axis until they are inside."""
    low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
    if not span:
        return place * 0
    distance = (place - low).abs()
    periods = (distance / span).floor()
    rest = distance - periods * span
    is_even = periods - (periods / 2).floor() * 2 == 0
    return is_even.where(rest + low, span - rest + low)
