"""Quantization: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.

A scale and a zero point belong to the whole tensor, to each index of an axis, or to each block of
an axis. Quotients are rounded to nearest with ties to even.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace

from weft.base.dtype import dtypes
from weft.onnx import small_types
from weft.onnx.graph import Node
from weft.onnx.operators.casts import element_type
from weft.onnx.registry import operator
from weft.onnx.small_types import Coded, decoded
from weft.tensor import Tensor

RANGES = {
    "uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767),
    "uint4": (0, 15), "int4": (-8, 7), "uint2": (0, 3), "int2": (-2, 1),
}  # fmt: skip
"""The least and the largest value of each integer type that QuantizeLinear gives."""

_FLOATS = (
    "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float4e2m1", "float6e2m3",
    "float6e3m2",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Source:
    """What a dequantized tensor was computed from.

    :ivar axis: the axis of scale and zero point; None if they are single numbers.
    """

    codes: Tensor
    scale: Tensor
    zero: Tensor | None
    axis: int | None

    def transposed(self) -> Source:
        """The source of the transposed matrix."""
        axis = None if self.axis is None else 1 - self.axis
        return replace(self, codes=self.codes.transpose(0, 1), axis=axis)


# By identity: tensors are compared element by element.
_sources: dict[int, tuple[weakref.ref[Tensor], Source]] = {}


def source_of(value: Tensor) -> Source | None:
    """Return what DequantizeLinear computed a tensor from; None for other tensors.

    Products of such tensors may be computed in integers.
    """
    found = _sources.get(id(value))
    return found[1] if found is not None and found[0]() is value else None


@operator("QuantizeLinear", since=10)
def quantize_linear(
    node: Node, x: Tensor, y_scale: Tensor | Coded, y_zero_point: Tensor | Coded | None = None, *,
    axis: int = 1, saturate: int = 1, block_size: int = 0, output_dtype: int = 0,
    precision: int = 0,
) -> Tensor | Coded:  # fmt: skip
    """Return saturate(round(x / y_scale) + y_zero_point). y_scale's dtype is that of the quotient.

    A float result is rounded once, after the division.
    """
    name = _quantized_type(node, y_zero_point, output_dtype)
    kind = element_type(node, precision) if precision else None
    scale = _spread(node, y_scale, x, axis, block_size)
    dtype = dtypes.to_dtype(kind) if kind else scale.dtype
    quotient = x.cast(dtype) / scale.cast(dtype)
    zero = None
    if y_zero_point is not None:
        zero = _spread(node, y_zero_point, x, axis, block_size)
    if name in RANGES:
        return _rounded(quotient, zero, name)
    if zero is not None and name in ("float4e2m1", "float6e2m3", "float6e3m2"):
        quotient = quotient + zero.cast(dtype)
    return small_types.cast(quotient, name, bool(saturate))


@operator("DequantizeLinear", since=10)
def dequantize_linear(
    node: Node, x: Tensor | Coded, x_scale: Tensor | Coded,
    x_zero_point: Tensor | Coded | None = None, *, axis: int = 1, block_size: int = 0,
    output_dtype: int = 0,
) -> Tensor:  # fmt: skip
    """Return (x - x_zero_point) * x_scale, computed in float32, in x_scale's dtype."""
    values = decoded(x)
    scale = _spread(node, x_scale, values, axis, block_size)
    wide = dtypes.float64 if scale.dtype is dtypes.float64 else dtypes.float32
    moved = values if dtypes.is_int(values.dtype) else values.cast(wide)
    if x_zero_point is not None:
        zero = _spread(node, x_zero_point, values, axis, block_size)
        common = dtypes.int32 if dtypes.is_int(values.dtype) else wide
        moved = values.cast(common) - zero.cast(common)
    name = element_type(node, output_dtype) if output_dtype else None
    result = (moved.cast(wide) * scale.cast(wide)).cast(name or scale.dtype)
    if not block_size and isinstance(x, Tensor) and isinstance(x_scale, Tensor):
        is_single = x_scale.numel() == 1
        place = None if is_single else axis % x.ndim
        zero = x_zero_point if isinstance(x_zero_point, Tensor) else None
        _remember(result, Source(x, x_scale, zero, place))
    return result


@operator("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(node: Node, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Quantize to uint8 with the scale and zero point of the data: (y, y_scale, y_zero_point).

    The range is that of the data, extended to contain zero.
    """
    highest = x.max().maximum(0)
    lowest = x.min().minimum(0)
    scale = (highest == lowest).where(1.0, highest - lowest) / 255.0
    zero = (0.0 - lowest / scale).clip(0, 255).round()
    y = ((x / scale).round() + zero).clip(0, 255)
    return y.cast(dtypes.uint8), scale, zero.cast(dtypes.uint8)


def _remember(result: Tensor, source: Source) -> None:
    key = id(result)
    _sources[key] = (weakref.ref(result, lambda _: _sources.pop(key, None)), source)


def _quantized_type(node: Node, zero: Tensor | Coded | None, output_dtype: int) -> str:
    asked = element_type(node, output_dtype) if output_dtype else ""
    given = "" if zero is None else small_types.dtype_name(zero)
    if asked and given and asked != given:
        raise node.refuse(
            f"output_dtype is {asked}, and the zero point has the type {given}",
            "leave out output_dtype",
        )
    name = asked or given or "uint8"
    if name not in RANGES and name not in _FLOATS:
        raise node.refuse(f"{name} is no quantized type", ", ".join([*RANGES, *_FLOATS]))
    return name


def _rounded(quotient: Tensor, zero: Tensor | None, name: str) -> Tensor | Coded:
    """The integers of a type nearest to a quotient, moved by the zero point."""
    # 11 or 8 bits of a narrow float do not hold the sum with a zero point. Sums that float32
    # rounds are far out of the range.
    exact = quotient.dtype if quotient.dtype is dtypes.float64 else dtypes.float32
    rounded = quotient.cast(exact).round()
    if zero is not None:
        rounded = rounded + zero.cast(exact)
    limited = rounded.clip(*RANGES[name])
    small = small_types.SMALL_TYPES.get(name)
    if small is None:
        return limited.cast(name)
    return Coded(limited.cast(small.code_dtype), small)


def _spread(node: Node, value: Tensor | Coded, x: Tensor, axis: int, block: int) -> Tensor:
    """A scale or zero point in a shape that broadcasts with x.

    :raises OnnxError: if its shape fits neither an axis of x nor its blocks.
    """
    value = decoded(value)
    if value.dtype in (dtypes.fp8e4m3, dtypes.fp8e5m2):
        value = value.cast(dtypes.float32)
    if value.numel() == 1:
        return value.reshape(())
    axis += x.ndim if axis < 0 else 0
    if 0 <= axis < x.ndim and value.ndim == 1 and not block:
        if value.shape[0] == x.shape[axis]:
            return value.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    elif 0 <= axis < x.ndim and value.ndim == x.ndim and block > 0:
        blocks = -(-x.shape[axis] // block)
        expected = tuple(blocks if i == axis else n for i, n in enumerate(x.shape))
        if value.shape == expected:
            return _repeated(value, axis, block, x.shape[axis])
    raise node.refuse(
        f"the input has the shape {x.shape}, a scale or zero point has {value.shape}, "
        f"axis is {axis}, block_size is {block}",
        "one number, one for each index of the axis, or one for each block of the axis",
    )


def _repeated(value: Tensor, axis: int, block: int, size: int) -> Tensor:
    """Each element of an axis `block` times, cut to `size`."""
    shape = value.shape
    repeated = value.unsqueeze(axis + 1).expand(*shape[: axis + 1], block, *shape[axis + 1 :])
    whole = repeated.reshape(*shape[:axis], shape[axis] * block, *shape[axis + 1 :])
    return whole.shrink(tuple((0, size) if i == axis else None for i in range(value.ndim)))
