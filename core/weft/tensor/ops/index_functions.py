"""Selection and replacement of elements along an axis, with the names of NumPy and PyTorch.

Nothing here changes self: replacements give a new tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.shape.movement import broadcast_shapes
from weft.tensor.ops.gather_scatter import as_row, from_front, of_own_dtype
from weft.tensor.ops.index_bounds import check_index
from weft.tensor.protocol import TensorT
from weft.tensor.types import ArrayLike

# ---- picking ------------------------------------------------------------------------------


def take(self: TensorT, indices: ArrayLike, axis: int | None = None) -> TensorT:
    """The elements at `indices`, which may have any shape: of an axis, or of all elements in
    row-major order for None.

    >>> Tensor([[1, 2], [3, 4]]).take(Tensor([0, 3])).tolist()
    [1, 4]
    >>> Tensor([[1, 2], [3, 4]]).take(Tensor([1]), axis=1).tolist()
    [[2], [4]]
    """
    index = _indices(self, "take", indices)
    if axis is None:
        return self.ravel()[index]
    return self[(slice(None),) * self._resolve_dim(axis) + (index,)]


def _indices(self: TensorT, what: str, index: Any) -> TensorT:
    index = self.__class__._as_tensor(index, self)
    if not dtypes.is_int(index._uop.dtype):
        raise DTypeError(f"{what} needs integers", asked=f"an index of {index._uop.dtype!r}")
    return index


def take_along_dim(self: TensorT, indices: ArrayLike, dim: int | None = None) -> TensorT:
    """`gather`, where the other axes broadcast; of the flattened tensor for dim None.

    >>> x = Tensor([[3, 1, 2]])
    >>> x.take_along_dim(x.argsort(1), 1).tolist()
    [[1, 2, 3]]
    """
    index = _indices(self, "take_along_dim", indices)
    if dim is None:
        return self.ravel().gather(0, index.ravel())
    at = self._resolve_dim(dim)
    if len(index.shape) != len(self.shape):
        raise ShapeError(
            "the index has another number of axes",
            asked=f"take_along_dim of {self.shape} with an index of {index.shape}",
        )

    def without(shape: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(1 if i == at else s for i, s in enumerate(shape))

    common = broadcast_shapes(without(self.shape), without(index.shape))

    def widened(x: Any) -> Any:
        return x._expanded(tuple(x.shape[i] if i == at else s for i, s in enumerate(common)))

    return widened(self).gather(dim, widened(index))


def index_select(self: TensorT, dim: int, index: ArrayLike) -> TensorT:
    """The elements of an axis at the places in a vector.

    >>> Tensor([[1, 2], [3, 4]]).index_select(1, Tensor([1, 1])).tolist()
    [[2, 2], [4, 4]]
    """
    index = _indices(self, "index_select", index)
    if len(index.shape) > 1:
        raise ShapeError(
            "index_select takes a vector", asked=f"an index of {index.shape}", try_="take"
        )
    return self.take(index.atleast_1d(), dim) if self.shape else self._wrap(self._uop)


def argwhere(self: TensorT) -> TensorT:
    """`nonzero`.

    >>> Tensor([0, 3, 4]).argwhere().tolist()
    [[1], [2]]
    """
    return self.nonzero()


def bucketize(self: TensorT, boundaries: ArrayLike, right: bool = False) -> TensorT:
    """How many of the sorted `boundaries` lie below each element, with `right` those equal to
    it too; int32.

    >>> Tensor([1, 5, 9]).bucketize(Tensor([1, 5])).tolist()
    [0, 1, 2]
    """
    return self.__class__._as_tensor(boundaries, self).searchsorted(self, right)


# ---- putting ------------------------------------------------------------------------------


def _broadcast_source(
    self: TensorT, what: str, dim: int, index: Any, source: Any
) -> tuple[TensorT, TensorT]:
    """A vector of places as an index for every element of `source`."""
    index, source = _indices(self, what, index), self._as_tensor(source, self)
    at = self._resolve_dim(dim)
    if len(index.shape) > 1:
        raise ShapeError(f"{what} takes a vector", asked=f"an index of {index.shape}")
    index = index.atleast_1d()
    if len(self.shape) <= 1:  # what has no axes is one element along one
        source = as_row(source)
    shape = self.shape or (1,)
    wanted = tuple(index.shape[0] if i == at else s for i, s in enumerate(shape))
    if source.shape != wanted:
        raise ShapeError(
            "the source has another shape",
            asked=f"{what} of {source.shape} into {self.shape} at {index.shape[0]} places",
            because=f"it has the shape {wanted}",
        )
    along = tuple(-1 if i == at else 1 for i in range(len(shape)))
    return index.reshape(along)._expanded(wanted), source


def index_add(
    self: TensorT, dim: int, index: ArrayLike, source: ArrayLike, *, alpha: float = 1
) -> TensorT:
    """self with alpha * source added at the places of an axis that a vector names.

    >>> Tensor([1, 1, 1]).index_add(0, Tensor([0, 0]), Tensor([2, 3])).tolist()
    [6, 1, 1]
    """
    index, source = _broadcast_source(self, "index_add", dim, index, source)
    source = source if alpha == 1 else source * alpha
    return self.scatter_reduce(dim, index, source, "sum")


def index_copy(self: TensorT, dim: int, index: ArrayLike, source: ArrayLike) -> TensorT:
    """self with source in place of the elements of an axis that a vector names.

    >>> Tensor([1, 1, 1]).index_copy(0, Tensor([2, 0]), Tensor([2, 3])).tolist()
    [3, 1, 2]
    """
    index, source = _broadcast_source(self, "index_copy", dim, index, source)
    return self.scatter(dim, index, source)


def index_fill(self: TensorT, dim: int, index: ArrayLike, value: ArrayLike) -> TensorT:
    """self with one value in place of the elements of an axis that a vector names.

    >>> Tensor([1, 1, 1]).index_fill(0, Tensor([0, 2]), 5).tolist()
    [5, 1, 5]
    """
    index = _indices(self, "index_fill", index).atleast_1d()
    at = self._resolve_dim(dim)
    size = self.shape[at] if self.shape else 1
    check_index(index, size, at, self.shape)
    places = self.__class__.arange(size, device=self.device).unsqueeze(-1)
    named = (from_front(index, size) == places).any(-1)
    shape = tuple(size if i == at else 1 for i in range(len(self.shape)))
    dtype = self._uop.dtype
    value = self.__class__._as_tensor(value, self, dtype=dtype)
    return named.reshape(shape).where(value, self).cast(dtype)


def index_put(
    self: TensorT, indices: Sequence[Any], values: ArrayLike, accumulate: bool = False
) -> TensorT:
    """self with `values` at x[indices]; of several at one place the last, or with `accumulate`
    all of them added.

    >>> Tensor([1, 1, 1]).index_put((Tensor([0, 2]),), Tensor([5, 6])).tolist()
    [5, 1, 6]
    """
    if not isinstance(indices, (tuple, list)):
        indices = (indices,)
    indices = tuple(indices)
    # the position of each element, selected by the same indices
    count = self.numel()
    places = self.__class__.arange(count, device=self.device).reshape(self.shape)
    index = places[indices]
    values = self.__class__._as_tensor(values, self, self._uop.dtype)
    return self.put(index, values._expanded(index.shape), accumulate)


def put(self: TensorT, index: ArrayLike, source: ArrayLike, accumulate: bool = False) -> TensorT:
    """self with `source` at places counted in row-major order; of several at one place the
    last, or with `accumulate` all of them added.

    >>> Tensor([[1, 1], [1, 1]]).put(Tensor([3]), Tensor([5])).tolist()
    [[1, 1], [1, 5]]
    """
    index = _indices(self, "put", index).ravel()
    source = of_own_dtype(self, self.__class__._as_tensor(source, self)).ravel()
    if index.shape != source.shape:
        raise ShapeError(
            "there is a value for each place",
            asked=f"put of {source.shape[0]} values at {index.shape[0]} places",
        )
    flat = self.ravel()
    if not accumulate:
        return flat.scatter(0, index, source).reshape(self.shape)
    return flat.scatter_reduce(0, index, source, "sum").reshape(self.shape)


def scatter_add(self: TensorT, dim: int, index: ArrayLike, src: ArrayLike) -> TensorT:
    """`scatter_reduce` by sums.

    >>> Tensor([1, 1]).scatter_add(0, Tensor([0, 0]), Tensor([2, 3])).tolist()
    [6, 1]
    """
    return self.scatter_reduce(dim, index, src, "sum")


def masked_scatter(self: TensorT, mask: ArrayLike, source: ArrayLike) -> TensorT:
    """self with the elements of `source`, in order, where a mask holds.

    >>> mask = Tensor([True, False, True])
    >>> Tensor([1, 1, 1]).masked_scatter(mask, Tensor([5, 6])).tolist()
    [5, 1, 6]
    """
    source = of_own_dtype(self, self.__class__._as_tensor(source, self)).ravel()
    mask = self._as_tensor(mask, self)
    shape = broadcast_shapes(self.shape, mask.shape)
    mask = mask.cast(dtypes.bool)._expanded(shape)
    if 0 in shape or source.shape[0] == 0:
        return self._expanded(shape)
    position = mask.ravel().cumsum(0, dtype=dtypes.int32).contiguous() - 1
    return mask.where(source[position].reshape(shape), self._expanded(shape))


def select_scatter(self: TensorT, src: ArrayLike, dim: int, index: int) -> TensorT:
    """self with `src` in place of the element at `index` of an axis.

    >>> Tensor([[1, 1], [1, 1]]).select_scatter(Tensor([5, 6]), 0, 1).tolist()
    [[1, 1], [5, 6]]
    """
    src, index = self._as_tensor(src, self), whole(index, "index")
    if src.shape != self.select(dim, index).shape:
        raise ShapeError(
            "the source has another shape",
            asked=f"select_scatter of {src.shape} into {self.shape} along {dim}",
        )
    at = self._resolve_dim(dim)
    size = self.shape[at]
    places = self.__class__.arange(size, device=self.device) == index % size
    chosen = places.reshape(tuple(size if i == at else 1 for i in range(len(self.shape))))
    return chosen.where(of_own_dtype(self, src).unsqueeze(at), self)


def vander(self: TensorT, N: int | None = None, increasing: bool = False) -> TensorT:
    """Powers of vectors (..., n), from the highest to 0, or rising: (..., n, N); N None is n.

    >>> Tensor([1, 2, 3]).vander(increasing=True).tolist()
    [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    """
    N = None if N is None else whole(N, "N", least=0)
    if not self.shape:
        raise ArgumentError(
            "powers are of a vector",
            asked=f"vander({N}) of {self.shape}",
            because="the powers of each element are a row of the matrix",
            try_="x.reshape(1).vander(N)",
        )
    count = self.shape[-1] if N is None else N
    if count == 0:
        return self.__class__.zeros(*self.shape, 0, dtype=self._uop.dtype, device=self.device)
    columns = [self.ones_like()]
    for _ in range(count - 1):
        columns.append(columns[-1] * self)
    columns = columns if increasing else columns[::-1]
    return columns[0].stack(*columns[1:], dim=-1)


def cartesian_prod(self: TensorT, *args: ArrayLike) -> TensorT:
    """Every choice of an element from each of several vectors, as rows.

    >>> Tensor([1, 2]).cartesian_prod(Tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    grids = self.meshgrid(*args)
    if len(grids) == 1:
        return grids[0]
    return grids[0].stack(*grids[1:], dim=-1).reshape((-1, len(grids)))
