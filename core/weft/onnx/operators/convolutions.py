"""Convolutions: Conv, ConvTranspose, CausalConvWithState, DeformConv, and Col2Im."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.nn.functional.point_sampling import linear_samples
from weft.onnx.graph import Node
from weft.onnx.operators.integer_products import dequantized_conv
from weft.onnx.operators.quantization import source_of
from weft.onnx.operators.spatial_windows import Pair, Window, batch_and_space, halves, window_of
from weft.onnx.registry import operator
from weft.tensor import Tensor

Numbers = Sequence[int]


@operator("Conv")
def conv(
    node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None, *,
    auto_pad: str = "NOTSET", dilations: Numbers | None = None, group: int = 1,
    kernel_shape: Numbers | None = None, pads: Numbers | None = None,
    strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, *space) with a weight (M, C / group, *kernel)."""
    kernel = _kernel_of(node, weight, kernel_shape)
    window = window_of(node, batch_and_space(node, x), kernel, strides, dilations, pads, auto_pad)
    product = dequantized_conv(source_of(x), source_of(weight), window, group)
    if product is None:
        return x.conv2d(weight, bias, group, window.strides, window.dilations, window.pads)
    return product if bias is None else product + bias.reshape(-1, *(1,) * (x.ndim - 2))


@operator("ConvTranspose")
def conv_transpose(
    node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None, *,
    auto_pad: str = "NOTSET", dilations: Numbers | None = None, group: int = 1,
    kernel_shape: Numbers | None = None, output_padding: Numbers | None = None,
    output_shape: Numbers | None = None, pads: Numbers | None = None,
    strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """Transposed convolution of (N, C, *space) with a weight (C, M / group, *kernel)."""
    kernel = _kernel_of(node, weight, kernel_shape)
    sizes = batch_and_space(node, x)
    window = window_of(node, sizes, kernel, strides, dilations, pads)
    more = tuple(output_padding or (0,) * len(sizes))
    around, is_same = window.pads, auto_pad in ("SAME_UPPER", "SAME_LOWER")
    if output_shape or is_same:
        wanted = tuple(output_shape or ())[-len(sizes) :]
        wanted = wanted or tuple(n * s for n, s in zip(sizes, window.strides, strict=True))
        full = (
            (n - 1) * step + extra + extent
            for n, step, extra, extent in zip(
                sizes, window.strides, more, window.extents, strict=True
            )
        )
        around = tuple(
            _cut(total - size, auto_pad == "SAME_UPPER")
            for total, size in zip(full, wanted, strict=True)
        )
    elif auto_pad == "VALID":
        around = ((0, 0),) * len(sizes)
    return x.conv_transpose2d(weight, bias, group, window.strides, window.dilations, around, more)


@operator("CausalConvWithState", since=27)
def causal_conv_with_state(
    node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    past_state: Tensor | None = None, *, activation: str = "none",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Depthwise causal convolution of (batch, channels, length), and the state for the next call.

    The state is the last k - 1 elements of each channel.
    """
    if x.ndim != 3 or weight.ndim != 3 or activation not in ("none", "silu", "swish"):
        raise node.refuse(
            f"the input has the shape {x.shape}, the weight {weight.shape}, and the activation is "
            f"{activation!r}",
            "(batch, channels, length), a weight (channels, 1, k); 'none', 'silu' or 'swish'",
        )
    kept = weight.shape[-1] - 1
    padded = x.pad(((0, 0), (0, 0), (kept, 0))) if past_state is None else past_state.cat(x, dim=2)
    y = padded.conv2d(weight, bias, x.shape[1])
    if activation != "none":
        y = y.cast(dtypes.float32).silu().cast(x.dtype)
    return y, padded[:, :, padded.shape[2] - kept :]


@operator("DeformConv", since=19)
def deform_conv(
    node: Node, x: Tensor, weight: Tensor, offset: Tensor, bias: Tensor | None = None,
    mask: Tensor | None = None, *, dilations: Numbers | None = None, group: int = 1,
    kernel_shape: Numbers | None = None, offset_group: int = 1, pads: Numbers | None = None,
    strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """Convolution whose kernel positions are moved by `offset`, in any number of spatial axes.

    Source: J. Dai and others, "Deformable Convolutional Networks" (2017); with `mask`: X. Zhu and
    others, "Deformable ConvNets v2" (2018).
    """
    kernel = _kernel_of(node, weight, kernel_shape)
    sizes = batch_and_space(node, x)
    window = window_of(node, sizes, kernel, strides, dilations, pads)
    axes, places = len(sizes), math.prod(kernel)
    batch, channels, *_ = x.shape
    out = tuple(offset.shape[2:])
    if channels % offset_group or offset.shape[1] != offset_group * places * axes:
        raise node.refuse(
            f"{channels} channels in {offset_group} offset groups with offsets {offset.shape}",
            f"offsets (N, {offset_group * places * axes}, *output)",
        )
    wide = x.dtype if x.dtype is dtypes.float64 else dtypes.float32
    moved = offset.cast(wide).reshape(batch * offset_group, places, axes, *out)
    fixed = _kernel_positions(window, out)
    positions = [moved[:, :, axis] + node.tensor(fixed[axis]).cast(wide) for axis in range(axes)]
    grouped = x.reshape(batch * offset_group, channels // offset_group, *sizes)
    samples = linear_samples(grouped, positions)
    if mask is not None:
        samples = samples * mask.reshape(batch * offset_group, 1, places, *out).cast(wide)
    columns = samples.reshape(batch, group, channels // group * places, math.prod(out))
    rows = weight.cast(wide).reshape(group, weight.shape[0] // group, -1)
    y = (rows @ columns).reshape(batch, weight.shape[0], *out)
    if bias is not None:
        y = y + bias.cast(wide).reshape(1, -1, *(1,) * axes)
    return y.cast(x.dtype)


@operator("Col2Im", since=18, host_inputs=("image_shape", "block_shape"))
def col2im(
    node: Node, x: Tensor, image_shape: Any, block_shape: Any, *,
    dilations: Numbers | None = None, pads: Numbers | None = None,
    strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """Sum of overlapping blocks: (N, C * block, blocks) to (N, C, *image)."""
    image, block = node.ints(image_shape), node.ints(block_shape)
    window = window_of(node, image, block, strides, dilations, pads)
    counts = tuple(
        (size + sum(pair) - extent) // step + 1
        for size, pair, extent, step in zip(
            image, window.pads, window.extents, window.strides, strict=True
        )
    )
    places = math.prod(block)
    if x.ndim != 3 or x.shape[1] % places or x.shape[2] != math.prod(counts):
        raise node.refuse(
            f"an image of {image} has {math.prod(counts)} blocks of {block}, and the input has the "
            f"shape {x.shape}",
            "an input (N, C * elements of a block, blocks)",
        )
    channels = x.shape[1] // places
    y = x.reshape(x.shape[0], channels, *block, *counts)
    axes = len(image)
    for axis in range(axes):
        y = _shifted_rows(
            y, 2 + axis, 2 + axes + axis, window.strides[axis], window.dilations[axis]
        )
    y = y.sum(tuple(range(2, 2 + axes)), dtype=x.dtype)
    for axis, (size, pair) in enumerate(zip(image, window.pads, strict=True)):
        y = _resized(y, 2 + axis, pair[0], size)
    return y


def _kernel_of(node: Node, weight: Tensor, kernel_shape: Numbers | None) -> tuple[int, ...]:
    kernel = tuple(weight.shape[2:])
    if kernel_shape and tuple(kernel_shape) != kernel:
        raise node.refuse(
            f"kernel_shape is {list(kernel_shape)}, and the weight has the shape {weight.shape}",
            "a weight (out, in, *kernel_shape)",
        )
    return kernel


def _cut(total: int, more_after: bool) -> Pair:
    """Padding that a transposed convolution removes; a negative total adds zeros at the end."""
    before, after = halves(max(total, 0), more_after)
    return before, after + min(total, 0)


def _kernel_positions(window: Window, out: Numbers) -> list[np.ndarray]:
    """By axis the position of each element of the kernel in the image: (kernel, *output)."""
    found = []
    axes = len(out)
    for axis in range(axes):
        starts = np.arange(out[axis]) * window.strides[axis] - window.pads[axis][0]
        starts = starts.reshape([-1 if i == axis else 1 for i in range(axes)])
        inner = np.arange(window.kernel[axis]) * window.dilations[axis]
        inner = inner.reshape([-1 if i == axis else 1 for i in range(axes)])
        inner = np.broadcast_to(inner, window.kernel).reshape(-1, *(1,) * axes)
        found.append((inner + starts).astype(np.float32))
    return found


def _shifted_rows(x: Tensor, kernel_axis: int, axis: int, step: int, dilation: int) -> Tensor:
    """Zeros between the elements of `axis`, and row k of `kernel_axis` moved by k * dilation.

    The rows are lengthened by the dilation, flattened, and cut at the former length.
    """
    rows, count = x.shape[kernel_axis], x.shape[axis]
    order = [i for i in range(x.ndim) if i not in (kernel_axis, axis)]
    front = tuple(x.shape[i] for i in order)
    none = (None,) * len(front)
    length = (count - 1) * step + 1 + (rows - 1) * dilation
    y = x.permute(*order, kernel_axis, axis)
    if step > 1:
        y = y.unsqueeze(-1).pad((*none, None, None, (0, step - 1)))
        y = y.reshape(*front, rows, count * step)[..., : (count - 1) * step + 1]
    y = y.pad((*none, None, (0, length + dilation - y.shape[-1])))
    y = y.reshape(*front, rows * (length + dilation))[..., : rows * length]
    y = y.reshape(*front, rows, length)
    back = [*order, kernel_axis, axis]
    return y.permute(*(back.index(i) for i in range(x.ndim)))


def _resized(x: Tensor, axis: int, start: int, size: int) -> Tensor:
    """`size` elements of an axis from `start` on, with zeros behind its end."""
    missing = max(start + size - x.shape[axis], 0)
    around = tuple((0, missing) if i == axis else None for i in range(x.ndim))
    window = tuple((start, start + size) if i == axis else None for i in range(x.ndim))
    return x.pad(around).shrink(window)
