"""Gathering and scattering along one axis, with an index for every element."""

from __future__ import annotations

from typing import Any

from weft.autograd import RECOMPUTE
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.tensor.ops.index_bounds import check_index
from weft.tensor.ops.transcendental import value_with_derivative
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike
from weft.uop import Ops, sint
from weft.uop.symbolic.sint import fold, high_of, resolve


def from_front(index: Any, size: sint) -> Any:
    """As int32 (int64 for large axes), what is below zero counted from the end."""
    kind = dtypes.int64 if high_of(size) > dtypes.int32.max else dtypes.int32
    if dtypes.is_unsigned(index._uop.dtype):
        wide = index.cast(dtypes.int64)
        if index._uop.dtype is dtypes.uint64:
            wide = (wide < 0).where(size, wide)  # what int64 cannot hold is out of range as well
        return wide if kind is dtypes.int64 else (wide < size).where(wide, size).cast(kind)
    if index._uop.dtype is dtypes.int64 and kind is dtypes.int32:
        # what int32 cannot hold is out of range, and must stay so
        index = index.clamp(-size - 1, size).cast(kind)
    else:
        index = index.cast(kind)
    return (index < 0).where(index + size, index)


def as_row(x: Any) -> Any:
    """A tensor without axes as one element along an axis; others as they are."""
    return x if x.shape else x.reshape(1)


def gather(self: TensorT, dim: int, index: ArrayLike) -> TensorT:
    """out[i][j] = self[index[i][j]][j] (for dim 0): an index for every element of the result.

    Without axes self and index count as one element along dim 0.
    :raises ShapeError: if `index` has another rank, or is larger along another axis.
    :raises IndexingError: for an index beyond the axis, where that is known.

    >>> Tensor([[1, 2], [3, 4]]).gather(1, Tensor([[1, 0], [0, 0]])).tolist()
    [[2, 1], [3, 3]]
    """
    index = self.__class__._as_tensor(index, self)
    if not self.shape or (not index.shape and len(self.shape) == 1):
        return as_row(self).gather(dim, as_row(index)).reshape(index.shape)
    at, index = _checked_index(self, "gather", dim, index)
    size = self.shape[at]
    window = tuple((0, s) if i != at else None for i, s in enumerate(index.shape))
    x = self.shrink(window)
    rank = len(x.shape)
    x = x.permute(*(i for i in range(rank) if i != at), at)
    x = x.reshape((*x.shape[:at], 1, *x.shape[at:]))
    places = self.__class__.arange(size, device=self.device)
    chosen = (from_front(index, size).unsqueeze(-1) == places).where(x, False)
    return chosen._reduce(Ops.ADD, -1, False)


def _checked_index(self: TensorT, what: str, dim: int, index: Any) -> tuple[int, TensorT]:
    at = self._resolve_dim(dim)
    index = self.__class__._as_tensor(index, self)
    if not dtypes.is_int(index._uop.dtype):
        raise DTypeError(f"{what} needs integers", asked=f"an index of {index._uop.dtype!r}")
    fits = len(index.shape) == len(self.shape) and all(
        i == at or resolve(n <= s) for i, (n, s) in enumerate(zip(index.shape, self.shape))
    )
    if not fits:
        raise ShapeError(
            "the index does not fit",
            asked=f"{what} along axis {dim} of {self.shape} with an index of {index.shape}",
            because="both need as many axes, and beside that axis the index is no larger",
            try_="x[index] takes an index of any shape",
        )
    check_index(index, self.shape[at], at, self.shape)
    return at, index


def scattered(self: TensorBase, dim: int, index: Any, src: Any) -> tuple[Any, Any, int]:
    """(values, hits, N): the axes of self and a last one of N terms; which of them go where."""
    if len(self.shape) == 1:
        index, src = as_row(self.__class__._as_tensor(index, self)), as_row(src)
    at, index = _checked_index(self, "scatter", dim, index)
    if any(resolve(n > s, default=False) for n, s in zip(index.shape, src.shape)):
        if 0 in index.shape:  # nothing is written
            src = self.zeros(index.shape, dtype=src._uop.dtype, device=self.device)
            return scattered(self, dim, index, src)
        raise ShapeError(
            "the index is larger than what is written",
            asked=f"scatter of {src.shape} with an index of {index.shape}",
        )
    rank, count = len(self.shape), index.shape[at]
    order = [i for i in range(rank) if i != at] + [at]
    src = src.shrink(tuple((0, n) for n in index.shape)).permute(*order)
    index = from_front(index, self.shape[at]).permute(*order)
    pads = tuple((0, fold(self.shape[i] - s)) for i, s in zip(order[:-1], src.shape[:-1]))
    if any(more != 0 for _, more in pads):
        src = src.pad((*pads, None))
        index = (index + 1).pad((*pads, None)) - 1  # what is padded points nowhere
    along = tuple(self.shape[at] if i == at else 1 for i in range(rank + 1))
    places = self.__class__.arange(self.shape[at], device=self.device).reshape(along)
    return src.unsqueeze(at), index.unsqueeze(at) == places, count


def scatter(
    self: TensorT, dim: int, index: ArrayLike, src: ArrayLike, reduce: str | None = None
) -> TensorT:
    """self with src written where `index` says, along an axis; the last write counts.

    `reduce` "add" or "multiply" combines with what is there instead. Without axes self, index
    and src count as one element along dim 0.

    >>> Tensor.zeros(4).scatter(0, Tensor([3, 1]), Tensor([5.0, 6.0])).tolist()
    [0.0, 6.0, 0.0, 5.0]
    >>> Tensor.zeros(3).scatter(0, Tensor([1, 1]), 2.0, reduce="add").tolist()
    [0.0, 4.0, 0.0]
    """
    if reduce not in (None, "add", "multiply"):
        raise ArgumentError(
            f"scatter does not reduce by {reduce!r}",
            asked=f"scatter(reduce={reduce!r})",
            try_='None, "add" or "multiply"; scatter_reduce knows more',
        )
    if reduce is not None:
        src = _source(self, index, src)
        return self.scatter_reduce(dim, index, src, "sum" if reduce == "add" else "prod")
    src = _source(self, index, src)
    if not self.shape:
        return self.reshape(1).scatter(dim, index, src).reshape(())
    values, hits, count = scattered(self, dim, index, src)
    if count == 0:
        return self._wrap(self._uop)
    order = self.__class__.arange(1, count + 1, device=self.device)
    last = hits.where(order, 0)._reduce(Ops.MAX, -1, True)
    # a one-hot sum over the number of the last write: lowered to an indexed load
    value = (order == last).where(values, False)._reduce(Ops.ADD, -1, False)
    return (last.squeeze(-1) > 0).where(value, self)


def of_own_dtype(self: TensorT, src: Any) -> TensorT:
    src = self._as_tensor(src, self)
    if src._uop.dtype is not self._uop.dtype:
        raise DTypeError(
            "what is scattered has another dtype",
            asked=f"scatter of {src._uop.dtype!r} into {self._uop.dtype!r}",
            because="what is written to keeps its dtype",
            try_=f"src.cast({self._uop.dtype!r})",
        )
    return src


def _source(self: TensorT, index: Any, src: Any) -> TensorT:
    if isinstance(src, TensorBase):
        return of_own_dtype(self, src)
    shape = self.__class__._as_tensor(index, self).shape
    return (
        self.full_like(src).shrink(tuple((0, 0) for _ in shape))
        if 0 in shape
        else (self.__class__.full(shape, src, dtype=self._uop.dtype, device=self.device))
    )


def scatter_reduce(
    self: TensorT,
    dim: int,
    index: ArrayLike,
    src: ArrayLike,
    reduce: str,
    include_self: bool = True,
) -> TensorT:
    """self with src combined into it where `index` says: "sum", "prod", "mean", "amax", "amin".

    Without `include_self` what is written to starts from nothing. The dtype stays: of bool a
    sum is whether one is true, a product whether all are.

    >>> x, index, new = Tensor([1, 1, 1]), Tensor([0, 2, 2]), Tensor([4, 5, 6])
    >>> x.scatter_reduce(0, index, new, "sum").tolist()
    [5, 1, 12]
    >>> x.scatter_reduce(0, index, new, "amax", include_self=False).tolist()
    [4, 1, 6]
    """
    starts = {"sum": 0, "mean": 0, "prod": 1}
    if reduce not in (*starts, "amax", "amin"):
        raise ArgumentError(
            f"scatter_reduce does not reduce by {reduce!r}",
            asked=f"scatter_reduce(reduce={reduce!r})",
            try_='"sum", "prod", "mean", "amax" or "amin"',
        )
    src = of_own_dtype(self, src)
    if not self.shape:
        row = self.reshape(1).scatter_reduce(dim, index, src, reduce, include_self)
        return row.reshape(())
    values, hits, _ = scattered(self, dim, index, src)
    own, dtype = self, self._uop.dtype

    def alone(x: Any) -> Any:
        """In a kernel of its own if self has rows: an indexed store writes an output."""
        return x.contiguous() if len(self.shape) > 1 else x

    def counted() -> Any:
        return alone(hits.cast(dtypes.int32)._reduce(Ops.ADD, -1, False))

    if reduce in ("amax", "amin"):
        negate = (lambda t: -t) if dtypes.is_float(dtype) else (lambda t: ~t)
        as_max = negate if reduce == "amin" else (lambda t: t)  # a minimum is a negated maximum
        found = hits.where(as_max(values), dtype.min)._reduce(Ops.MAX, -1, False)
        if not include_self:
            return (counted() > 0).where(as_max(alone(found)), own)
        mixed = as_max(alone(found.maximum(as_max(own))))
        touched = hits._reduce(Ops.MAX, -1, False)
        # elements without a source keep their value and its derivative
        return value_with_derivative(mixed, touched.where(mixed, own), RECOMPUTE)
    op = Ops.MUL if reduce == "prod" else Ops.ADD
    start = starts[reduce]
    found = hits.where(values, start)._reduce(op, -1, False)
    base = own if include_self else (counted() > 0).where(start, own)
    made = alone(base * found if op is Ops.MUL else base + found)
    if reduce == "mean":
        count = counted() + 1 if include_self else counted().maximum(1)
        made = made // count if dtypes.is_int(dtype) else made / count.cast(dtype)
    return made.cast(dtype)
