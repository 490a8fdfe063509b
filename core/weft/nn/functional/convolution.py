"""Convolutions as functions, with PyTorch's order of arguments.

Inputs are (batch, channels, *space), or without the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.errors import ArgumentError
from weft.nn.functional.dimensions import Sizes, check_space, over_axes
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
]  # fmt: skip


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
    check_space(who, x, axes, weight)
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
    check_space(who, x, axes, weight)
    if x.ndim == axes + 1:
        more = (stride, padding, output_padding, groups, dilation)
        return _conv_transposend(axes, x.unsqueeze(0), weight, bias, *more).squeeze(0)
    return x.conv_transpose2d(weight, bias, groups, stride, dilation, padding, output_padding)


conv1d, conv2d, conv3d = over_axes(_convnd)
conv_transpose1d, conv_transpose2d, conv_transpose3d = over_axes(_conv_transposend)
