"""Interleaved tensors of data from outside, and of a real and an imaginary part.

In: numbers, lists, arrays and tensors. Out: interleaved tensors: real, with a last axis of 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import DType, dtypes, to_dtype
from weft.tensor.protocol import TensorBase


def dtype_of(data: Any) -> DType:
    """The complex dtype of data whose elements are complex, and of Python numbers the default."""
    own = getattr(data, "dtype", None)
    if own is not None:
        return dtypes.complex_dtype(to_dtype(own))
    kinds = {dtype_of(row) for row in data} if isinstance(data, (list, tuple)) else set()
    if dtypes.complex128 in kinds:
        return dtypes.complex128
    return dtypes.complex_dtype(dtypes.default_float) if not kinds else kinds.pop()


def interleaved(real: Any, imag: Any) -> Any:
    """A tensor with a last axis of 2: a real and an imaginary part of one dtype, which broadcast.

    No part is rounded, and zeros keep their signs.
    """
    first = real.__class__.arange(2, device=real.device) == 0
    return first.where(real.unsqueeze(-1), imag.unsqueeze(-1))


def interleaved_data(cls: Any, data: Any, device: Any, dtype: DType) -> Any:
    """`data` as an interleaved tensor of class `cls`, whose parts are those of `dtype`."""
    part = dtypes.real_dtype(dtype)
    if data is None:
        return cls(None, device=device, dtype=part).reshape(0, 1).expand(0, 2)
    if isinstance(data, complex):  # a constant takes no memory
        value = complex(data)
        halves = (cls.full((), x, device=device, dtype=part) for x in (value.real, value.imag))
        return interleaved(*halves)
    if isinstance(data, (bytes, bytearray, memoryview)):
        return cls(data, device=device, dtype=part).reshape(-1, 2)
    if isinstance(data, TensorBase):
        return _of_tensor(cls, data, device, part)
    if isinstance(data, (list, tuple)) and _holds_tensors(data):
        rows = [interleaved_data(cls, row, device, dtype) for row in data]
        return rows[0].stack(*rows[1:])
    import numpy

    array = numpy.asarray(data).astype(_numpy_name(dtype))
    flat = numpy.ascontiguousarray(array).reshape(-1).view(_numpy_name(part))
    return cls(flat, device=device).reshape(*array.shape, 2)


def _of_tensor(cls: Any, data: Any, device: Any, part: DType) -> Any:
    if data._interleaved is not None:
        made = data._interleaved.cast(part)
    else:
        real = data.cast(part)
        made = interleaved(real, real.zeros_like())
    return made if device is None else made.to(device)


def _holds_tensors(data: Sequence[Any]) -> bool:
    return any(
        isinstance(row, TensorBase) or (isinstance(row, (list, tuple)) and _holds_tensors(row))
        for row in data
    )


def _numpy_name(dtype: DType) -> str:
    names = {dtypes.complex64: "complex64", dtypes.complex128: "complex128"}
    return names.get(dtype) or {dtypes.float32: "float32", dtypes.float64: "float64"}[dtype]
