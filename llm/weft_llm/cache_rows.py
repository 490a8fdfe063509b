"""Rows of a key-value cache in memory: float32, or int8 in blocks with a scale each.

in:  keys and values of tokens      out: tensors in memory, and what is read from them

Source of the blocks: format Q8_0 of GGUF files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from weft import Tensor, UOp, dtypes
from weft.base.dtype import DType
from weft_llm.configuration import Config

CACHE_FORMATS = ("float32", "q8")
_BLOCK = 32
_LARGEST = 127.0
MakesMemory = Callable[..., Tensor]
"""From a shape and a dtype to a tensor with memory of its own."""


class Rows(Protocol):
    """Rows of shape (2, kv_heads, head_dim): keys and values of one token each."""

    tensors: list[Tensor]

    def write(self, start: UOp | int, end: UOp | int, rows: Tensor) -> None:
        """Store rows from `start` on."""
        ...

    def read(self, view: Callable[[Tensor], Tensor]) -> Tensor:
        """What a view along the first axis shows of the rows."""
        ...


class FloatRows:
    """Rows in float32."""

    def __init__(self, make: MakesMemory, *shape: int) -> None:
        self.values = make(*shape, dtype=dtypes.float32)
        self.tensors = [self.values]

    def write(self, start: UOp | int, end: UOp | int, rows: Tensor) -> None:
        """See `Rows`."""
        self.values[start:end] = rows

    def read(self, view: Callable[[Tensor], Tensor]) -> Tensor:
        """See `Rows`."""
        return view(self.values)


class BlockRows:
    """Rows in int8, with a scale for each 32 numbers of a head."""

    def __init__(self, make: MakesMemory, *shape: int) -> None:
        self.block = math.gcd(shape[-1], _BLOCK)
        self.codes = make(*shape, dtype=dtypes.int8)
        self.scales = make(*shape[:-1], shape[-1] // self.block, dtype=dtypes.float32)
        self.tensors = [self.codes, self.scales]

    def write(self, start: UOp | int, end: UOp | int, rows: Tensor) -> None:
        """See `Rows`."""
        blocks = rows.reshape(*rows.shape[:-1], -1, self.block)
        scale = blocks.abs().max(-1, keepdim=True) * (1 / _LARGEST)
        inverse = (scale == 0).where(0.0, 1.0 / scale)
        codes = (blocks * inverse).round().cast(dtypes.int8)
        self.codes[start:end] = codes.reshape(*rows.shape)
        self.scales[start:end] = scale.squeeze(-1)

    def read(self, view: Callable[[Tensor], Tensor]) -> Tensor:
        """See `Rows`."""
        codes, scales = view(self.codes), view(self.scales).unsqueeze(-1)
        blocks = codes.reshape(*codes.shape[:-1], -1, self.block).cast(dtypes.float32)
        return (blocks * scales).reshape(*codes.shape)


def rows_of_layers(
    config: Config, count: int, cache_format: str, zeros: bool = False
) -> Sequence[Rows]:
    """Rows for so many tokens, for each layer.

    zeros: whether rows are zeros before they are written. Without it their pages take no memory
    until they are written, where the device's memory is mapped on demand.
    """
    make = _zeros if zeros else Tensor.empty
    kind = BlockRows if cache_format == "q8" else FloatRows
    shape = (count, 2, config.num_key_value_heads, config.head_dim)
    rows = [kind(make, *shape) for _ in range(config.num_hidden_layers)]
    Tensor.realize(*(each for one in rows for each in one.tensors))
    return rows


def _zeros(*shape: int, dtype: DType) -> Tensor:
    return Tensor.zeros(*shape, dtype=dtype).contiguous()
