"""Resizing of images, and sampling of images at the positions of a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.operators.point_sampling import cubic_samples, linear_samples, nearest_samples
from weft.tensor import Tensor
from weft.torch.operators.derivatives import gradients
from weft.torch.registry import converter

Sizes = Sequence[int]
Factors = Sequence[float | None]

# ---- resizing ---------------------------------------------------------------------------------


def _resized(
    x: Tensor, output_size: Sizes | None, factors: Factors, mode: str, corners: bool = False
) -> Tensor:
    """Resize the axes after the first two: to sizes, or by factors.

    A given factor is also the ratio of positions, which differs from that of the sizes where a
    product was rounded.
    """
    space = x.shape[2:]
    if output_size is None:
        output_size = [
            int(size * factor) for size, factor in zip(space, factors) if factor is not None
        ]
    factors = [*factors, *[None] * (len(space) - len(factors))]
    if all(_is_ratio(*each, corners) for each in zip(space, output_size, factors)):
        return x.interpolate(tuple(output_size), mode, corners)
    for axis, (new, factor) in enumerate(zip(output_size, factors), 2):
        x = _resized_axis(x, axis, new, factor, mode, corners)
    return x


def _is_ratio(old: int, new: int, factor: float | None, corners: bool) -> bool:
    return factor is None or corners or old * factor == new


def _resized_axis(
    x: Tensor, axis: int, new: int, factor: float | None, mode: str, corners: bool
) -> Tensor:
    old = x.shape[axis]
    places = np.arange(new, dtype=np.float32)
    ratio = np.float32(old / new if factor is None else 1 / factor)
    if mode == "nearest":
        index = np.minimum(np.floor(places * ratio), old - 1)
        return x.index_select(axis, _indices(index, x))
    if corners:
        positions = places * np.float32((old - 1) / max(new - 1, 1))
    else:
        positions = np.maximum((places + np.float32(0.5)) * ratio - np.float32(0.5), 0)
    first = np.minimum(np.floor(positions), old - 1)
    share = Tensor((positions - first).tolist(), dtype=dtypes.float32, device=x.device)
    share = share.cast(x.dtype).reshape(*(new if i == axis else 1 for i in range(x.ndim)))
    low = x.index_select(axis, _indices(first, x))
    high = x.index_select(axis, _indices(np.minimum(first + 1, old - 1), x))
    return low + (high - low) * share


def _indices(index: np.ndarray, like: Tensor) -> Tensor:
    return Tensor(index.astype(int).tolist(), dtype=dtypes.int32, device=like.device)


@converter("aten::upsample_nearest1d", "aten::upsample_nearest2d", "aten::upsample_nearest3d")
def upsample_nearest(x: Tensor, output_size: Sizes, *factors: float | None) -> Tensor:
    """Repeat the nearest element."""
    return _resized(x, output_size, factors, "nearest")


@converter("aten::upsample_nearest2d.vec", "aten::upsample_nearest1d.vec")
def upsample_nearest_by_factor(
    x: Tensor, output_size: Sizes | None, scale_factors: Factors | None
) -> Tensor:
    """Repeat the nearest element, by a size or by factors."""
    return _resized(x, output_size, scale_factors or (), "nearest")


@converter("aten::upsample_bilinear2d")
def upsample_bilinear(
    x: Tensor, output_size: Sizes, align_corners: bool, *factors: float | None
) -> Tensor:
    """Interpolate linearly in two axes."""
    return _resized(x, output_size, factors, "linear", align_corners)


@converter("aten::upsample_bilinear2d.vec")
def upsample_bilinear_by_factor(
    x: Tensor, output_size: Sizes | None, align_corners: bool, scale_factors: Factors | None
) -> Tensor:
    """Interpolate linearly in two axes, by a size or by factors."""
    return _resized(x, output_size, scale_factors or (), "linear", align_corners)


@converter("aten::upsample_nearest2d_backward")
def upsample_nearest_backward(
    grad: Tensor, output_size: Sizes, input_size: Sizes, *factors: float | None
) -> Tensor:
    """Return the gradient of the input of `upsample_nearest2d`."""
    like = Tensor.zeros(*input_size, dtype=grad.dtype, device=grad.device)
    return gradients(lambda x: upsample_nearest(x, output_size, *factors), (like,), grad)[0]


@converter("aten::upsample_bilinear2d_backward")
def upsample_bilinear_backward(
    grad: Tensor, output_size: Sizes, input_size: Sizes, align_corners: bool,
    *factors: float | None,
) -> Tensor:  # fmt: skip
    """Return the gradient of the input of `upsample_bilinear2d`."""
    like = Tensor.zeros(*input_size, dtype=grad.dtype, device=grad.device)

    def function(x: Tensor) -> Tensor:
        return upsample_bilinear(x, output_size, align_corners, *factors)

    return gradients(function, (like,), grad)[0]


# ---- sampling ---------------------------------------------------------------------------------

_SAMPLERS = (linear_samples, nearest_samples, cubic_samples)
_ZEROS, _BORDER, _REFLECTION = range(3)


@converter("aten::grid_sampler_2d")
def grid_sample(
    x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return the values of images (N, C, H, W) at positions from -1 to 1 in a grid (N, h, w, 2)."""
    positions = []
    is_cubic = interpolation_mode == 2
    for axis, size in enumerate(x.shape[2:]):
        share = (grid[..., 1 - axis] + 1) / 2
        place = share * (size - 1) if align_corners else share * size - 0.5
        if not is_cubic and padding_mode != _ZEROS:
            if padding_mode == _REFLECTION:
                place = _reflected(place, size, align_corners)
            place = place.clamp(0, size - 1)
        positions.append(place)

    def bound(index: Tensor, size: int) -> Tensor:
        if padding_mode == _REFLECTION:
            index = _reflected(index.cast(grid.dtype), size, align_corners).round()
            index = index.cast(dtypes.int32)
        return index.clamp(0, size - 1)

    sampler = _SAMPLERS[interpolation_mode]
    return sampler(x, positions, None if padding_mode == _ZEROS else bound)


def _reflected(place: Tensor, size: int, corners: bool) -> Tensor:
    """Mirror positions at the borders of an axis until they are inside."""
    low, span = (0.0, size - 1.0) if corners else (-0.5, float(size))
    if not span:
        return place * 0
    distance = (place - low).abs()
    periods = (distance / span).floor()
    rest = distance - periods * span
    is_even = periods - (periods / 2).floor() * 2 == 0
    return is_even.where(rest + low, span - rest + low)
