"""Tensors of PyTorch as weft Tensors and back, over the same memory (DLPack).

The memory of a tensor is taken as it is where its elements are dense: a permuted tensor becomes a
row-major one and the order of its axes. A conversion is kept as long as the tensor lives, since
parameters are passed at every call.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

import torch

from weft.base.sequences import prod
from weft.tensor import Tensor
from weft.tensor.storage import owned_storage
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import evaluate_sint, high_of, sprod

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
    dense, order = _dense(x)
    is_shared = dense.data_ptr() == x.data_ptr() and dense.numel() > 0
    return Taken(from_torch_tensor(dense), order), is_shared


def _dense(x: torch.Tensor) -> tuple[torch.Tensor, Order]:
    """Return a row-major tensor over the memory of a tensor, or a copy; and the order of axes."""
    plain = x.detach()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    order = memory_order(plain.shape, plain.stride())
    dense = plain if order is None else plain.permute(order)
    return (dense, order) if dense.is_contiguous() else (plain.contiguous(), None)


def from_torch_tensor(x: torch.Tensor) -> Tensor:
    """Return a weft Tensor over the memory of a tensor; a copy where it is not row-major.

    :raises DTypeError: if weft has no such dtype.
    """
    if x.device.type != "cpu":
        x = x.cpu()
    return Tensor.from_dlpack(x.detach())


def to_torch_tensor(x: Tensor) -> torch.Tensor:
    """Return a tensor of PyTorch over the memory of a weft Tensor, which is computed for it.

    A tensor with symbolic sizes becomes one with their values. Its storage has the largest size,
    so that `take_padded` takes it without a copy.
    """
    if not any(isinstance(size, UOp) for size in x.shape):
        return torch.from_dlpack(x)
    node = owned_storage(x.contiguous().realize()._uop)
    if node is None or node.op is not Ops.BUFFER:
        return torch.from_dlpack(x)
    storage = torch.from_dlpack(Tensor._from_node(node))
    shape = tuple(evaluate_sint(size, {}) for size in x.shape)
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return torch.empty(0, dtype=storage.dtype).set_(storage.untyped_storage(), 0, shape, strides)


def take_padded(x: torch.Tensor, shape: tuple[Any, ...]) -> Taken:
    """Return a weft Tensor with symbolic sizes. Its memory has the largest size.

    The memory is that of the tensor where its storage is large enough; otherwise it is a copy.
    """
    dense, order = _dense(x)
    if order is not None:
        shape = tuple(shape[axis] for axis in order)
    most = prod(map(high_of, shape))
    start = dense.storage_offset()
    if start + most <= dense.untyped_storage().nbytes() // dense.element_size():
        flat = dense.as_strided((most,), (1,), start)
    else:
        flat = dense.new_empty(most)
        flat[: dense.numel()].copy_(dense.reshape(-1))
    taken = from_torch_tensor(flat)
    return Taken(taken.shrink(((0, sprod(shape)),)).reshape(shape), order)


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
