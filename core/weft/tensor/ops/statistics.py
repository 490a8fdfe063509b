"""Order statistics, counts, differences and norms, by the names that NumPy and PyTorch give them.

`dim` is an axis, several, or None for all elements. Whatever gives the index of an element beside
its value gives both as a named tuple `(values, indices)`, the index as int32.
"""

from __future__ import annotations

import math
from typing import Any, overload

from weft.base.arguments import real, shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.base.promotion import least_upper_float, sum_acc_dtype
from weft.tensor.ops.transcendental import in_floats
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.return_types import MinMax, ValuesIndices
from weft.tensor.types import ArrayLike, Axes, DTypeLike

_INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")


# ---- extremes -----------------------------------------------------------------------------


def amax(self: TensorT, dim: Axes | None = None, keepdim: bool = False) -> TensorT:
    """`max`: the gradient is shared between ties.

    >>> Tensor([[1, 5], [3, 2]]).amax(1).tolist()
    [5, 3]
    """
    return self.max(dim, keepdim)


def amin(self: TensorT, dim: Axes | None = None, keepdim: bool = False) -> TensorT:
    """`min`: the gradient is shared between ties.

    >>> Tensor([[1, 5], [3, 2]]).amin(1).tolist()
    [1, 2]
    """
    return self.min(dim, keepdim)


def aminmax(self: TensorT, dim: Axes | None = None, keepdim: bool = False) -> MinMax[TensorT]:
    """The least and the greatest.

    >>> [x.item() for x in Tensor([3, 1, 2]).aminmax()]
    [1, 3]
    """
    return MinMax(self.min(dim, keepdim), self.max(dim, keepdim))


def least_and_greatest(self: TensorBase) -> tuple[Any, Any]:
    """The least and the greatest, computed at once and together."""
    low, high = self.aminmax()
    return low.realize(high), high


def cummin(self: TensorT, axis: int = 0) -> TensorT:
    """Running minimum.

    >>> Tensor([3, 1, 2]).cummin().tolist()
    [3, 1, 1]
    """
    if dtypes.is_float(self._uop.dtype):
        return -(-self).cummax(axis)
    return ~(~self).cummax(axis)


def _extremes_with_indices(
    self: TensorBase,
    name: str,
    dim: int | None,
    keepdim: bool = False,
    keepdims: bool | None = None,
) -> Any:
    """`max`, `min`, `cummax` or `cummin` along `dim` with the indices of what was chosen: of
    equal elements the first, of running extremes the last."""
    if isinstance(dim, tuple | list):
        raise ArgumentError(
            "elements have an index along one axis",
            asked=f"{name}(dim={shown(dim)})",
            try_=f"x.a{name}(dim) or x.{name}(axis={shown(dim)}) for the values",
        )
    if dim is None:
        return getattr(self, name)()
    dim = whole(dim, "dim")
    if name in ("max", "min"):
        kept = keepdim if keepdims is None else keepdims
        found = getattr(self, name)(axis=dim, keepdim=kept)
        return ValuesIndices(found, getattr(self, f"arg{name}")(axis=dim, keepdim=kept))
    values = getattr(self, name)(axis=dim)
    if not self.shape or 0 in self.shape:
        return ValuesIndices(values, self.zeros_like(dtype=dtypes.int32))
    at = self._resolve_dim(dim)
    places = self.__class__.arange(self.shape[at], dtype=dtypes.int32, device=self.device)
    places = places.reshape(tuple(-1 if i == at else 1 for i in range(self.ndim)))
    chosen = self.detach() == values.detach()
    if dtypes.is_float(self._uop.dtype):
        chosen = chosen | self.detach().isnan()
    return ValuesIndices(values, chosen.where(places, 0).cummax(axis=at))


# ---- order --------------------------------------------------------------------------------


def _at_rank(self: TensorBase, rank: int, dim: int, keepdim: bool) -> ValuesIndices[Any]:
    """The element that is `rank`-th in rising order, and its index."""
    at = self._resolve_dim(dim)
    if not self.shape:
        return ValuesIndices(self, self.zeros_like(dtype=dtypes.int32))
    values, places = self.sort(at)
    found = tuple(x.narrow(at, rank, 1) for x in (values, places))
    return ValuesIndices(*(x if keepdim else x.squeeze(at) for x in found))


def _must_have(self: TensorBase, what: str, dim: int | None) -> int:
    """How many elements there are along `dim`. :raises ArgumentError: for none."""
    size = self.numel() if dim is None else (*self.shape, 1)[self._resolve_dim(dim)]
    if size == 0:
        raise ArgumentError(
            f"there is no {what} of no elements", asked=f"{what} of shape {self.shape}"
        )
    return int(size)


def kthvalue(self: TensorT, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices[TensorT]:
    """The k-th smallest element (from 1), and its index.

    >>> [x.item() for x in Tensor([30, 10, 20]).kthvalue(2)]
    [20, 2]
    """
    size = _must_have(self, "k-th value", dim)
    k = whole(k, "k")
    if not 1 <= k <= size:
        raise ArgumentError(f"k is from 1 to {size}", asked=f"kthvalue({k})")
    return _at_rank(self, k - 1, dim, keepdim)


@overload
def median(self: TensorT, dim: None = None, keepdim: bool = False) -> TensorT: ...
@overload
def median(self: TensorT, dim: int, keepdim: bool = False) -> ValuesIndices[TensorT]: ...
def median(
    self: TensorT, dim: int | None = None, keepdim: bool = False
) -> TensorT | ValuesIndices[TensorT]:
    """The middle of the sorted elements, the lower one of two; NaN where there is one.

    Of all elements for dim None; along an axis the value and its index.

    >>> Tensor([3.0, 1.0, 2.0, 4.0]).median().item()
    2.0
    >>> [x.tolist() for x in Tensor([[3, 1, 2], [6, 5, 4]]).median(1)]
    [[2, 5], [2, 1]]
    """
    if dim is None:
        shape = (1,) * len(self.shape) if keepdim else ()
        if 0 in self.shape and dtypes.is_float(self._uop.dtype):
            return self.__class__.full(shape, math.nan, dtype=self._uop.dtype, device=self.device)
        return self.flatten().median(0)[0].reshape(shape)
    size = _must_have(self, "median", dim)
    value, place = _at_rank(self, (size - 1) // 2, dim, keepdim)
    if not dtypes.is_float(self._uop.dtype):
        return ValuesIndices(value, place)
    missing = self.isnan()
    spoilt = missing.any(dim, keepdim)
    first = missing.cast(dtypes.int32).argmax(dim, keepdim)
    return ValuesIndices(spoilt.where(math.nan, value), spoilt.where(first, place))


@overload
def nanmedian(self: TensorT, dim: None = None, keepdim: bool = False) -> TensorT: ...
@overload
def nanmedian(self: TensorT, dim: int, keepdim: bool = False) -> ValuesIndices[TensorT]: ...
def nanmedian(
    self: TensorT, dim: int | None = None, keepdim: bool = False
) -> TensorT | ValuesIndices[TensorT]:
    """`median` of what is not NaN.

    >>> Tensor([3.0, float("nan"), 1.0]).nanmedian().item()
    1.0
    """
    if dim is None:
        if 0 in self.shape:
            return self.median(keepdim=keepdim)
        middle = self.flatten().nanmedian(0)[0]
        return middle.reshape((1,) * len(self.shape)) if keepdim else middle
    _must_have(self, "median", dim)
    if not dtypes.is_float(self._uop.dtype) or not self.shape:
        return self.median(dim, keepdim)
    at = self._resolve_dim(dim)
    values, places = self.isnan().where(math.inf, self).sort(at)
    count = (~self.isnan()).sum(at, keepdim=True, dtype=dtypes.int32)
    rank = ((count - 1).maximum(0) // 2).cast(dtypes.int32)
    value = (count > 0).where(values.gather(at, rank), math.nan)
    found: list[Any] = [value, places.gather(at, rank)]
    return ValuesIndices(*(x if keepdim else x.squeeze(at) for x in found))


def quantile(
    self: TensorT,
    q: ArrayLike,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
) -> TensorT:
    """What a share q of the elements lies below; NaN where there is one.

    q is a number from 0 to 1, or a vector of them, which becomes the first axis of the result.
    Between two elements it is interpolated: "linear", "lower", "higher", "nearest", "midpoint".

    >>> Tensor([1.0, 2.0, 3.0, 4.0]).quantile(0.5).item()
    2.5
    >>> Tensor([1.0, 2.0, 3.0, 4.0]).quantile([0.0, 1.0]).tolist()
    [1.0, 4.0]
    """
    return _quantile(self, q, dim, keepdim, interpolation, False)


def nanquantile(
    self: TensorT,
    q: ArrayLike,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
) -> TensorT:
    """`quantile` of what is not NaN.

    >>> Tensor([1.0, float("nan"), 3.0]).nanquantile(0.5).item()
    2.0
    """
    return _quantile(self, q, dim, keepdim, interpolation, True)


def _quantile(
    self: TensorBase, q: Any, dim: int | None, keepdim: bool, how: str, skip: bool
) -> Any:
    if dim is None:
        found = _quantile(self.flatten(), q, 0, False, how, skip)
        ones = (1,) * len(self.shape)
        return found.reshape((*found.shape, *ones)) if keepdim else found
    if how not in _INTERPOLATIONS:
        raise ArgumentError(
            f"there is no interpolation {shown(how)}",
            asked=f"quantile(interpolation={shown(how)})",
            try_=", ".join(map(repr, _INTERPOLATIONS)),
        )
    if not dtypes.is_float(self._uop.dtype):
        raise DTypeError(
            "quantiles are of floats", asked=f"quantile of {self._uop.dtype!r}",
            try_="x.float().quantile(...)",
        )  # fmt: skip
    size = _must_have(self, "quantile", dim)
    share = self.__class__._as_tensor(q, self, self._uop.dtype).cast(self._uop.dtype)
    x = self if self.shape else self.reshape((1,))
    last = x.movedim(dim, -1)
    missing = last.isnan()
    ordered = missing.where(math.inf, last).sort(-1)[0]
    kind = last._uop.dtype
    if skip:
        count = (~missing).sum(-1, keepdim=True, dtype=dtypes.int32)
        spoilt, top = count == 0, (count - 1).maximum(0).cast(kind)
    else:
        spoilt, top = missing.any(-1, keepdim=True), float(size - 1)
    flat = share.reshape((-1, *(1,) * len(last.shape)))
    rank = (flat * top)._expanded((flat.shape[0], *last.shape[:-1], 1))
    rows = ordered.unsqueeze(0)._expanded((flat.shape[0], *ordered.shape))
    found = spoilt.unsqueeze(0).where(math.nan, _between(rows, rank, how))
    found = found.movedim(-1, 1 + self._resolve_dim(dim)) if self.shape else found.squeeze(-1)
    found = found if keepdim or not self.shape else found.squeeze(1 + self._resolve_dim(dim))
    return found if share.shape else found.squeeze(0)


# ---- counts -------------------------------------------------------------------------------


def count_nonzero(self: TensorT, dim: Axes | None = None, keepdim: bool = False) -> TensorT:
    """How many are not zero; int64.

    >>> Tensor([[0, 1], [2, 3]]).count_nonzero(1).tolist()
    [1, 2]
    """
    return self.cast(dtypes.bool).sum(dim, keepdim)


def bincount(self: TensorT, weights: ArrayLike | None = None, minlength: int = 0) -> TensorT:
    """How often 0, 1, 2, ... occur in a vector of integers, or the sum of their `weights`.

    The greatest is computed at once: the size of the result depends on it.

    >>> Tensor([0, 2, 2]).bincount().tolist()
    [1, 0, 2]
    """
    if len(self.shape) != 1 or not dtypes.is_int(self._uop.dtype):
        raise DTypeError(
            "bincount is of a vector of integers",
            asked=f"bincount of {self._uop.dtype!r} {self.shape}",
        )
    minlength = whole(minlength, "minlength", least=0)
    low, high = (int(x.item()) for x in least_and_greatest(self)) if self.shape[0] else (0, -1)
    if low < 0:
        raise ArgumentError("what is counted is not below 0", asked=f"bincount with {low}")
    bins = self.__class__.arange(max(high + 1, minlength), device=self.device)
    hits = bins.unsqueeze(-1) == self
    if weights is None:
        few = self.shape[0] <= dtypes.int32.max
        return hits.sum(-1, dtype=dtypes.int32 if few else None).cast(dtypes.int64)
    return hits.where(self.__class__._as_tensor(weights, self), 0).sum(-1)


def histc(self: TensorT, bins: int = 100, min: float = 0, max: float = 0) -> TensorT:
    """How many elements fall into each of `bins` equal parts of [min, max]; those outside do
    not count. With min == max the bounds are those of the elements.

    In the dtype of self for floats, int64 for integers.

    >>> Tensor([1.0, 2.0, 1.0]).histc(4, 0, 3).tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    bins, min, max = whole(bins, "bins"), real(min, "min"), real(max, "max")
    if bins < 1 or min > max:
        raise ArgumentError(
            "at least one bin, and min <= max", asked=f"histc({bins}, {min}, {max})"
        )
    self._no_bool("a histogram")
    own = self._uop.dtype
    counted = own if dtypes.is_float(own) else dtypes.int64
    x = self.flatten().detach().cast(least_upper_float(own))
    low, high = (min, max) if min != max or not x.shape[0] else x.aminmax()
    if not isinstance(low, TensorBase):
        low, high = (x.full_like(end)[:1].sum(dtype=x.dtype) for end in (low, high))
    same = low == high
    low, high = same.where(low - 1, low), same.where(high + 1, high)
    place = ((x - low) * (bins / (high - low))).floor()
    place = (x == high).where(bins - 1, place)
    inside = (x >= low) & (x <= high)
    wanted = self.__class__.arange(bins, device=self.device).unsqueeze(-1)
    hits = (wanted == place) & inside
    return hits.sum(-1, dtype=dtypes.int64).cast(counted)


# ---- sums ---------------------------------------------------------------------------------


def nansum(
    self: TensorT, axis: Axes | None = None, keepdim: bool = False, dtype: DTypeLike | None = None
) -> TensorT:
    """Sum of what is not NaN.

    >>> Tensor([1.0, float("nan"), 2.0]).nansum().item()
    3.0
    """
    floating = dtypes.is_float(self._uop.dtype)
    return (self.isnan().where(0, self) if floating else self).sum(axis, keepdim, dtype)


def nanmean(self: TensorT, axis: Axes | None = None, keepdim: bool = False) -> TensorT:
    """Average of what is not NaN.

    >>> Tensor([1.0, float("nan"), 2.0]).nanmean().item()
    1.5
    """
    own = least_upper_float(self._uop.dtype)
    wide = sum_acc_dtype(own)
    x = self.cast(wide)
    missing = x.isnan()
    count = (~missing).sum(axis, keepdim, dtype=dtypes.int32)
    return (missing.where(0, x).sum(axis, keepdim) / count).cast(own)


def cov(
    self: TensorT,
    correction: float = 1,
    fweights: TensorT | None = None,
    aweights: TensorT | None = None,
) -> TensorT:
    """Covariances of the rows: each row is a variable, its elements the observations. One row: 0-d.

    :param fweights: how often each observation occurs. aweights: how much each one counts.

    >>> Tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).cov().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    if len(self.shape) > 2:
        raise ShapeError("covariances are of rows", asked=f"cov of shape {self.shape}")
    correction = real(correction, "correction")
    x = self.atleast_2d()
    if fweights is None and aweights is None:
        centred = weighted = x - x.mean(1, keepdim=True)
        count: Any = float(max(x.shape[1] - correction, 0))
    else:
        given = [each for each in (fweights, aweights) if each is not None]
        for each in given:
            if tuple(each.shape) != tuple(x.shape[1:]):
                raise ShapeError(
                    "there is one weight for each observation",
                    asked=f"cov of shape {self.shape} with weights of shape {tuple(each.shape)}",
                )
        weights = given[0] if len(given) == 1 else given[0] * given[1]
        total: Any = weights.sum()
        centred = x - (x * weights).sum(1, keepdim=True) / total
        weighted = centred * weights
        lost = 1 if aweights is None else (weights * aweights).sum() / total
        count = (total - lost * correction).maximum(0)
    found = weighted.dot(centred.conj().transpose(0, 1)) / count
    return found if x.shape[0] != 1 else found.reshape(())


def corrcoef(self: TensorT) -> TensorT:
    """Correlations of the rows: covariances over the deviations of both.

    >>> Tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).corrcoef().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    found = self.cov()
    if not found.shape:
        return found / found
    deviations = found.diagonal().sqrt()
    return (found / deviations.unsqueeze(1) / deviations.unsqueeze(0)).clamp(-1, 1)


# ---- differences and norms ----------------------------------------------------------------


def diff(
    self: TensorT,
    n: int = 1,
    dim: int = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> TensorT:
    """Each element minus the one before it, n times; of bool whether they differ.

    >>> Tensor([1, 4, 9]).diff().tolist()
    [3, 5]
    """
    n = whole(n, "n")
    if not self.shape or n < 0:
        raise ShapeError("differences are along an axis", asked=f"diff({n}) of {self.shape}")
    at = self._resolve_dim(dim)
    if n == 0:
        return +self
    x = self if prepend is None else self._as_tensor(prepend, self).cat(self, dim=at)
    x = x if append is None else x.cat(self._as_tensor(append, self), dim=at)
    for _ in range(min(n, x.shape[at])):
        size = x.shape[at]
        later, earlier = x.narrow(at, 1, size - 1), x.narrow(at, 0, size - 1)
        x = later ^ earlier if x.dtype is dtypes.bool else later - earlier
    return x


def norm(
    self: TensorT,
    p: float | str = 2,
    dim: Axes | None = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
) -> TensorT:
    """(sum of |x|**p) ** (1/p) of all elements, or along `dim`: p is a number, "fro" (2) or "nuc".

    p inf is the greatest size, -inf the least, 0 the count of what is not zero. The gradient
    at 0 is 0. "nuc" is the sum of the singular values of matrices, along the two axes of `dim`.

    >>> Tensor([3.0, 4.0]).norm().item()
    5.0
    >>> Tensor([[3.0, -4.0], [1.0, 0.0]]).norm(1, dim=1).tolist()
    [7.0, 1.0]
    """
    p = 2 if p is None or (isinstance(p, str) and p == "fro") else p
    x = self if dtype is None else self.cast(dtype)
    if isinstance(p, str) and p == "nuc":
        return _nuclear_norm(x, dim, keepdim)
    if not isinstance(p, (int, float)):
        raise ArgumentError(
            f"there is no norm {shown(p)}", asked=f"norm({shown(p)})",
            try_='a number, "fro" or "nuc"',
        )  # fmt: skip
    own = least_upper_float(x._uop.dtype)
    x = x.cast(sum_acc_dtype(own))
    if p == 2:
        return x.square().sum(dim, keepdim)._deviation().cast(own)
    if p == 0:
        return (x != 0).cast(x._uop.dtype).sum(dim, keepdim).cast(own)
    x = x.abs()
    if p == math.inf and 0 in x.shape:
        return x.sum(dim, keepdim).cast(own)  # the size of nothing is 0
    if abs(p) == math.inf:
        return (x.max(dim, keepdim) if p > 0 else x.min(dim, keepdim)).cast(own)
    if p == 1:
        return x.sum(dim, keepdim).cast(own)
    powers = x.pow(p)
    if p < 1:  # a power without a derivative at 0 counts as constant there
        powers = (x == 0).where(math.inf if p < 0 else 0.0, (x == 0).where(1, x).pow(p))
    total = powers.sum(dim, keepdim)
    nothing = total == 0
    if p > 0:
        return nothing.where(total, nothing.where(1, total).pow(1 / p)).cast(own)
    endless = total == math.inf
    root = (nothing | endless).where(1, total).pow(1 / p)
    return endless.where(0.0, nothing.where(math.inf, root)).cast(own)


def _nuclear_norm(x: Any, dim: Axes | None, keepdim: bool) -> Any:
    """The sum of the singular values of matrices along two axes, which are all by default."""
    axes = tuple(range(len(x.shape))) if dim is None else tuple(x._resolve_dims(dim))
    if len(axes) != 2:
        raise ShapeError(
            "a nuclear norm is one of matrices",
            asked=f'norm("nuc", dim={dim!r}) of {x.shape}',
            because=f"that is along {len(axes)} axes",
            try_="dim=(-2, -1) for the last two",
        )
    total = x.movedim(axes, (-2, -1)).svdvals().sum(-1)
    return total.unsqueeze(min(axes)).unsqueeze(max(axes)) if keepdim else total


@in_floats
def dist(self: TensorT, other: ArrayLike, p: float = 2) -> TensorT:
    """The norm of self - other.

    >>> Tensor([1.0, 1.0]).dist(Tensor([4.0, 5.0])).item()
    5.0
    """
    return (self - other).norm(p)


def normalize(self: TensorT, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> TensorT:
    """Divided by its norm along `dim`, which counts as `eps` where it is less.

    >>> Tensor([[3.0, 4.0]]).normalize().tolist()
    [[0.6, 0.8]]
    """
    return self / self.norm(p, dim, keepdim=True).clamp(min_=eps)


def _between(rows: Any, rank: Any, how: str) -> Any:
    """Elements of sorted rows at places that are no whole numbers."""
    size = rows.shape[-1]
    low = rank.floor()

    def picked(place: Any) -> Any:
        return rows.gather(-1, place.cast(dtypes.int32).clamp(0, size - 1))

    if how == "nearest":
        return picked(rank.round())
    if how == "lower":
        return picked(low)
    if how == "higher":
        return picked(rank.ceil())
    left, right = picked(low), picked(rank.ceil())
    share = 0.5 * (rank.ceil() - low) if how == "midpoint" else rank - low
    # between two that are alike nothing is to be found, infinities above all
    return (left == right).where(left, left + (right - left) * share)
