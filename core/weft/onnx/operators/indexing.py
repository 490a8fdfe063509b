"""Indexed loads and stores: gather, scatter, selection by a condition, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.operators.constants import constant_number
from weft.onnx.registry import operator
from weft.tensor import Tensor

_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}

# ---- gather -----------------------------------------------------------------------------------


@operator("Gather")
def gather(node: Node, x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """The elements of an axis at the indices, which may have any shape."""
    place = constant_number(indices)
    if place is None or x.shape[axis] == 0:
        return x.take(indices, axis)
    at = axis % x.ndim  # an element at a known place is a slice
    return x.select(at, int(place)).reshape((*x.shape[:at], *indices.shape, *x.shape[at + 1 :]))


@operator("GatherElements", since=11)
def gather_elements(node: Node, x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """An element for each index: along the axis at the index, elsewhere at the same place."""
    return x.gather(axis, indices)


@operator("GatherND", since=11)
def gather_nd(node: Node, x: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """The elements, or slices, at the places that the vectors of the last axis name."""
    batch, depth = x.shape[:batch_dims], indices.shape[-1]
    indexed, slices = x.shape[: batch_dims + depth], x.shape[batch_dims + depth :]
    places = _flat_places(indices, x.shape[batch_dims : batch_dims + depth])
    if batch_dims:
        count, size = _product(batch), _product(indexed[batch_dims:])
        first = Tensor.arange(count, device=x.device, dtype=dtypes.int64) * size
        places = places + first.reshape((*batch, *(1,) * (places.ndim - batch_dims)))
    rows = x.reshape((_product(indexed), *slices))
    return rows.take(places, 0)


def _flat_places(indices: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Row-major places of the index vectors of the last axis; below zero counts from the end."""
    places: Any = indices.select(-1, 0) * 0 if not sizes else 0
    for i, size in enumerate(sizes):
        index = indices.select(-1, i)
        places = places * size + (index < 0).where(index + size, index)
    return places


def _product(sizes: Any) -> Any:
    count: Any = 1
    for size in sizes:
        count = count * size
    return count


# ---- scatter ----------------------------------------------------------------------------------


@operator("ScatterElements", since=11)
def scatter_elements(
    node: Node,
    x: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    axis: int = 0,
    reduction: str = "none",
) -> Tensor:
    """x with an update for each index: along the axis at the index, elsewhere at its own place."""
    if reduction == "none":
        return x.scatter(axis, indices, updates)
    return x.scatter_reduce(axis, indices, updates, _reduction(node, reduction))


@operator("Scatter", since=9)
def scatter(node: Node, x: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0) -> Tensor:
    """The former name of ScatterElements."""
    return scatter_elements(node, x, indices, updates, axis=axis)


@operator("ScatterND", since=11)
def scatter_nd(
    node: Node, x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none"
) -> Tensor:
    """x with updates at the places that the vectors of the last axis of `indices` name."""
    depth = indices.shape[-1]
    indexed, slices = x.shape[:depth], x.shape[depth:]
    size = _product(slices)
    rows = x.reshape((_product(indexed), size))
    count = _product(indices.shape[:-1])
    places = _flat_places(indices, indexed).reshape((count, 1)).expand((count, size))
    updates = updates.reshape((count, size))
    return scatter_elements(node, rows, places, updates, reduction=reduction).reshape(x.shape)


def _reduction(node: Node, name: str) -> str:
    if name not in _REDUCTIONS:
        raise node.refuse(f"there is no reduction {name!r}", f"none, {', '.join(_REDUCTIONS)}")
    return _REDUCTIONS[name]


@operator("TensorScatter", since=24)
def tensor_scatter(
    node: Node,
    cache: Tensor,
    update: Tensor,
    write_indices: Tensor | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Tensor:
    """A cache with the update written along an axis, from each sample's write index on.

    The mode "circular" continues at the start of the axis.
    """
    if mode not in ("linear", "circular"):
        raise node.refuse(f"there is no mode {mode!r}", "linear or circular")
    axis = axis % cache.ndim
    size, length, rank = cache.shape[axis], update.shape[axis], cache.ndim
    places = Tensor.arange(size, device=cache.device, dtype=dtypes.int64)
    places = places.reshape((-1, *(1,) * (rank - 1 - axis)))
    if write_indices is not None:
        places = places - write_indices.reshape((-1, *(1,) * (rank - 1)))
    if mode == "circular":
        places = places.mod(size)
    is_written = (places >= 0) & (places < length)
    shape = tuple(size if i == axis else n for i, n in enumerate(update.shape))
    source = is_written.where(places, 0).expand(shape)
    return is_written.where(update.gather(axis, source), cache)


# ---- one-hot and selection --------------------------------------------------------------------


@operator("OneHot", since=9, host_inputs=("depth",))
def one_hot(
    node: Node, indices: Tensor, depth: np.ndarray, values: Tensor, *, axis: int = -1
) -> Tensor:
    """`values[1]` at the index along a new axis, else `values[0]`; beyond the axis all are."""
    count = int(depth.reshape(()))
    at = axis % (indices.ndim + 1)
    index = indices.unsqueeze(at)
    index = (index < 0).where(index + count, index)
    places = Tensor.arange(count, device=indices.device)
    places = places.reshape((-1, *(1,) * (indices.ndim - at)))
    return (index == places).where(values[1], values[0])


@operator("NonZero", since=9)
def nonzero(node: Node, x: Tensor) -> Any:
    """The places of elements other than zero, an axis a row. Their number is read on the host."""
    found = np.nonzero(np.atleast_1d(node.host(x.cast(dtypes.bool))))
    return node.tensor(np.stack(found).astype(np.int64))


@operator("Compress", since=9, host_inputs=("condition",))
def compress(node: Node, x: Tensor, condition: np.ndarray, *, axis: int | None = None) -> Tensor:
    """The slices along an axis, or the elements, for which the condition holds."""
    places = node.tensor(np.flatnonzero(condition))
    return x.reshape(-1).take(places, 0) if axis is None else x.take(places, axis)


@operator("Unique", since=11)
def unique(
    node: Node, x: Tensor, *, axis: int | None = None, sorted: int = 1
) -> tuple[Any, Any, Any, Any]:
    """Distinct elements or slices, their first places, the inverse, and counts.

    The number of results follows from the values, so they are computed on the host.
    """
    values, first, inverse, counts = np.unique(
        node.host(x), return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not sorted:  # in the order of the first occurrence
        order = np.argsort(first)
        values = values[order] if axis is None else np.take(values, order, axis)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    places = (node.tensor(each.astype(np.int64)) for each in (first, inverse, counts))
    return (node.tensor(values), *places)  # type: ignore[return-value]


# ---- order ------------------------------------------------------------------------------------


@operator("TopK", since=10, host_inputs=("k",))
def topk(
    node: Node, x: Tensor, k: np.ndarray, *, axis: int = -1, largest: int = 1, sorted: int = 1
) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along an axis, and their places; of equals the first."""
    return _topk(x, node.ints(k)[0], axis, bool(largest))


@operator("TopK")
def topk_by_attribute(node: Node, x: Tensor, *, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The k largest elements along an axis, and their places (opset < 10)."""
    return _topk(x, k, axis, True)


def _topk(x: Tensor, k: int, axis: int, largest: bool) -> tuple[Tensor, Tensor]:
    values, places = x.topk(k, axis, largest)
    return values, places.cast(dtypes.int64)


@operator("ReverseSequence", since=10)
def reverse_sequence(
    node: Node, x: Tensor, sequence_lens: Tensor, *, batch_axis: int = 1, time_axis: int = 0
) -> Tensor:
    """The first elements along the time axis reversed, as many as each sample's length says."""
    shape = tuple(-1 if i == batch_axis else 1 for i in range(x.ndim))
    lengths = sequence_lens.reshape(shape)
    places = Tensor.arange(x.shape[time_axis], device=x.device, dtype=sequence_lens.dtype)
    places = places.reshape(tuple(-1 if i == time_axis else 1 for i in range(x.ndim)))
    source = (places < lengths).where(lengths - 1 - places, places)
    return x.gather(time_axis, source.expand(x.shape))
