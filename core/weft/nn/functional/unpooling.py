"""Inverses of max pools: pooled values at the places where they were found.

Source: M. D. Zeiler, G. W. Taylor, R. Fergus, "Adaptive deconvolutional networks for mid and high
level feature learning" (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import shown, whole
from weft.base.errors import ArgumentError
from weft.nn.functional.dimensions import Sizes, check_space, over_axes, per_axis
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _max_unpoolnd(
    axes: int, /, input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """Pooled values at the places that the max pool of {axes} gave as indices, zeros elsewhere.

    output_size: the sizes of the last {axes}, or of all axes, where the pool left elements at the
    end out. :raises ArgumentError: if it differs from the usual size by a stride or more.

    >>> values, places = nn.functional.max_pool1d(Tensor([[[1.0, 3.0]]]), 2, return_indices=True)
    >>> nn.functional.max_unpool1d(values, places, 2).tolist()
    [[[0.0, 3.0]]]
    """
    who = f"max_unpool{axes}d"
    x, places = tensor_of(input, who), tensor_of(indices, who, "indices")
    check_space(who, x, axes)
    kernel = per_axis(kernel_size, axes, "kernel_size")
    given = stride if not isinstance(stride, Sequence) else tuple(stride) or None
    step = kernel if given is None else per_axis(given, axes, "stride")
    around = per_axis(padding, axes, "padding", least=0)
    usual = tuple(
        (count - 1) * s + k - 2 * p
        for count, s, k, p in zip(x.shape[-axes:], step, kernel, around, strict=True)
    )
    sizes = _sizes(who, output_size, usual, step)
    return x.max_unpool2d(places, kernel, step, 1, around, sizes)


def _sizes(
    who: str, output_size: Any, usual: Sequence[int], step: Sequence[int]
) -> tuple[int, ...]:
    """The sizes of the last axes. :raises ArgumentError: for sizes that no pool has reduced."""
    if output_size is None:
        return tuple(usual)
    sizes = tuple(whole(n, "output_size") for n in output_size)
    if len(sizes) > len(usual):
        sizes = sizes[-len(usual) :]
    fits = len(sizes) == len(usual) and all(
        size - s < n < size + s for n, size, s in zip(sizes, usual, step, strict=True)
    )
    if not fits:
        raise ArgumentError(
            "no pool with these windows reduces that size",
            asked=f"{who}(output_size={shown(output_size)})",
            because=f"the size is {tuple(usual)}, and may differ by less than the stride "
            f"{tuple(step)}",
        )
    return sizes


max_unpool1d, max_unpool2d, max_unpool3d = over_axes(_max_unpoolnd)
