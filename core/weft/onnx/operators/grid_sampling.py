"""GridSample and AffineGrid: images sampled at the positions of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.nn.functional.grid_sampling import PADDINGS, mapped_positions, positions_of, samples
from weft.onnx.graph import Node
from weft.onnx.registry import operator
from weft.tensor import Tensor

_MODES = {
    "nearest": "nearest", "linear": "bilinear", "bilinear": "bilinear", "cubic": "bicubic",
    "bicubic": "bicubic",
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
    known = mode in _MODES and padding_mode in PADDINGS
    if not fits or not known:
        raise node.refuse(
            f"x has the shape {x.shape}, the grid {grid.shape}, with mode={mode!r} and "
            f"padding_mode={padding_mode!r}",
            "x (N, C, *space), a grid (N, *points, axes of space); the modes 'nearest', 'linear', "
            "'cubic'; the padding 'zeros', 'border', 'reflection'",
        )
    corners = bool(align_corners)
    positions = positions_of(x, grid, corners)
    if mode == "nearest":  # rounded before they are moved into the image
        positions = [place.round() for place in positions]
    return samples(x, positions, _MODES[mode], padding_mode, corners)


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
    places = [node.tensor(_even_positions(n, bool(align_corners))) for n in space]
    return mapped_positions(theta, [each.cast(theta.dtype) for each in places])


def _even_positions(count: int, corners: bool) -> np.ndarray:
    """Positions from -1 to 1; that of one element with aligned corners is -1."""
    if corners:
        return np.linspace(-1, 1, count)
    return (np.arange(count) * 2 + 1) / max(count, 1) - 1
