"""Pools as functions, with PyTorch's order of arguments.

Inputs are (batch, channels, *space), or without the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import real, shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.base.sequences import prod
from weft.nn.functional.dimensions import Sizes, check_space, over_axes, per_axis
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
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
    around = _padding(padding)
    return x.max_pool2d(sizes, _stride(stride), dilation, around, ceil_mode, return_indices)


def _avg_poolnd(
    axes: int, /, input: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
    padding: Sizes = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The average of each window over the last {axes}: the sum over its size, or over
    `divisor_override`. :raises ArgumentError: for a divisor of 0.
    """
    who = f"avg_pool{axes}d"
    x = tensor_of(input, who)
    check_space(who, x, axes)
    sizes, step = per_axis(kernel_size, axes, "kernel_size"), _stride(stride)
    if divisor_override is None:
        return x.avg_pool2d(sizes, step, 1, _padding(padding), ceil_mode, count_include_pad)
    if not whole(divisor_override, "divisor_override"):
        raise ArgumentError(
            "a sum cannot be divided by 0", asked=f"{who}(divisor_override=0)",
            try_="divisor_override=1 for the sums of the windows",
        )  # fmt: skip
    steps = sizes if step is None else per_axis(step, axes, "stride")
    around = per_axis(padding, axes, "padding", least=0)
    return _window_sums(x, sizes, steps, around, ceil_mode) / divisor_override


def _window_sums(
    x: Tensor, kernel: Sequence[int], step: Sequence[int], around: Sequence[int], ceil_mode: bool
) -> Tensor:
    """The sums of windows: averages over an input that is padded to whole windows."""
    pads: list[Any] = [(0, 0)] * (x.ndim - len(kernel))
    for size, window, stride, pad in zip(x.shape[-len(kernel) :], kernel, step, around):
        span = size + 2 * pad - window
        count = (-(-span // stride) if ceil_mode else span // stride) + 1
        count -= ceil_mode and (count - 1) * stride >= size + pad
        pads.append((pad, (count - 1) * stride + window - size - pad))
    return x.pad(tuple(pads)).avg_pool2d(tuple(kernel), tuple(step)) * prod(kernel)


def _lp_poolnd(
    axes: int, /, input: Tensor, norm_type: float, kernel_size: Sizes,
    stride: Sizes | None = None, ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """The p-norm of each window over the last {axes}, p being norm_type (Bruna et al., 2013).

    A sum of powers below 0, which an odd p may give, has a root with its sign.

    >>> nn.functional.lp_pool1d(Tensor([[[3.0, 4.0]]]), 2, 2).tolist()
    [[[5.0]]]
    """
    who = f"lp_pool{axes}d"
    x = tensor_of(input, who)
    check_space(who, x, axes)
    sizes, p = per_axis(kernel_size, axes, "kernel_size"), real(norm_type, "norm_type")
    sums = (x**p).avg_pool2d(sizes, _stride(stride), 1, 0, ceil_mode)
    return (sums.sign() * sums.abs().relu() * prod(sizes)) ** (1.0 / p)


def _adaptive_avg_poolnd(axes: int, /, input: Tensor, output_size: Any) -> Tensor:
    """Averages over windows that cut the last {axes} into output_size parts; None keeps an axis.

    >>> nn.functional.adaptive_avg_pool2d(Tensor.ones(1, 3, 8, 8), 1).shape
    (1, 3, 1, 1)
    """
    who = f"adaptive_avg_pool{axes}d"
    x, sizes = _to_parts(who, input, axes, output_size)
    space = x.shape[-axes:]
    if _are_even(space, sizes):
        return x.avg_pool2d(tuple(size // parts for size, parts in zip(space, sizes)))
    return x.adaptive_avg_pool2d(sizes)


def _adaptive_max_poolnd(
    axes: int, /, input: Tensor, output_size: Any, return_indices: bool = False
) -> Any:
    """Maxima over windows that cut the last {axes} into output_size parts; None keeps an axis.

    With return_indices also the index of each into the flattened last {axes}.
    """
    who = f"adaptive_max_pool{axes}d"
    x, sizes = _to_parts(who, input, axes, output_size)
    space = x.shape[-axes:]
    if _are_even(space, sizes):
        kernel = tuple(size // parts for size, parts in zip(space, sizes))
        return x.max_pool2d(kernel, return_indices=return_indices)
    if return_indices:
        return _maxima_of_parts(x, sizes)
    return x.adaptive_max_pool2d(sizes)


def _to_parts(who: str, x: Any, axes: int, output_size: Any) -> tuple[Tensor, tuple[int, ...]]:
    """The input, and the number of parts of each axis. :raises ArgumentError: for other counts."""
    x = tensor_of(x, who)
    check_space(who, x, axes)
    several = isinstance(output_size, Sequence)
    given = tuple(output_size) if several else (output_size,) * axes
    if len(given) != axes:
        raise ArgumentError(
            f"output_size needs one number, or {axes}", asked=f"{who}({shown(output_size)})"
        )
    space = x.shape[-axes:]
    return x, tuple(
        size if parts is None else whole(parts, "output_size", least=0)
        for size, parts in zip(space, given, strict=True)
    )


def _are_even(space: Sequence[Any], sizes: Sequence[int]) -> bool:
    """Whether all parts have the same size."""
    return all(
        isinstance(size, int) and parts and size and not size % parts
        for size, parts in zip(space, sizes, strict=True)
    )


def _maxima_of_parts(x: Tensor, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The maxima of uneven parts and their places, one axis after the other.

    The last axis comes first: of equal values that of the first row counts, and in it the first.
    """
    axes, front = len(sizes), x.ndim - len(sizes)
    space, top, stride = tuple(x.shape[front:]), x, 1
    places = Tensor.zeros(*x.shape, dtype=dtypes.int32, device=x.device)
    for number in reversed(range(axes)):
        axis, parts, size = front + number, sizes[number], space[number]
        longest = max(
            (-(-(i + 1) * size // parts) - i * size // parts for i in range(parts)), default=1
        )
        part = Tensor.arange(parts, device=x.device)
        first, end = part * size // parts, -(-(part + 1) * size // parts)
        inside = first.unsqueeze(1) + Tensor.arange(longest, device=x.device)
        # a part that is shorter than others repeats its last element
        index = inside.minimum(end.unsqueeze(1) - 1).reshape(-1)
        windows = top.index_select(axis, index).unflatten(axis, (parts, longest))
        best = windows.argmax(axis + 1, keepdim=True)
        top = windows.gather(axis + 1, best).squeeze(axis + 1)
        shape = tuple(-1 if i == axis else 1 for i in range(x.ndim))
        along = index[(best.squeeze(axis + 1) + part.reshape(shape) * longest)]
        chosen = places.index_select(axis, index).unflatten(axis, (parts, longest))
        places = chosen.gather(axis + 1, best).squeeze(axis + 1) + along * stride
        stride *= size
    return top, places


max_pool1d, max_pool2d, max_pool3d = over_axes(_max_poolnd)
avg_pool1d, avg_pool2d, avg_pool3d = over_axes(_avg_poolnd)
lp_pool1d, lp_pool2d, lp_pool3d = over_axes(_lp_poolnd)
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = over_axes(_adaptive_avg_poolnd)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = over_axes(_adaptive_max_poolnd)


def _stride(stride: Any) -> Any:
    return stride if stride is None or not isinstance(stride, Sequence) else tuple(stride) or None


def _padding(padding: Any) -> Any:
    """One number in a sequence is that of all axes, as in PyTorch."""
    return padding[0] if isinstance(padding, Sequence) and len(padding) == 1 else padding
