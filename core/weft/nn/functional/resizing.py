"""Images resized by interpolation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.base.arguments import real, shown
from weft.base.errors import ArgumentError
from weft.nn.functional.dimensions import Sizes, per_axis
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["interpolate", "upsample"]


def interpolate(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The spatial axes (all from axis 2 on) resized to `size`, or by `scale_factor`.

    mode: "nearest", "nearest-exact", and "linear", "bilinear" or "trilinear" for 1, 2 or 3 axes.
    :raises ArgumentError: for other modes, and unless one of size and scale_factor is given.

    >>> nn.functional.interpolate(Tensor([[[0.0, 2.0]]]), scale_factor=2).tolist()
    [[[0.0, 0.0, 2.0, 2.0]]]
    """
    x = tensor_of(input, "interpolate")
    axes = x.ndim - 2
    linear = {1: "linear", 2: "bilinear", 3: "trilinear"}.get(axes)
    if mode not in ("nearest", "nearest-exact", linear) or (size is None) == (scale_factor is None):
        raise ArgumentError(
            "this cannot be interpolated",
            asked=f"interpolate of {x.shape}, size={size}, scale_factor={scale_factor}, "
            f"mode={shown(mode)}",
            because=f"one of size and scale_factor is given, and the mode is 'nearest', "
            f"'nearest-exact' or {linear!r} for {axes} spatial axes",
        )
    if size is not None:
        sizes = per_axis(size, axes, "size")
    else:
        given = scale_factor if isinstance(scale_factor, Sequence) else (scale_factor,) * axes
        factors = [float(real(factor, "scale_factor")) for factor in given]
        sizes = tuple(math.floor(n * f) for n, f in zip(x.shape[2:], factors, strict=True))
    kind = "linear" if mode == linear else mode
    return x.interpolate(sizes, kind, bool(align_corners))


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """`interpolate` under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)
