"""Averages and maxima of windows, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.base.dtype import dtypes
from weft.nn import functional
from weft.tensor import Tensor
from weft.torch.operators.derivatives import gradients
from weft.torch.registry import converter
from weft.uop.symbolic.sint import sprod

Sizes = Sequence[int]


def _per_axis(numbers: Sizes | int, axes: int) -> tuple[int, ...]:
    given = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    return given * axes if len(given) == 1 else given


def _average(axes: int) -> Callable[..., Tensor]:
    pool = getattr(functional, f"avg_pool{axes}d")

    def average(
        x: Tensor, kernel_size: Sizes, stride: Sizes = (), padding: Sizes | int = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:  # fmt: skip
        return pool(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    return average


avg_pool1d = converter("aten::avg_pool1d")(_average(1))
avg_pool2d = converter("aten::avg_pool2d")(_average(2))
avg_pool3d = converter("aten::avg_pool3d")(_average(3))


@converter("aten::avg_pool2d_backward", "aten::avg_pool3d_backward")
def avg_pool_backward(
    grad: Tensor, x: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Tensor:  # fmt: skip
    """Return the gradient of the input of averages over windows."""
    pool = avg_pool2d if len(kernel_size) == 2 else avg_pool3d

    def function(x: Tensor) -> Tensor:
        return pool(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    return gradients(function, (x,), grad)[0]


@converter("aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d", "aten::adaptive_avg_pool1d")
def adaptive_avg_pool(x: Tensor, output_size: Sizes) -> Tensor:
    """Average over windows that cut the last axes into so many parts."""
    if all(size == 1 for size in output_size):
        return x.mean(tuple(range(-len(output_size), 0)), keepdim=True)
    spatial = x.shape[-len(output_size) :]
    if all(not size % parts for size, parts in zip(spatial, output_size)):
        kernel = tuple(size // parts for size, parts in zip(spatial, output_size))
        return x.avg_pool2d(kernel, kernel)
    return x.adaptive_avg_pool2d(tuple(output_size))


@converter("aten::_adaptive_avg_pool2d_backward", "aten::_adaptive_avg_pool3d_backward")
def adaptive_avg_pool_backward(grad: Tensor, x: Tensor) -> Tensor:
    """Return the gradient of the input of averages to a size."""
    axes = 3 if x.ndim == 5 or (x.ndim == 4 and grad.ndim == 4 and x.shape[0] == 0) else 2
    size = grad.shape[-axes:]
    return gradients(lambda x: adaptive_avg_pool(x, size), (x,), grad)[0]


def _maximum(axes: int) -> Callable[..., Any]:
    def maximum(
        x: Tensor, kernel_size: Sizes, stride: Sizes = (), padding: Sizes | int = 0,
        dilation: Sizes | int = 1, ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        kernel = _per_axis(kernel_size, axes)
        return x.max_pool2d(
            kernel, _per_axis(stride or kernel, axes), _per_axis(dilation, axes),
            _per_axis(padding, axes), ceil_mode, return_indices=True,
        )  # fmt: skip

    return maximum


max_pool2d = converter("aten::max_pool2d_with_indices")(_maximum(2))
max_pool3d = converter("aten::max_pool3d_with_indices")(_maximum(3))


@converter("aten::max_pool2d_with_indices_backward", "aten::max_pool3d_with_indices_backward")
def max_pool_backward(
    grad: Tensor, x: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    ceil_mode: bool, indices: Tensor,
) -> Tensor:  # fmt: skip
    """Add each gradient at the element that was the largest one of its window."""
    return _add_at_maxima(grad, x, indices, len(kernel_size))


@converter("aten::adaptive_max_pool2d", "aten::adaptive_max_pool3d")
def adaptive_max_pool(x: Tensor, output_size: Sizes) -> tuple[Tensor, Tensor]:
    """Return the largest elements of parts of the last axes, and their indices in these axes."""
    pool = getattr(functional, f"adaptive_max_pool{len(output_size)}d")
    values, indices = pool(x, tuple(output_size), return_indices=True)
    return values, indices.cast(dtypes.int64)


@converter("aten::adaptive_max_pool2d_backward")
def adaptive_max_pool2d_backward(grad: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    """Add each gradient at the element that was the largest one of its part of two axes."""
    return _add_at_maxima(grad, x, indices, 2)


@converter("aten::adaptive_max_pool3d_backward")
def adaptive_max_pool3d_backward(grad: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    """Add each gradient at the element that was the largest one of its part of three axes."""
    return _add_at_maxima(grad, x, indices, 3)


def _add_at_maxima(grad: Tensor, x: Tensor, indices: Tensor, axes: int) -> Tensor:
    front = tuple(x.shape[:-axes])
    flat = Tensor.zeros(*front, sprod(x.shape[-axes:]), dtype=grad.dtype, device=x.device)
    places = (*front, sprod(grad.shape[-axes:]))
    written = flat.scatter_add(-1, indices.reshape(places), grad.reshape(places))
    return written.reshape(tuple(x.shape))
