"""Embedding bags: sums, means and maxima of rows of a weight, bag by bag.

The indices of all bags are one list, and `offsets` has the start of each bag. Every position of the
list gets the number of its bag, by which rows are added or compared.

Source: PyTorch, `aten/src/ATen/native/EmbeddingBag.cpp` (the schema and the meaning of results).
"""

from __future__ import annotations

from weft.nn.functional.embedding_bags import added, maxima, numbers_of_bags
from weft.tensor import Tensor
from weft.torch.registry import converter

_SUM, _MEAN, _MAX = 0, 1, 2
Results = tuple[Tensor, Tensor, Tensor, Tensor]


@converter("aten::_embedding_bag", "aten::_embedding_bag_forward_only")
def embedding_bag(
    weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False,
    mode: int = _SUM, sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int = -1,
) -> Results:  # fmt: skip
    """Return the reduced bags, the bag of each index, the sizes of bags and the rows of maxima.

    Rows at `padding_idx` do not count. The value of an empty bag is 0.
    """
    count = offsets.shape[0] - int(include_last_offset)
    bags = numbers_of_bags(indices.shape[0], offsets[:count])
    counted = indices != padding_idx
    zeros = Tensor.zeros(count, dtype=indices.dtype, device=weight.device)
    sizes = zeros.index_add(0, bags, counted.cast(indices.dtype))
    rows = weight[indices]
    if mode == _MAX:
        reduced, places = maxima(rows, bags, counted, count)
        return reduced, bags.cast(indices.dtype), sizes, indices[places] * (sizes > 0).unsqueeze(1)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    reduced = added(counted.unsqueeze(1).where(rows, 0.0), bags, count)
    if mode == _MEAN:
        reduced = reduced / sizes.maximum(1).unsqueeze(1).cast(weight.dtype)
    return reduced, bags.cast(indices.dtype), sizes, sizes.zeros_like()


@converter("aten::_embedding_bag_backward")
def embedding_bag_backward(
    grad: Tensor, indices: Tensor, offsets: Tensor, offset2bag: Tensor, bag_size: Tensor,
    maximum_indices: Tensor, num_weights: int, scale_grad_by_freq: bool, mode: int, sparse: bool,
    per_sample_weights: Tensor | None = None, padding_idx: int = -1,
) -> Tensor:  # fmt: skip
    """Add the gradients of bags at the rows that they read; `offset2bag` may be empty."""
    return embedding_bag_dense_backward(
        grad, indices, numbers_of_bags(indices.shape[0], offsets), bag_size, maximum_indices,
        num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx,
    )  # fmt: skip


@converter("aten::_embedding_bag_dense_backward")
def embedding_bag_dense_backward(
    grad: Tensor, indices: Tensor, offset2bag: Tensor, bag_size: Tensor, maximum_indices: Tensor,
    num_weights: int, scale_grad_by_freq: bool, mode: int,
    per_sample_weights: Tensor | None = None, padding_idx: int = -1,
) -> Tensor:  # fmt: skip
    """Add the gradients of bags at the rows that they read."""
    if mode == _MAX:
        return _maxima_backward(grad, maximum_indices, bag_size, num_weights)
    rows = grad[offset2bag]
    if mode == _MEAN:
        rows = rows / bag_size[offset2bag].maximum(1).unsqueeze(1).cast(grad.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if scale_grad_by_freq:
        ones = Tensor.ones(indices.shape[0], dtype=grad.dtype, device=grad.device)
        frequency = added(ones, indices, num_weights)
        rows = rows / frequency[indices].unsqueeze(1)
    if padding_idx >= 0:
        rows = (indices == padding_idx).unsqueeze(1).where(0.0, rows)
    return added(rows, indices, num_weights)


@converter("aten::_embedding_bag_per_sample_weights_backward")
def per_sample_weights_backward(
    grad: Tensor, weight: Tensor, indices: Tensor, offsets: Tensor, offset2bag: Tensor, mode: int,
    padding_idx: int = -1,
) -> Tensor:  # fmt: skip
    """Return the products of the rows and the gradients of their bags."""
    bags = offset2bag if offset2bag.shape[0] else numbers_of_bags(indices.shape[0], offsets)
    products = (grad[bags] * weight[indices]).sum(-1)
    return (indices == padding_idx).where(0.0, products)


def _maxima_backward(grad: Tensor, rows: Tensor, bag_size: Tensor, num_weights: int) -> Tensor:
    """Add each element of a gradient at the row of its maximum."""
    given = (bag_size > 0).unsqueeze(1).where(grad, 0.0)
    zeros = Tensor.zeros(num_weights, grad.shape[1], dtype=grad.dtype, device=grad.device)
    return zeros.scatter_add(0, rows, given)
