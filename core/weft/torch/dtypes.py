"""Element types: those of PyTorch and those of weft."""

from __future__ import annotations

from typing import Any

import torch

from weft.base.dtype import DType, dtypes
from weft.base.errors import DTypeError

_TABLE: dict[Any, DType] = {
    torch.bool: dtypes.bool, torch.uint8: dtypes.uint8, torch.uint16: dtypes.uint16,
    torch.uint32: dtypes.uint32, torch.uint64: dtypes.uint64, torch.int8: dtypes.int8,
    torch.int16: dtypes.int16, torch.int32: dtypes.int32, torch.int64: dtypes.int64,
    torch.float16: dtypes.float16, torch.bfloat16: dtypes.bfloat16,
    torch.float32: dtypes.float32, torch.float64: dtypes.float64,
    torch.float8_e4m3fn: dtypes.fp8e4m3, torch.float8_e5m2: dtypes.fp8e5m2,
}  # fmt: skip


def is_supported(dtype: torch.dtype) -> bool:
    """Return whether weft has this element type. It has no complex and no quantized numbers."""
    return dtype in _TABLE


def from_torch_dtype(dtype: torch.dtype) -> DType:
    """Return weft's dtype.

    :raises DTypeError: if weft has none.
    """
    found = _TABLE.get(dtype)
    if found is None:
        raise DTypeError(
            "weft has no dtype for these elements",
            asked=f"a tensor of {dtype}",
            because="complex, quantized and sub-byte numbers have no dtype in weft",
        )
    return found
