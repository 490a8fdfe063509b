"""Pooling: averages, maxima and norms of windows; MaxUnpool, and the maxima of regions.

The operators on regions are in `detection.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.base.dtype import dtypes
from weft.base.promotion import sum_acc_dtype
from weft.onnx.graph import Node
from weft.onnx.operators.spatial_windows import Window, batch_and_space, window_of
from weft.onnx.registry import operator
from weft.tensor import Tensor

Numbers = Sequence[int]


@operator("AveragePool")
def average_pool(
    node: Node, x: Tensor, *, kernel_shape: Numbers, auto_pad: str = "NOTSET",
    ceil_mode: int = 0, count_include_pad: int = 0, dilations: Numbers | None = None,
    pads: Numbers | None = None, strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """Average of each window; padding counts if `count_include_pad` is set."""
    window = _window(node, x, kernel_shape, strides, dilations, pads, auto_pad)
    return x.avg_pool2d(
        window.kernel, window.strides, window.dilations, window.pads,
        _rounds_up(ceil_mode, auto_pad), bool(count_include_pad),
    )  # fmt: skip


@operator("MaxPool")
def max_pool(
    node: Node, x: Tensor, *, kernel_shape: Numbers, auto_pad: str = "NOTSET",
    ceil_mode: int = 0, dilations: Numbers | None = None, pads: Numbers | None = None,
    storage_order: int = 0, strides: Numbers | None = None,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """Maximum of each window, and its index in the flattened input.

    :param storage_order: 1: the index counts the first spatial axis fastest.
    """
    window = _window(node, x, kernel_shape, strides, dilations, pads, auto_pad)
    args = (
        window.kernel, window.strides, window.dilations, window.pads,
        _rounds_up(ceil_mode, auto_pad),
    )  # fmt: skip
    if len(node.outputs) < 2 or not node.outputs[1]:
        return x.max_pool2d(*args)
    y, index = x.max_pool2d(*args, return_indices=True)
    index = index.cast(dtypes.int64)
    sizes = tuple(x.shape[2:])
    if storage_order:
        index = _column_major(index, sizes)
    images = x.shape[0] * x.shape[1]
    first = Tensor.arange(images, dtype=dtypes.int64, device=x.device) * math.prod(sizes)
    return y, index + first.reshape(x.shape[0], x.shape[1], *(1,) * len(sizes))


@operator("LpPool")
def lp_pool(
    node: Node, x: Tensor, *, kernel_shape: Numbers, auto_pad: str = "NOTSET",
    ceil_mode: int = 0, dilations: Numbers | None = None, p: float = 2,
    pads: Numbers | None = None, strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """p-norm of each window. Padding is zero."""
    window = _window(node, x, kernel_shape, strides, dilations, pads, auto_pad)
    around = window.pads
    if _rounds_up(ceil_mode, auto_pad):
        around = _padded_up(window, tuple(x.shape[2:]))
    powers = _power(x.cast(sum_acc_dtype(x.dtype)), p)
    batch, channels, *sizes = powers.shape
    ones = Tensor.ones(1, 1, *window.kernel, dtype=powers.dtype, device=x.device)
    sums = powers.reshape(batch * channels, 1, *sizes).conv2d(
        ones, None, 1, window.strides, window.dilations, around
    )
    return _root(sums.reshape(batch, channels, *sums.shape[2:]), p).cast(x.dtype)


@operator("GlobalAveragePool")
def global_average_pool(node: Node, x: Tensor) -> Tensor:
    """Average over the spatial axes, which stay with the size 1."""
    return x.mean(_spatial(node, x), keepdim=True)


@operator("GlobalMaxPool")
def global_max_pool(node: Node, x: Tensor) -> Tensor:
    """Maximum over the spatial axes, which stay with the size 1."""
    return x.max(_spatial(node, x), keepdim=True)


@operator("GlobalLpPool")
def global_lp_pool(node: Node, x: Tensor, *, p: float = 2) -> Tensor:
    """p-norm over the spatial axes, which stay with the size 1."""
    powers = _power(x.cast(sum_acc_dtype(x.dtype)), p)
    return _root(powers.sum(_spatial(node, x), keepdim=True), p).cast(x.dtype)


@operator("MaxUnpool", since=9, host_inputs=("output_shape",))
def max_unpool(
    node: Node, x: Tensor, indices: Tensor, output_shape: Any = None, *,
    kernel_shape: Numbers, pads: Numbers | None = None, strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """Pooled values at the indices that MaxPool found, zero elsewhere.

    Indices refer to the size that follows from kernel, strides and pads. A larger `output_shape`
    adds zeros at the end of the axes.
    """
    window = _window(node, x, kernel_shape, strides, None, pads, "NOTSET")
    sizes = tuple(
        (count - 1) * step + extent - sum(pair)
        for count, step, extent, pair in zip(
            x.shape[2:], window.strides, window.extents, window.pads, strict=True
        )
    )
    area = math.prod(sizes)
    place = (indices % area).cast(dtypes.int64)  # the index in the image of one channel
    y = x.max_unpool2d(place, window.kernel, output_size=sizes)
    if output_shape is None:
        return y
    shape = node.ints(output_shape)
    if len(shape) != y.ndim or any(n < m for n, m in zip(shape, y.shape, strict=True)):
        raise node.refuse(
            f"output_shape is {list(shape)}, and the unpooled values have the shape {y.shape}",
            "an output_shape that is at least as large",
        )
    return y.pad(tuple((0, n - m) for n, m in zip(shape, y.shape, strict=True)))


def _window(
    node: Node, x: Tensor, kernel: Numbers, strides: Numbers | None, dilations: Numbers | None,
    pads: Numbers | None, auto_pad: str,
) -> Window:  # fmt: skip
    sizes = batch_and_space(node, x)
    if len(kernel) != len(sizes):
        raise node.refuse(
            f"kernel_shape is {list(kernel)}, and the input has the shape {x.shape}",
            "one number for each spatial axis",
        )
    return window_of(node, sizes, kernel, strides, dilations, pads, auto_pad)


def _rounds_up(ceil_mode: int, auto_pad: str) -> bool:
    """Whether the number of windows is rounded up. With auto_pad the padding decides it."""
    return bool(ceil_mode) and auto_pad in ("NOTSET", "")


def _padded_up(window: Window, sizes: Numbers) -> tuple[tuple[int, int], ...]:
    """Padding with as much at the end as the last window needs. It begins inside of the input."""
    found = []
    for size, step, extent, (before, after) in zip(
        sizes, window.strides, window.extents, window.pads, strict=True
    ):
        span = size + before + after - extent
        count = -(-span // step) + 1
        count -= (count - 1) * step >= size + before
        found.append((before, after + max((count - 1) * step - span, 0)))
    return tuple(found)


def _column_major(index: Tensor, sizes: Numbers) -> Tensor:
    """The same element counted with the first axis fastest."""
    parts = []
    for size in reversed(sizes):
        parts.append(index % size)
        index = index // size
    found, stride = parts[-1], 1
    for part, size in zip(reversed(parts[:-1]), sizes, strict=False):
        stride *= size
        found = found + part * stride
    return found


def _spatial(node: Node, x: Tensor) -> tuple[int, ...]:
    return tuple(range(2, 2 + len(batch_and_space(node, x))))


def _power(x: Tensor, p: float) -> Tensor:
    return x.abs() if p == 1 else x.square() if p == 2 else x.abs() ** p


def _root(x: Tensor, p: float) -> Tensor:
    return x if p == 1 else x.sqrt() if p == 2 else x ** (1 / p)
