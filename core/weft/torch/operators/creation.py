"""Tensors from sizes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.tensor import Tensor
from weft.torch.registry import converter
from weft.uop import UOp


def _of_number(value: Any) -> DType:
    """Return the dtype that PyTorch gives to a Python number."""
    if isinstance(value, bool):
        return dtypes.bool
    return dtypes.int64 if isinstance(value, int) else dtypes.float32


@converter("aten::full")
def full(size: Sequence[int], fill_value: Any, *, dtype: DType | None = None) -> Tensor:
    """Return a tensor of one value."""
    return Tensor.full(tuple(size), fill_value, dtype=dtype or _of_number(fill_value))


@converter("aten::full_like", "aten::fill.Scalar")
def full_like(x: Tensor, fill_value: Any, *, dtype: DType | None = None) -> Tensor:
    """Return a tensor of one value in the shape of x."""
    return Tensor.full(tuple(x.shape), fill_value, dtype=dtype or x.dtype, device=x.device)


@converter("aten::fill.Tensor")
def fill(x: Tensor, value: Tensor) -> Tensor:
    """Return the value of a tensor without axes in the shape of x."""
    return value.cast(x.dtype).expand(tuple(x.shape))


@converter("aten::scalar_tensor")
def scalar_tensor(value: Any, *, dtype: DType | None = None) -> Tensor:
    """Return a tensor without axes."""
    return Tensor.full((), value, dtype=dtype or dtypes.float32)


@converter("aten::empty", "aten::zeros")
def zeros(size: Sequence[int], *, dtype: DType | None = None) -> Tensor:
    """Return zeros; `empty` is zeros, too."""
    return Tensor.zeros(*size, dtype=dtype or dtypes.float32)


@converter("aten::empty_strided")
def empty_strided(size: Sequence[int], stride: Sequence[int], *, dtype: DType | None = None):
    """Return zeros; strides are a matter of the memory that results are copied to."""
    return zeros(size, dtype=dtype)


@converter("aten::empty_permuted")
def empty_permuted(size: Sequence[int], physical_layout: Any, *, dtype: DType | None = None):
    """Return zeros; the order of axes in memory has no effect."""
    return zeros(size, dtype=dtype)


@converter("aten::zeros_like", "aten::empty_like")
def zeros_like(x: Tensor, *, dtype: DType | None = None) -> Tensor:
    """Return zeros in the shape of x."""
    return full_like(x, 0, dtype=dtype)


@converter("aten::ones")
def ones(size: Sequence[int], *, dtype: DType | None = None) -> Tensor:
    """Return ones."""
    return Tensor.ones(*size, dtype=dtype or dtypes.float32)


@converter("aten::arange")
def arange(end: Any, *, dtype: DType | None = None) -> Tensor:
    """Return the numbers from zero to before the end."""
    return arange_step(0, end, dtype=dtype)


@converter("aten::arange.start", "aten::arange.start_step")
def arange_step(start: Any, end: Any, step: Any = 1, *, dtype: DType | None = None) -> Tensor:
    """Return the numbers from start to before the end."""
    whole = all(isinstance(number, int) for number in (start, end, step))
    kind = dtype or (dtypes.int64 if whole else dtypes.float32)
    if any(isinstance(number, UOp) for number in (start, end)) and step == 1:
        return Tensor.arange(start, end, dtype=dtypes.int32).cast(dtype or dtypes.int64)
    if whole or not dtypes.is_float(kind):
        return Tensor.arange(start, end, step, dtype=kind)
    count = max(-int(-(end - start) // step), 0)  # rounded up
    return (Tensor.arange(count, dtype=dtypes.float64) * step + start).cast(kind)


@converter("aten::eye", "aten::eye.m")
def eye(n: int, m: int | None = None, *, dtype: DType | None = None) -> Tensor:
    """Return a matrix with ones on its diagonal."""
    return Tensor.eye(n, m, dtype=dtype or dtypes.float32)
