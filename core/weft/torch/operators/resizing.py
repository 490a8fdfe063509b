"""Resizing of images, and sampling of images at the positions of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.errors import ArgumentError
from weft.nn.functional.grid_sampling import PADDINGS, positions_of, samples
from weft.nn.functional.resizing import resized
from weft.tensor import Tensor
from weft.tensor.ops.neural_network.resizing import resized_axis
from weft.torch.operators.derivatives import chosen, gradients
from weft.torch.registry import converter
from weft.uop.symbolic.sint import fold

Sizes = Sequence[int]
Factors = Sequence[float | None]

# ---- resizing ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Resizing:
    """The converters of a way to resize the axes after the first two.

    :ivar kind: of the interpolation, as `resized` takes it.
    :ivar has_corners: whether the operators have a parameter `align_corners`.
    """

    kind: str
    has_corners: bool = True
    antialias: bool = False

    def resize(self, x: Tensor, output_size: Sizes, *more: Any) -> Tensor:
        """Resize to sizes. After them come `align_corners`, and a factor or None for each axis."""
        corners = bool(more[0]) if self.has_corners and more else False
        return self._resized(x, output_size, more[1:] if self.has_corners else more, corners)

    def resize_by_factors(self, x: Tensor, output_size: Sizes | None, *more: Any) -> Tensor:
        """Resize to sizes or by factors. After them come `align_corners`, and the factors."""
        corners = bool(more[0]) if self.has_corners else False
        factors = more[-1] or ()
        if output_size is None:
            output_size = [_scaled(*each) for each in zip(x.shape[2:], factors, strict=True)]
        return self._resized(x, output_size, factors, corners)

    def gradient(
        self, grad: Tensor, output_size: Sizes, input_size: Sizes, *more: Any
    ) -> Tensor:  # fmt: skip
        """Return the gradient of what was resized. After its sizes come those of `resize`."""
        like = Tensor.zeros(*input_size, dtype=grad.dtype, device=grad.device)
        return gradients(lambda x: self.resize(x, output_size, *more), (like,), grad)[0]

    def _resized(
        self, x: Tensor, output_size: Sizes, factors: Factors, corners: bool
    ) -> Tensor:  # fmt: skip
        """Resize the axes. A given factor is also the ratio of positions, which differs from that
        of the sizes where a product was rounded."""
        space = x.shape[2:]
        factors = [*factors, *[None] * (len(space) - len(factors))]
        steps = [
            None if factor is None or corners or _is_ratio(size, factor, new) else 1 / factor
            for size, new, factor in zip(space, output_size, factors, strict=True)
        ]
        if all(isinstance(size, int) for size in (*space, *output_size)):
            return resized(x, output_size, steps, self.kind, corners, self.antialias)
        if self.kind == "cubic" or self.antialias:
            raise ArgumentError(
                "a resizing by a cubic or a wide kernel needs the values of the sizes",
                asked=f"resizing of {x.shape} to {tuple(output_size)}",
                because="its weights are computed from them",
            )
        for axis in reversed(range(len(space))):
            back, size = axis - len(space), output_size[axis]
            x = resized_axis(x, back, size, self.kind, corners, steps[axis])
        return x


def _scaled(size: int, factor: float) -> int:
    """Return a size by a factor, rounded down. A size may be symbolic where the factor is whole."""
    return size * int(factor) if factor == int(factor) else int(size * factor)


def _is_ratio(size: int, factor: float, new: int) -> bool:
    """Return whether a factor is the ratio of the sizes."""
    return fold(size * int(factor)) == new if factor == int(factor) else size * factor == new


RESIZINGS = {
    **{f"upsample_nearest{axes}d": Resizing("nearest", False) for axes in (1, 2, 3)},
    **{f"_upsample_nearest_exact{axes}d": Resizing("nearest-exact", False) for axes in (1, 2, 3)},
    "upsample_linear1d": Resizing("linear"),
    "upsample_bilinear2d": Resizing("linear"),
    "upsample_trilinear3d": Resizing("linear"),
    "upsample_bicubic2d": Resizing("cubic"),
    "_upsample_bilinear2d_aa": Resizing("linear", antialias=True),
    "_upsample_bicubic2d_aa": Resizing("cubic", antialias=True),
}
"""How the operators of each name resize."""

for _name, _resizing in RESIZINGS.items():
    converter(f"aten::{_name}")(_resizing.resize)
    converter(f"aten::{_name}.vec")(_resizing.resize_by_factors)
    converter(f"aten::{_name}_backward")(_resizing.gradient)


# ---- sampling ---------------------------------------------------------------------------------

_MODES = ("bilinear", "nearest", "bicubic")


@converter("aten::grid_sampler_2d", "aten::grid_sampler_3d")
def grid_sample(
    x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return the values of images (N, C, *space) at the positions from -1 to 1 of a grid."""
    mode, padding = _MODES[interpolation_mode], PADDINGS[padding_mode]
    return samples(x, positions_of(x, grid, align_corners), mode, padding, align_corners)


@converter("aten::grid_sampler_2d_backward", "aten::grid_sampler_3d_backward")
def grid_sample_backward(
    grad: Tensor, x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int,
    align_corners: bool, output_mask: Sequence[bool],
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients of images and grid, None where the mask asks for none."""

    def function(x: Tensor, grid: Tensor) -> Tensor:
        return grid_sample(x, grid, interpolation_mode, padding_mode, align_corners)

    return tuple(chosen(function, (x, grid), grad, output_mask))
