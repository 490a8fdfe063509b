"""Convolutions, pools and resizing as functions, with PyTorch's order of arguments.

Inputs are (batch, channels, *space), or without the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.base.arguments import real, shown, whole
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional.dimensions import over_axes
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "interpolate", "max_pool1d", "max_pool2d", "max_pool3d", "pad", "pixel_shuffle",
    "pixel_unshuffle", "upsample",
]  # fmt: skip

Sizes = int | Sequence[int]


def _convnd(
    axes: int, /, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution (cross-correlation) over {axes}: weight (out, in / groups, {sizes}).

    >>> nn.functional.conv1d(Tensor.ones(1, 1, 4), Tensor.ones(1, 1, 2)).tolist()
    [[[2.0, 2.0, 2.0]]]
    """
    who = f"conv{axes}d"
    x, weight = tensor_of(input, who), tensor_of(weight, who, "weight")
    _check_space(who, x, axes, weight)
    if x.ndim == axes + 1:
        x = x.unsqueeze(0)
        return _convnd(axes, x, weight, bias, stride, padding, dilation, groups).squeeze(0)
    if isinstance(padding, str):
        padding = named_padding(padding, weight.shape[2:], stride, dilation, axes)
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def named_padding(name: str, kernel: Any, stride: Any, dilation: Any, axes: int) -> Any:
    """The (before, after) of each axis for "same", 0 for "valid".

    :raises ArgumentError: for another name, and for "same" with strides.
    """
    if name == "valid":
        return 0
    strides = stride if isinstance(stride, Sequence) else (stride,)
    if name != "same" or set(strides) != {1}:
        raise ArgumentError(
            "this padding cannot be computed by name",
            asked=f"padding={name!r}, kernel {kernel}, stride {stride}",
            because="'same' needs stride 1; the other name is 'valid'",
            try_="give the padding as numbers",
        )
    spreads = dilation if isinstance(dilation, Sequence) else (dilation,) * axes
    spans = [spread * (size - 1) for size, spread in zip(kernel, spreads, strict=True)]
    return tuple((span // 2, span - span // 2) for span in spans)


def _conv_transposend(
    axes: int, /, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
    padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1,
) -> Tensor:  # fmt: skip
    """Transposed convolution over {axes}: weight (in, out / groups, {sizes})."""
    who = f"conv_transpose{axes}d"
    x, weight = tensor_of(input, who), tensor_of(weight, who, "weight")
    _check_space(who, x, axes, weight)
    if x.ndim == axes + 1:
        more = (stride, padding, output_padding, groups, dilation)
        return _conv_transposend(axes, x.unsqueeze(0), weight, bias, *more).squeeze(0)
    return x.conv_transpose2d(weight, bias, groups, stride, dilation, padding, output_padding)


conv1d, conv2d, conv3d = over_axes(_convnd)
conv_transpose1d, conv_transpose2d, conv_transpose3d = over_axes(_conv_transposend)

# ---- pools ---------------------------------------------------------------------------------------


def _max_poolnd(
    axes: int, /, input: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, dilation: Sizes = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest of each window over the last {axes}, and with return_indices its place as well.

    >>> nn.functional.max_pool2d(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]]), 2).tolist()
    [[[[4.0]]]]
    """
    who = f"max_pool{axes}d"
    x = tensor_of(input, who)
    _check_space(who, x, axes)
    sizes = per_axis(kernel_size, axes, "kernel_size")
    return x.max_pool2d(sizes, _stride(stride), dilation, padding, ceil_mode, return_indices)


def _avg_poolnd(
    axes: int, /, input: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, ceil_mode: bool = False, count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The average of each window over the last {axes}."""
    who = f"avg_pool{axes}d"
    x = tensor_of(input, who)
    _check_space(who, x, axes)
    sizes = per_axis(kernel_size, axes, "kernel_size")
    return x.avg_pool2d(sizes, _stride(stride), 1, padding, ceil_mode, count_include_pad)


def _adaptive_avg_poolnd(axes: int, /, input: Tensor, output_size: Any) -> Tensor:
    """Averages over windows that cut the last {axes} into output_size parts; None keeps an axis.

    >>> nn.functional.adaptive_avg_pool2d(Tensor.ones(1, 3, 8, 8), 1).shape
    (1, 3, 1, 1)
    """
    return _adaptive("avg", axes, input, output_size)


def _adaptive_max_poolnd(axes: int, /, input: Tensor, output_size: Any) -> Tensor:
    """Maxima over windows that cut the last {axes} into output_size parts; None keeps an axis."""
    return _adaptive("max", axes, input, output_size)


def _adaptive(kind: str, axes: int, x: Tensor, output_size: Any) -> Tensor:
    who = f"adaptive_{kind}_pool{axes}d"
    x = tensor_of(x, who)
    _check_space(who, x, axes)
    several = isinstance(output_size, Sequence)
    sizes = tuple(output_size) if several else (output_size,) * axes
    if len(sizes) != axes:
        raise ArgumentError(
            f"output_size needs one number, or {axes}", asked=f"{who}({shown(output_size)})"
        )
    pool = x.adaptive_avg_pool2d if kind == "avg" else x.adaptive_max_pool2d
    return pool(sizes)


max_pool1d, max_pool2d, max_pool3d = over_axes(_max_poolnd)
avg_pool1d, avg_pool2d, avg_pool3d = over_axes(_avg_poolnd)
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = over_axes(_adaptive_avg_poolnd)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = over_axes(_adaptive_max_poolnd)


# ---- shapes --------------------------------------------------------------------------------------


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Padding from the last axis on: (left, right, top, bottom, ...). mode: "constant", "reflect",
    "replicate" or "circular".

    >>> nn.functional.pad(Tensor([[1, 2]]), (0, 1), value=9).tolist()
    [[1, 2, 9]]
    """
    return tensor_of(input, "pad").pad(tuple(pad), mode, 0.0 if value is None else value)


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


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., C r^2, H, W) rearranged to (..., C, H r, W r) (Shi et al., 2016)."""
    return tensor_of(input, "pixel_shuffle").pixel_shuffle(upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`."""
    return tensor_of(input, "pixel_unshuffle").pixel_unshuffle(downscale_factor)


def per_axis(value: Any, axes: int, what: str, least: int = 1) -> tuple[int, ...]:
    """One number for each axis, of one or of as many. :raises ArgumentError: for another count."""
    several = isinstance(value, Sequence)
    sizes = tuple(whole(n, what, least=least) for n in (value if several else (value,) * axes))
    if len(sizes) != axes:
        raise ArgumentError(
            f"{what} needs one number, or one per spatial axis",
            asked=f"{what}={shown(value)}",
            because=f"there are {axes} spatial axes",
            try_=f"give {axes} numbers",
        )
    return sizes


def _stride(stride: Any) -> Any:
    return stride if stride is None or not isinstance(stride, Sequence) else tuple(stride) or None


def _check_space(who: str, x: Tensor, axes: int, weight: Tensor | None = None) -> None:
    if x.ndim not in (axes + 1, axes + 2) or (weight is not None and weight.ndim != axes + 2):
        with_weight = "" if weight is None else f" with a weight of {weight.shape}"
        raise ShapeError(
            f"{who} has {axes} spatial axes",
            asked=f"{who} of {x.shape}{with_weight}",
            because=f"the input has {axes + 2} axes, (batch, channels, ...), or no batch"
            + ("" if weight is None else f", the weight {axes + 2}"),
            try_="add the axes that are missing, x.unsqueeze(0)",
        )
