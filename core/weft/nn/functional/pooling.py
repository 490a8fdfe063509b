"""Pools as functions, with PyTorch's order of arguments.

Inputs are (batch, channels, *space), or without the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import shown
from weft.base.errors import ArgumentError
from weft.nn.functional.dimensions import Sizes, check_space, over_axes, per_axis
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip


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
    check_space(who, x, axes)
    sizes = per_axis(kernel_size, axes, "kernel_size")
    return x.max_pool2d(sizes, _stride(stride), dilation, padding, ceil_mode, return_indices)


def _avg_poolnd(
    axes: int, /, input: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, ceil_mode: bool = False, count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The average of each window over the last {axes}."""
    who = f"avg_pool{axes}d"
    x = tensor_of(input, who)
    check_space(who, x, axes)
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
    check_space(who, x, axes)
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


def _stride(stride: Any) -> Any:
    return stride if stride is None or not isinstance(stride, Sequence) else tuple(stride) or None
