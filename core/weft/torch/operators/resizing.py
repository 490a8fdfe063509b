"""Resizing of images, and sampling of images at the positions of a grid."""

from __future__ import annotations

from collections.abc import Sequence

from weft.nn.functional.grid_sampling import PADDINGS, positions_of, samples
from weft.nn.functional.resizing import resized
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
    steps = [
        None if factor is None or corners or size * factor == new else 1 / factor
        for size, new, factor in zip(space, output_size, factors)
    ]
    return resized(x, output_size, steps, mode, corners)


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

_MODES = ("bilinear", "nearest", "bicubic")


@converter("aten::grid_sampler_2d", "aten::grid_sampler_3d")
def grid_sample(
    x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return the values of images (N, C, *space) at the positions from -1 to 1 of a grid."""
    mode, padding = _MODES[interpolation_mode], PADDINGS[padding_mode]
    return samples(x, positions_of(x, grid, align_corners), mode, padding, align_corners)
