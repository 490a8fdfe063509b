"""Integer products: MatMulInteger, QLinearMatMul, ConvInteger, QLinearConv.

Products of 8-bit numbers are added in int32, exactly. Zero points are subtracted after the sum:
``sum((a - p) * (b - q)) = sum(a * b) - p * sum(b) - q * sum(a - p)``. So the sum over products
reads plain 8-bit numbers, and instructions for packed dot products compute it. A convolution is
such a product with the matrix of its windows (im2col).

Source: B. Jacob and others, "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference" (CVPR 2018), section 2.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from weft.base.dtype import dtypes
from weft.device import registry
from weft.onnx.graph import Node
from weft.onnx.operators.quantization import RANGES, Source
from weft.onnx.operators.spatial_windows import Window, batch_and_space, window_of
from weft.onnx.registry import operator
from weft.onnx.small_types import Coded, cast, decoded, dtype_name
from weft.tensor import Tensor

Numbers = Sequence[int]
Value = Tensor | Coded

_FEW_ROWS = 16
"""Below this number of rows the sums of columns cost more than the subtraction of a zero point."""
_WORD = 4
"""Numbers in one word of a packed dot product: the terms are filled up to a multiple."""
_VECTOR = 4
"""Rows of windows are filled up to a multiple of this number of elements."""


@operator("MatMulInteger", since=10)
def matmul_integer(
    node: Node, a: Tensor, b: Tensor, a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return (a - a_zero_point) @ (b - b_zero_point) in int32.

    A zero point is one number, or one for each row of a and each column of b.
    """
    _integers(node, a, b)
    return _matmul(a, b, a_zero_point, b_zero_point)


@operator("QLinearMatMul", since=10)
def qlinear_matmul(
    node: Node, a: Value, a_scale: Tensor, a_zero_point: Value, b: Value, b_scale: Tensor,
    b_zero_point: Value, y_scale: Tensor, y_zero_point: Value,
) -> Value:  # fmt: skip
    """Matrix product of quantized matrices, quantized. That of float8 is computed in float32."""
    row, column = len(a.shape) > 1, len(b.shape) > 1
    scale = _by_row(a_scale, row, column) * _by_column(b_scale)
    scale = scale / _by_row(y_scale, row, column)
    name = dtype_name(y_zero_point)
    if name.startswith("float8"):
        left, right = (decoded(each).cast(dtypes.float32) for each in (a, b))
        return cast(left.matmul(right) * scale.cast(dtypes.float32), name)
    a, b, p, q, zero = _integers(node, a, b, a_zero_point, b_zero_point, y_zero_point)
    return _requantized(_matmul(a, b, p, q), scale, _by_row(zero, row, column))


@operator("ConvInteger", since=10)
def conv_integer(
    node: Node, x: Tensor, w: Tensor, x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None, *, auto_pad: str = "NOTSET",
    dilations: Numbers | None = None, group: int = 1, kernel_shape: Numbers | None = None,
    pads: Numbers | None = None, strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """Convolution of x - x_zero_point with w - w_zero_point in int32.

    A zero point of w is one number, or one for each output channel.
    """
    window = _window(node, x, w, group, auto_pad, dilations, kernel_shape, pads, strides)
    return _conv(x, w, x_zero_point, w_zero_point, window, group)


@operator("QLinearConv", since=10)
def qlinear_conv(
    node: Node, x: Tensor, x_scale: Tensor, x_zero_point: Tensor, w: Tensor, w_scale: Tensor,
    w_zero_point: Tensor, y_scale: Tensor, y_zero_point: Tensor, bias: Tensor | None = None, *,
    auto_pad: str = "NOTSET", dilations: Numbers | None = None, group: int = 1,
    kernel_shape: Numbers | None = None, pads: Numbers | None = None,
    strides: Numbers | None = None,
) -> Tensor:  # fmt: skip
    """Convolution of quantized tensors, quantized; the bias has the scale x_scale * w_scale."""
    window = _window(node, x, w, group, auto_pad, dilations, kernel_shape, pads, strides)
    total = _conv(x, w, x_zero_point, w_zero_point, window, group)
    if bias is not None:
        total = total + _by_channel(bias, x.ndim)
    scale = _number(x_scale) * _by_channel(w_scale, x.ndim) / _number(y_scale)
    return _requantized(total, scale, _number(y_zero_point))


# ---- products of dequantized tensors -------------------------------------------------------------


def dequantized_matmul(a: Source | None, b: Source | None) -> Tensor | None:
    """Return the product of two dequantized matrices in float32, with its sum in int32.

    None if it is to be computed in floats: other types, a scale along the sum, or a device without
    packed dot products of integers.
    """
    if a is None or b is None or not _are_summed_in_integers(a, b):
        return None
    rank = b.codes.ndim
    if a.axis is not None or b.axis not in (None, rank - 1) or min(a.codes.ndim, rank) < 2:
        return None
    total = _matmul(a.codes, b.codes, a.zero, b.zero)
    return total.cast(dtypes.float32) * (_number(a.scale) * _by_column(b.scale))


def dequantized_conv(
    x: Source | None, w: Source | None, window: Window, group: int
) -> Tensor | None:
    """Return the convolution of two dequantized tensors in float32, with its sum in int32.

    None where `dequantized_matmul` returns None.
    """
    if x is None or w is None or not _are_summed_in_integers(x, w):
        return None
    if x.axis is not None or w.axis not in (None, 0):
        return None
    total = _conv(x.codes, w.codes, x.zero, w.zero, window, group)
    scale = _number(x.scale) * _by_channel(w.scale, w.codes.ndim)
    return total.cast(dtypes.float32) * scale


def _are_summed_in_integers(*sources: Source) -> bool:
    for source in sources:
        is_narrow = source.codes.dtype in (dtypes.int8, dtypes.uint8)
        if not is_narrow or source.scale.dtype is not dtypes.float32:
            return False
    device = sources[0].codes.device
    compute = registry.capabilities(device).compute if isinstance(device, str) else None
    return compute is not None and any(
        unit.has_unsigned_bytes and unit.dtype_out is dtypes.int32 for unit in compute.pair_dots
    )


# ---- matrix products -----------------------------------------------------------------------------


def _matmul(a: Tensor, b: Tensor, a_zero: Tensor | None, b_zero: Tensor | None) -> Tensor:
    """The product in int32; vectors as in NumPy."""
    is_row, is_column = a.ndim == 1, b.ndim == 1
    left, right = _int32(a), _int32(b)
    left = left.unsqueeze(0) if is_row else left
    right = right.unsqueeze(-1) if is_column else right
    p = None if a_zero is None else _int32(_by_row(a_zero, True, True))
    q = None if b_zero is None else _int32(_by_column(b_zero))
    rows = left.shape[-2]
    if p is not None and isinstance(rows, int) and rows < _FEW_ROWS:
        left, p = left - p, None
    total = _corrected(left @ right, left, right, p, q)
    total = total.squeeze(-1) if is_column else total
    return total.squeeze(-1 if is_column else -2) if is_row else total


def _corrected(
    total: Tensor, left: Tensor, right: Tensor, p: Tensor | None, q: Tensor | None,
    terms: int | None = None,
) -> Tensor:  # fmt: skip
    """A product without zero points, less what the zero points p (left) and q (right) add to it."""
    if p is not None:
        total = total - p * right.sum(-2, keepdim=True, dtype=dtypes.int32)
    if q is not None:
        sums = left.sum(-1, keepdim=True, dtype=dtypes.int32)
        if p is not None:
            sums = sums - p * (left.shape[-1] if terms is None else terms)
        total = total - q * sums
    return total


def _by_row(value: Tensor, has_rows: bool, has_columns: bool) -> Tensor:
    """One number, or one for each row of a matrix (..., rows, columns)."""
    if value.numel() == 1:
        return _number(value)
    return value.unsqueeze(-1) if value.ndim == 1 and has_rows and has_columns else value


def _by_column(value: Tensor) -> Tensor:
    """One number, or one for each column of a matrix (..., rows, columns)."""
    return _number(value) if value.numel() == 1 else value


def _by_channel(value: Tensor, rank: int) -> Tensor:
    """One number, or one for each channel of (batch, channels, *space)."""
    return _number(value) if value.numel() == 1 else value.reshape(-1, *(1,) * (rank - 2))


def _number(value: Tensor) -> Tensor:
    return value.reshape(())


# ---- convolutions --------------------------------------------------------------------------------


def _conv(
    x: Tensor, w: Tensor, x_zero: Tensor | None, w_zero: Tensor | None, window: Window, group: int
) -> Tensor:
    """The convolution in int32."""
    p = None if x_zero is None else _int32(_number(x_zero))
    q = None if w_zero is None else _int32(w_zero)
    q = q if q is None else _number(q) if q.numel() == 1 else q.reshape(-1, *(1,) * (w.ndim - 1))
    each = w.shape[0] // group
    if each < _FEW_ROWS:
        moved = _int32(x) if p is None else _int32(x) - p
        kernel = _int32(w) if q is None else _int32(w) - q
        return moved.conv2d(kernel, None, group, window.strides, window.dilations, window.pads)
    out = _counts(window, x.shape[2:])
    wide = _widened(window, out)
    columns, shape = _columns(_padded(x, p, wide), wide, group)
    terms, filled = math.prod(w.shape[1:]), columns.shape[-2]
    rows = w.reshape(group, each, terms)
    if filled > terms:
        rows = rows.pad((None, None, (0, filled - terms))).contiguous()
    left, right = _int32(rows), _int32(columns)
    if q is not None and q.ndim:
        q = q.reshape(group, each, 1)
    # the weight is the left factor: its zero point is q
    total = _corrected(left @ right, left, right, q, p, terms)
    total = total.reshape(x.shape[0], w.shape[0], *shape)
    return total if shape == out else total[..., : out[-1]]


def _counts(window: Window, sizes: Sequence[Any]) -> tuple[Any, ...]:
    """The number of windows along each axis."""
    parts = zip(sizes, window.pads, window.extents, window.strides, strict=True)
    return tuple((size + sum(pair) - extent) // step + 1 for size, pair, extent, step in parts)


def _widened(window: Window, out: tuple[Any, ...]) -> Window:
    """The window with more padding, so that rows of the result fill vectors.

    The copy of the windows takes a tenth of the time then. Narrow rows would mean too many
    additional products. A copy of single elements has no rows.
    """
    missing = -out[-1] % _VECTOR if isinstance(out[-1], int) else 0
    is_view = max(*window.kernel, *window.strides) == 1
    if not missing or out[-1] < _VECTOR or is_view:
        return window
    before, after = window.pads[-1]
    last = (before, after + missing * window.strides[-1])
    return replace(window, pads=(*window.pads[:-1], last))


def _padded(x: Tensor, zero: Tensor | None, window: Window) -> Tensor:
    """Pad the input with its zero point, which represents the number 0."""
    around = (None, None, *window.pads)
    if not any(sum(pair) for pair in window.pads):
        return x
    if zero is None:
        return x.pad(around)
    moved = (x.cast(dtypes.int16) - zero.cast(dtypes.int16)).pad(around)
    return (moved + zero.cast(dtypes.int16)).cast(x.dtype)


def _columns(x: Tensor, window: Window, group: int) -> tuple[Tensor, tuple[int, ...]]:
    """The matrix of the windows (batch, group, terms, windows), and the shape of the windows."""
    axes = len(window.kernel)
    y = x
    for axis in range(axes):
        y = y.unfold(2 + axis, window.extents[axis], window.strides[axis])
        y = y[..., :: window.dilations[axis]]
    out = y.shape[2 : 2 + axes]
    y = y.permute(0, 1, *range(2 + axes, 2 + 2 * axes), *range(2, 2 + axes))
    terms = x.shape[1] // group * math.prod(window.kernel)
    y = y.reshape(x.shape[0], group, terms, math.prod(out))
    missing = -terms % _WORD
    return y.pad((None, None, (0, missing), None)).contiguous(), out


def _window(
    node: Node, x: Tensor, w: Tensor, group: int, auto_pad: str, dilations: Numbers | None,
    kernel_shape: Numbers | None, pads: Numbers | None, strides: Numbers | None,
) -> Window:  # fmt: skip
    """The window of a convolution, after a check of the shapes."""
    _integers(node, x, w)
    sizes, kernel = batch_and_space(node, x), tuple(w.shape[2:])
    fits = x.ndim == w.ndim and group > 0 and x.shape[1] == w.shape[1] * group
    if not fits or w.shape[0] % group or (kernel_shape and tuple(kernel_shape) != kernel):
        raise node.refuse(
            f"the input has the shape {x.shape}, the weight {w.shape}, group is {group}, "
            f"kernel_shape is {kernel_shape}",
            "an input (N, C, *space) and a weight (M, C / group, *kernel)",
        )
    window = window_of(node, sizes, kernel, strides, dilations, pads, auto_pad)
    for size, pair, extent in zip(sizes, window.pads, window.extents, strict=True):
        if isinstance(size, int) and size + sum(pair) < extent:
            raise node.refuse(
                f"the kernel {kernel} is larger than the padded input {sizes}",
                "more padding, or a smaller kernel",
            )
    return window


# ---- common parts --------------------------------------------------------------------------------


def _requantized(total: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """Return total * scale + zero, rounded to nearest with ties to even, in the dtype of zero.

    The result is exact for sums below 2**28, without a float64. The float32 product decides, except
    near a number halfway between two integers. There the sign of the exact difference decides: it
    is small, so that integers modulo 2**32 hold it. In these, scale is m / (2 * unit).
    """
    scale = scale.cast(dtypes.float32)
    value = total.cast(dtypes.float32) * scale
    below = value.floor()
    from_half = value - (below + 0.5)
    whole, zero_int = _int32(below), _int32(zero)
    bits = scale.bitcast(dtypes.int32)
    m = (bits & 0x7FFFFF) | 0x800000
    shift = 149 - (bits >> 23)
    unit = ((shift >= 0) & (shift < 32)).where(shift.ones_like() << shift.clip(0, 31), 0)
    difference = total * m - (2 * whole + 1) * unit
    is_odd = ((whole + zero_int) & 1) != 0
    is_near = from_half.abs() <= value.abs() * 2.0**-21
    is_above = (difference > 0) | ((difference == 0) & is_odd)
    up = is_near.where(is_above, from_half > 0)
    rounded = whole + _int32(up) + zero_int
    return rounded.clip(*RANGES[dtype_name(zero)]).cast(zero.dtype)


def _int32(x: Tensor) -> Tensor:
    return x.cast(dtypes.int32)


def _integers(node: Node, *values: Value) -> list[Tensor]:
    """Return the values. :raises OnnxError: if one is not of int8 or uint8."""
    found: list[Tensor] = []
    for value in values:
        if not isinstance(value, Tensor) or value.dtype not in (dtypes.int8, dtypes.uint8):
            raise node.refuse(
                f"an input has the type {dtype_name(value)}", "int8 or uint8, or DequantizeLinear"
            )
        found.append(value)
    return found
