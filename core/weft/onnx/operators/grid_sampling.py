"""GridSample and AffineGrid: images sampled at the positions of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.operators.point_sampling import cubic_samples, linear_samples, nearest_samples
from weft.onnx.registry import operator
from weft.tensor import Tensor

_SAMPLERS = {
    "nearest": nearest_samples, "linear": linear_samples, "bilinear": linear_samples,
    "cubic": cubic_samples, "bicubic": cubic_samples,
}  # fmt: skip


@operator("GridSample", since=16)
def grid_sample(
    node: Node, x: Tensor, grid: Tensor, *, align_corners: int = 0, mode: str = "linear",
    padding_mode: str = "zeros",
) -> Tensor:  # fmt: skip
    """Values of (N, C, *space) at the positions of a grid (N, *points, axes) from -1 to 1.

    The grid lists the last axis first. Integers are computed in float32, and truncated.
    """
    sizes = tuple(x.shape[2:])
    fits = x.ndim > 2 and grid.ndim == x.ndim and grid.shape[-1] == len(sizes)
    known = mode in _SAMPLERS and padding_mode in ("zeros", "border", "reflection")
    if not fits or not known:
        raise node.refuse(
            f"x has the shape {x.shape}, the grid {grid.shape}, with mode={mode!r} and "
            f"padding_mode={padding_mode!r}",
            "x (N, C, *space), a grid (N, *points, axes of space); the modes 'nearest', 'linear', "
            "'cubic'; the padding 'zeros', 'border', 'reflection'",
        )
    wide = dtypes.float64 if dtypes.float64 in (grid.dtype, x.dtype) else dtypes.float32
    corners = bool(align_corners)
    positions = []
    for axis, size in enumerate(sizes):
        share = (grid[..., len(sizes) - 1 - axis].cast(wide) + 1) / 2
        place = share * (size - 1) if corners else share * size - 0.5
        if padding_mode == "reflection" and mode != "nearest":
            place = _reflected(place, size, corners)
        positions.append(place)

    def bound(index: Tensor, size: int) -> Tensor:
        if padding_mode == "border":
            return index.clamp(0, size - 1)
        return _reflected_index(index, size, corners)

    y = _SAMPLERS[mode](x, positions, None if padding_mode == "zeros" else bound)
    return y.cast(x.dtype)


@operator("AffineGrid", since=20, host_inputs=("size",))
def affine_grid(node: Node, theta: Tensor, size: Any, *, align_corners: int = 0) -> Tensor:
    """Positions of the elements of an image, from -1 to 1, after affine maps: (N, *space, axes)."""
    _, _, *space = node.ints(size)
    axes = len(space)
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (axes, axes + 1):
        raise node.refuse(
            f"theta has the shape {theta.shape}, and the size has {axes} spatial axes",
            f"theta (N, {axes}, {axes + 1})",
        )
    batch = theta.shape[0]
    rows = theta.reshape(batch, *(1,) * axes, axes, axes + 1)
    y = rows[..., axes]
    for axis, count in enumerate(reversed(space)):  # x is the last axis
        shape = [count if i == axes - 1 - axis else 1 for i in range(axes)]
        places = node.tensor(_even_positions(count, bool(align_corners)).reshape(1, *shape, 1))
        y = y + rows[..., axis] * places.cast(theta.dtype)
    return y


def _even_positions(count: int, corners: bool) -> np.ndarray:
    if corners:
        return np.linspace(-1, 1, count)
    return (np.arange(count) * 2 + 1) / max(count, 1) - 1


def _reflected(place: Tensor, size: int, corners: bool) -> Tensor:
    """Mirror positions at the borders until they are in the image."""
    low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
    span = high - low
    if not span:
        return place * 0
    periods = (place - low) / (2 * span)
    offset = (periods - periods.floor()) * (2 * span)
    mirrored = low + (offset <= span).where(offset, 2 * span - offset)
    return ((place < low) | (place > high)).where(mirrored, place)


def _reflected_index(index: Tensor, size: int, corners: bool) -> Tensor:
    """Mirror indices at the border; the first element is repeated unless corners are aligned."""
    period = 2 * (size - 1) if corners else 2 * size
    if not period:
        return index * 0
    index = index % period
    return (index < size).where(index, period - index - (0 if corners else 1))
