"""Maxima over windows whose positions are drawn, so that any ratio of sizes is possible.

Source: B. Graham, "Fractional max-pooling" (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import real
from weft.base.errors import ArgumentError, ShapeError
from weft.base.sequences import prod
from weft.nn.functional.dimensions import Sizes, check_space, over_axes, per_axis
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def _fractional_max_poolnd(
    axes: int, /, input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest of each window over the last {axes}, the windows starting at drawn positions;
    with return_indices its place as well.

    One of output_size and output_ratio is given: the sizes of the result, or their ratio to those
    of the input. _random_samples: the draws, from 0 to 1, (batch, channels, {axes}).
    :raises ShapeError: if the windows do not fit the input.

    >>> nn.functional.fractional_max_pool2d(Tensor.ones(1, 1, 5, 5), 2, output_size=3).shape
    (1, 1, 3, 3)
    """
    who = f"fractional_max_pool{axes}d"
    x = tensor_of(input, who)
    check_space(who, x, axes)
    if x.ndim == axes + 1:
        draws = None if _random_samples is None else _random_samples[:1]
        results = _fractional_max_poolnd(
            axes, x.unsqueeze(0), kernel_size, output_size, output_ratio, True, draws
        )
        values, places = (each.squeeze(0) for each in results)
        return (values, places) if return_indices else values
    kernel = per_axis(kernel_size, axes, "kernel_size")
    space = tuple(x.shape[2:])
    sizes = _sizes(who, space, kernel, output_size, output_ratio)
    draws = _random_samples
    if draws is None:
        draws = Tensor.rand(*x.shape[:2], axes, dtype=x.dtype, device=x.device).contiguous()
    place = _places(draws, space, kernel, sizes)
    flat = (*x.shape[:2], prod(space))
    windows = x.reshape(flat).gather(2, place.reshape(*x.shape[:2], -1)).reshape(place.shape)
    best = windows.argmax(-1, keepdim=True)
    values = windows.gather(-1, best).squeeze(-1)
    return (values, place.gather(-1, best).squeeze(-1)) if return_indices else values


_, fractional_max_pool2d, fractional_max_pool3d = over_axes(_fractional_max_poolnd)


def _sizes(
    who: str, space: Sequence[int], kernel: Sequence[int], output_size: Any, output_ratio: Any
) -> tuple[int, ...]:
    axes = len(space)
    if (output_size is None) == (output_ratio is None):
        raise ArgumentError(
            "one of output_size and output_ratio is given",
            asked=f"{who}(output_size={output_size}, output_ratio={output_ratio})",
        )
    if output_size is not None:
        sizes = per_axis(output_size, axes, "output_size")
    else:
        given = output_ratio if isinstance(output_ratio, Sequence) else (output_ratio,) * axes
        sizes = tuple(int(n * real(r, "output_ratio")) for n, r in zip(space, given, strict=True))
    if any(out + k - 1 > n or out < 1 for out, k, n in zip(sizes, kernel, space, strict=True)):
        raise ShapeError(
            "the windows do not fit the input",
            asked=f"{who} of {tuple(space)} to {sizes} by windows of {tuple(kernel)}",
            because="an axis has at least output_size + kernel_size - 1 elements",
        )
    return sizes


def _places(
    draws: Tensor, space: Sequence[int], kernel: Sequence[int], sizes: Sequence[int]
) -> Tensor:
    """The flattened indices of all windows: (batch, channels, *sizes, elements of a window)."""
    axes, stride = len(space), 1
    place: Any = 0
    for axis in reversed(range(axes)):
        # as in PyTorch: the first draw of two is of the last axis
        draw = draws[..., 1 - axis if axes == 2 else axis].unsqueeze(-1)
        start = _starts(draw, space[axis], kernel[axis], sizes[axis])
        inside = Tensor.arange(kernel[axis], device=draws.device)
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = sizes[axis], kernel[axis]
        index = start.unsqueeze(-1) + inside
        place = place + index.reshape(*draws.shape[:2], *shape) * stride
        stride *= space[axis]
    return place.flatten(2 + axes)


def _starts(draw: Tensor, size: int, kernel: int, count: int) -> Tensor:
    """The first elements of the windows along an axis; the last window ends with it."""
    last = size - kernel
    number = Tensor.arange(count, device=draw.device)
    if count == 1:
        return (draw * 0).int() + last
    step = last / (count - 1)
    starts = ((number.cast(draw.dtype) + draw) * step).int() - (draw * step).int()
    return (number == count - 1).where(last, starts)
