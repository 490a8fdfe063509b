"""Elements at indices: reading them, and results with other values there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import dtypes
from weft.tensor import Tensor
from weft.torch.operators.shapes import along, bounds
from weft.torch.registry import converter
from weft.uop import UOp


@converter("aten::index.Tensor", "aten::_unsafe_index.Tensor")
def index(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """Return the elements at tensors of indices; None takes an axis whole."""
    return x[_items(indices)]


def _items(indices: Sequence[Tensor | None]) -> tuple[Any, ...]:
    return tuple(
        slice(None) if each is None else each.cast(dtypes.bool) if _is_mask(each) else each
        for each in indices
    )


def _is_mask(each: Tensor | None) -> bool:
    return each is not None and each.dtype in (dtypes.bool, dtypes.uint8)


@converter("aten::index_put", "aten::_unsafe_index_put")
def index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return x with values at tensors of indices, instead of its elements or added to them."""
    values = values.cast(x.dtype)
    first = indices[0]
    if len(indices) == 1 and first is not None and _is_mask(first) and values.numel() == 1:
        mask = first.cast(dtypes.bool).reshape(*first.shape, *(1,) * (x.ndim - first.ndim))
        return mask.where(x + values if accumulate else values, x)
    if not any(_is_mask(each) for each in indices):
        order = [axis for axis, each in enumerate(indices) if each is not None]
        if order != list(range(len(order))):  # indexed axes first
            return _put_inner(x, indices, values, accumulate, order)
        indices = [each for each in indices if each is not None]
    return x.index_put(list(_items(indices)), values, accumulate)


def _put_inner(
    x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool, order: list[int]
) -> Tensor:
    """Write where axes before the indexed ones are taken whole: with the indexed axes in front."""
    rest = [axis for axis in range(x.ndim) if axis not in order]
    moved = [*order, *rest]
    picked = x[_items(indices)]
    values = values.expand(tuple(picked.shape))
    adjacent = order == list(range(order[0], order[0] + len(order)))
    if adjacent:  # the axes of the indices are where the indexed axes were
        count = picked.ndim - len(rest)
        at = order[0]
        values = values.permute(*range(at, at + count), *range(at), *range(at + count, picked.ndim))
    chosen = [indices[axis] for axis in order]
    written = x.permute(*moved).index_put(chosen, values, accumulate)
    return written.permute(*(moved.index(axis) for axis in range(x.ndim)))


@converter("aten::index_select")
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements of an axis at indices."""
    return x.index_select(dim, index) if x.ndim else x


@converter("aten::gather")
def gather(x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return for each index the element of x there along an axis."""
    if not x.ndim or not index.ndim:
        wide = index if index.ndim else index.reshape(1)
        return gather(x if x.ndim else x.reshape(1), dim, wide).reshape(index.shape)
    return x.gather(dim, index)


@converter("aten::embedding")
def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Return the rows of a weight at indices."""
    return weight[indices]


@converter("aten::embedding_dense_backward")
def embedding_backward(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """Add gradients at the rows that an embedding read."""
    rows = indices.reshape(-1)
    grad = grad.reshape(rows.shape[0], grad.shape[-1])
    if scale_grad_by_freq:
        counts = Tensor.zeros(num_weights, dtype=grad.dtype, device=grad.device)
        counts = counts.index_add(0, rows, Tensor.ones_like(rows, dtype=grad.dtype))
        grad = grad / counts[rows].unsqueeze(1)
    if padding_idx >= 0:
        grad = (rows == padding_idx).unsqueeze(1).where(0, grad)
    zeros = Tensor.zeros(num_weights, grad.shape[1], dtype=grad.dtype, device=grad.device)
    return zeros.index_add(0, rows, grad)


@converter("aten::scatter.src")
def scatter(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return x with the elements of a source at indices of an axis."""
    return x.scatter(dim, index, src)


@converter("aten::scatter.value")
def scatter_value(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return x with a number at indices of an axis."""
    return x.scatter(dim, index, value)


@converter("aten::scatter_add")
def scatter_add(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return x with the elements of a source added at indices of an axis."""
    return x.scatter_add(dim, index, src)


@converter("aten::scatter_reduce.two")
def scatter_reduce(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return x combined with the elements of a source at indices of an axis."""
    return x.scatter_reduce(dim, index, src, reduce, include_self)


@converter("aten::index_reduce")
def index_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return x combined with the slices of a source at indices of an axis."""
    shape = tuple(-1 if axis == dim % x.ndim else 1 for axis in range(x.ndim))
    places = index.reshape(shape).expand(source.shape)
    return x.scatter_reduce(dim, places, source, reduce, include_self)


@converter("aten::select_scatter")
def select_scatter(x: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return x with another element of an axis."""
    return _written(x, src.unsqueeze(dim), dim, [index % x.shape[dim]])


@converter("aten::slice_scatter")
def slice_scatter(
    x: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None,
    step: int = 1,
) -> Tensor:  # fmt: skip
    """Return x with other elements of an axis, from start to end."""
    size = x.shape[dim]
    if not isinstance(size, UOp) or step != 1:
        return _written(x, src, dim, range(size)[start:end:step])
    start, end = bounds(size, start, end)
    before, after = (x[along(x, dim, each)] for each in (slice(0, start), slice(end, size)))
    return _joined((before, src.cast(x.dtype), after), dim)


def _written(x: Tensor, src: Tensor, dim: int, places: Sequence[int]) -> Tensor:
    """Return x with the elements of a source at equally spaced places of an axis."""
    if not places:
        return x
    dim %= x.ndim
    src = src.cast(x.dtype)
    step = places[1] - places[0] if len(places) > 1 else 1
    if step == 1:
        before, after = (slice(0, places[0]), slice(places[-1] + 1, x.shape[dim]))
        return _joined((x[along(x, dim, before)], src, x[along(x, dim, after)]), dim)
    index = Tensor(list(places), dtype=dtypes.int32, device=x.device)
    return x.index_copy(dim, index, src)


def _joined(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Return the tensors that are not empty, joined along an axis."""
    parts = [each for each in tensors if isinstance(each.shape[dim], UOp) or each.shape[dim]]
    return parts[0] if len(parts) == 1 else Tensor.cat(*parts, dim=dim)


@converter("aten::masked_scatter")
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return x with the elements of a source, in order, where the mask holds."""
    return x.masked_scatter(mask, source)


@converter("aten::nonzero")
def nonzero(x: Tensor) -> Tensor:
    """Return the positions of all elements that are not zero. The values are computed for it."""
    found = x.nonzero()
    return found if isinstance(found, Tensor) else found[0]


@converter("aten::_local_scalar_dense", "aten::item")
def item(x: Tensor) -> Any:
    """Return the number in a tensor of one element. The value is computed for it."""
    return x.item()


@converter("aten::sym_size.int", "aten::sym_size")
def size(x: Tensor, dim: int | None = None) -> Any:
    """Return the size of an axis, or of all."""
    return tuple(x.shape) if dim is None else x.shape[dim]


@converter("aten::sym_numel")
def numel(x: Tensor) -> int:
    """Return the number of elements."""
    return x.numel()


@converter("aten::sym_storage_offset")
def storage_offset(x: Tensor) -> int:
    """Return zero: each tensor is the whole of its memory."""
    return 0


@converter("aten::sym_stride.int")
def stride(x: Tensor, dim: int) -> int:
    """Return the stride of an axis in row-major memory."""
    steps = 1
    for size in x.shape[dim % x.ndim + 1 :]:
        steps *= max(size, 1)
    return steps
