"""Convolution, transposed convolution and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.tensor import Tensor
from weft.torch.operators.derivatives import chosen
from weft.torch.registry import converter


@converter("aten::convolution")
def convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int,
) -> Tensor:  # fmt: skip
    """Convolve (batch, channels, *space) in any number of axes."""
    axes = weight.ndim - 2
    step, around, spread = (_per_axis(each, axes) for each in (stride, padding, dilation))
    if transposed:
        more = _per_axis(output_padding, axes)
        return x.conv_transpose2d(weight, bias, groups, step, spread, around, more)
    return x.conv2d(weight, bias, groups, step, spread, around)


def _per_axis(numbers: Sequence[int], axes: int) -> tuple[int, ...]:
    return tuple(numbers) * axes if len(numbers) == 1 else tuple(numbers)


@converter("aten::convolution_backward")
def convolution_backward(
    grad: Tensor, x: Tensor, weight: Tensor, bias_sizes: Sequence[int] | None,
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], transposed: bool,
    output_padding: Sequence[int], groups: int, output_mask: Sequence[bool],
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients of input, weight and bias, None where the mask asks for none."""

    def function(x: Tensor, weight: Tensor) -> Tensor:
        return convolution(
            x, weight, None, stride, padding, dilation, transposed, output_padding, groups
        )

    found = chosen(function, (x, weight), grad, output_mask[:2])
    bias = grad.sum((0, *range(2, grad.ndim))) if output_mask[2] else None
    return (*found, bias)
