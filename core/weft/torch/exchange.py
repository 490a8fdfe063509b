"""Tensors of PyTorch as weft Tensors and back, over the same memory (DLPack).

The memory of a tensor is taken as it is where its elements are dense: a permuted tensor becomes a
row-major one and the order of its axes. A conversion is kept as long as the tensor lives, since
parameters are passed at every call.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

import torch

from weft.tensor import Tensor

Order = tuple[int, ...] | None
"""The axes of a tensor by decreasing strides; None for row-major memory."""


class Taken(NamedTuple):
    """A weft Tensor over the memory of a tensor, and the order of its axes there."""

    tensor: Tensor
    order: Order


class _Entry(NamedTuple):
    reference: ref[torch.Tensor]
    address: int
    size: torch.Size
    strides: tuple[int, ...]
    dtype: torch.dtype
    taken: Taken


class ExchangeCache:
    """Conversions of tensors that are alive, by identity."""

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}

    def take(self, x: torch.Tensor) -> Taken:
        """Return the weft Tensor of a tensor, which sees what is written to the tensor later."""
        key = id(x)
        entry = self._entries.get(key)
        if (
            entry is not None
            and entry.reference() is x
            and entry.address == x.data_ptr()
            and entry.size == x.shape
            and entry.strides == x.stride()
            and entry.dtype == x.dtype
        ):
            return entry.taken
        taken, is_shared = _take(x)
        if is_shared:
            entries = self._entries

            def forget(_: Any) -> None:
                entries.pop(key, None)

            self._entries[key] = _Entry(
                ref(x, forget), x.data_ptr(), x.shape, x.stride(), x.dtype, taken
            )
        return taken


def _take(x: torch.Tensor) -> tuple[Taken, bool]:
    """Return a weft Tensor, and whether it shares memory with the tensor."""
    plain = x.detach()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    order = memory_order(plain.shape, plain.stride())
    dense = plain if order is None else plain.permute(order)
    if not dense.is_contiguous():
        order, dense = None, plain.contiguous()
    is_shared = dense.data_ptr() == x.data_ptr() and dense.numel() > 0
    return Taken(from_torch_tensor(dense), order), is_shared


def from_torch_tensor(x: torch.Tensor) -> Tensor:
    """Return a weft Tensor over the memory of a tensor; a copy where it is not row-major.

    :raises DTypeError: if weft has no such dtype.
    """
    if x.device.type != "cpu":
        x = x.cpu()
    return Tensor.from_dlpack(x.detach())


def to_torch_tensor(x: Tensor) -> torch.Tensor:
    """Return a tensor of PyTorch over the memory of a weft Tensor, which is computed for it."""
    return torch.from_dlpack(x)


def memory_order(size: Any, strides: Any) -> Order:
    """Return the axes by decreasing strides; None where that is their own order.

    Axes of one element have no effect on the order, and stay where they are.
    """
    moved = [axis for axis, count in enumerate(size) if count != 1]
    by_stride = sorted(moved, key=lambda axis: (-strides[axis], axis))
    if by_stride == moved:
        return None
    order = list(range(len(size)))
    for place, axis in zip(moved, by_stride):
        order[place] = axis
    return tuple(order)


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return the permutation that undoes an order."""
    return tuple(order.index(axis) for axis in range(len(order)))
