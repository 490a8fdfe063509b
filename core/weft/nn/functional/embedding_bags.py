"""Embedding bags: sums, means and maxima of rows of a weight, bag by bag.

The indices of all bags are one list, and `offsets` has the start of each bag. Every position of the
list gets the number of its bag, by which rows are added or compared.
"""

from __future__ import annotations

from weft.base.arguments import choice, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.embedding import look_up
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["embedding_bag"]


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sum, mean or maximum of the rows of weight (rows, features) in each bag:
    (bags, features).

    input: integers (bags, size), or those of all bags in one row with `offsets`, the start of each
    bag; include_last_offset: their last element is the end of the last bag. per_sample_weights: a
    factor for each row, where mode is "sum". padding_idx: rows that do not count. An empty bag
    gives 0. max_norm, norm_type, scale_grad_by_freq: see `nn.Embedding`. `sparse` has no effect.

    >>> weight = Tensor([[1.0], [2.0], [4.0]])
    >>> nn.functional.embedding_bag(Tensor([0, 2, 1]), weight, Tensor([0, 2])).tolist()
    [[2.5], [2.0]]
    """
    indices = tensor_of(input, "embedding_bag")
    weight = tensor_of(weight, "embedding_bag", "weight")
    choice(mode, "mode", ("sum", "mean", "max"))
    _check(indices, offsets, mode, per_sample_weights)
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    flat = indices.reshape(-1)
    rows = look_up(flat, weight, None, max_norm, norm_type, scale_grad_by_freq)
    counted = flat.ones_like(dtype=dtypes.bool) if padding_idx is None else flat != padding_idx
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    if offsets is None:
        rows = rows.reshape(*indices.shape, weight.shape[1])
        return _reduced_rows(rows, counted.reshape(indices.shape), mode)
    count = offsets.shape[0] - int(include_last_offset)
    numbers = numbers_of_bags(indices.shape[0], offsets[:count])
    if mode == "max":
        return maxima(rows, numbers, counted, count)[0]
    sums = added(counted.unsqueeze(1).where(rows, 0), numbers, count)
    if mode == "sum":
        return sums
    sizes = added(counted.cast(sums.dtype), numbers, count)
    return sums / sizes.maximum(1).unsqueeze(1)


def _check(indices: Tensor, offsets: Tensor | None, mode: str, factors: Tensor | None) -> None:
    if indices.ndim != (2 if offsets is None else 1) or (offsets is not None and offsets.ndim != 1):
        raise ShapeError(
            "the indices are (bags, size), or one row with offsets",
            asked=f"embedding_bag of {indices.shape} with offsets of "
            f"{None if offsets is None else offsets.shape}",
        )
    if factors is not None and (mode != "sum" or factors.shape != indices.shape):
        raise ArgumentError(
            "these rows cannot be weighted",
            asked=f"per_sample_weights of {factors.shape} with mode={shown(mode)}",
            because=f"there is a factor for each of the indices {indices.shape}, in a sum",
            try_='mode="sum"',
        )


def _reduced_rows(rows: Tensor, counted: Tensor, mode: str) -> Tensor:
    """Bags of one size: (bags, size, features) reduced along axis 1."""
    inside = counted.unsqueeze(-1)
    if mode == "max":
        if not rows.shape[1]:
            return rows.sum(1)
        return inside.any(1).where(inside.where(rows, -float("inf")).max(1), 0)
    sums = inside.where(rows, 0).sum(1)
    return sums if mode == "sum" else sums / counted.sum(1).maximum(1).unsqueeze(1).cast(sums.dtype)


def numbers_of_bags(count: int, offsets: Tensor) -> Tensor:
    """The number of the bag of each position: how many bags start at it or before, less one."""
    places = Tensor.arange(count, device=offsets.device)
    started = offsets.cast(dtypes.int32).unsqueeze(0) <= places.unsqueeze(1)
    return started.sum(1, dtype=dtypes.int32) - 1


def added(rows: Tensor, places: Tensor, count: int) -> Tensor:
    """(count, ...) zeros, to which each row is added at its place."""
    zeros = Tensor.zeros(count, *rows.shape[1:], dtype=rows.dtype, device=rows.device)
    return zeros.index_add(0, places, rows)


def maxima(rows: Tensor, bags: Tensor, counted: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The maxima of the rows of each bag, and their positions in the list."""
    if not rows.shape[0]:
        zeros = Tensor.zeros(count, rows.shape[1], dtype=rows.dtype, device=rows.device)
        return zeros, zeros.cast(dtypes.int32)
    numbers = Tensor.arange(count, device=rows.device).unsqueeze(1)
    inside = ((bags.unsqueeze(0) == numbers) & counted.unsqueeze(0)).unsqueeze(2)
    chosen = inside.where(rows.unsqueeze(0), -float("inf"))
    return inside.any(1).where(chosen.max(1), 0), chosen.argmax(1)
