"""Statistics with the names of NumPy and PyTorch: without NaN, weighted, histograms, modes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from weft.base.arguments import whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import least_upper_float
from weft.tensor import Tensor

__all__ = [
    "average", "digitize", "histogram", "mode", "msort", "nanargmax", "nanargmin", "nanmax",
    "nanmin", "nanpercentile", "nanprod", "nanstd", "nanvar", "percentile", "ptp",
]  # fmt: skip


class Histogram(NamedTuple):
    """What `histogram` returns."""

    hist: Tensor
    bin_edges: Tensor


class Mode(NamedTuple):
    """What `mode` returns."""

    values: Tensor
    indices: Tensor


def ptp(a: Tensor, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """Peak to peak: the largest element less the smallest.

    >>> weft.ptp(Tensor([[3, 1], [2, 9]]), 1).tolist()
    [2, 7]
    """
    found: Tensor = a.max(axis, keepdims) - a.min(axis, keepdims)
    return found


def average(a: Tensor, axis: int | None = None, weights: Tensor | None = None) -> Tensor:
    """The mean, of each element as often as its weight says.

    :param weights: with the shape of `a`, or a vector along `axis`.
    :raises ShapeError: for other weights.

    >>> weft.average(Tensor([1.0, 2.0]), weights=Tensor([3.0, 1.0])).item()
    1.25
    """
    if weights is None:
        return a.mean(axis)
    w: Any = weights
    if w.shape != a.shape:
        if axis is None or w.ndim != 1 or w.shape[0] != a.shape[axis]:
            raise ShapeError(
                "weights have the shape of the elements, or are a vector along the axis",
                asked=f"average of shape {a.shape} along axis {axis} with weights of {w.shape}",
            )
        place = a._resolve_dim(axis)
        w = w.reshape(*[-1 if number == place else 1 for number in range(a.ndim)])
        w = w.expand(a.shape)
    found: Tensor = (a * w).sum(axis) / w.sum(axis)
    return found


def percentile(
    a: Tensor, q: Any, axis: int | None = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """What `q` percent of the elements lie below: `quantile` of q / 100.

    >>> weft.percentile(Tensor([1.0, 2.0, 3.0]), 25).item()
    1.5
    """
    return a.quantile(_shares(q, a), axis, keepdims, method)


def nanpercentile(
    a: Tensor, q: Any, axis: int | None = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """`percentile` of what is not NaN.

    >>> weft.nanpercentile(Tensor([1.0, float("nan"), 2.0]), 50).item()
    1.5
    """
    return a.nanquantile(_shares(q, a), axis, keepdims, method)


def _shares(q: Any, a: Tensor) -> Any:
    if isinstance(q, int | float):
        return q / 100
    return Tensor._as_tensor(q, a).cast(least_upper_float(a.dtype)) / 100


# ---- without NaN --------------------------------------------------------------------------------


def _without_nan(a: Any, instead: float) -> Any:
    return a.isnan().where(instead, a) if dtypes.is_float(a.dtype) else a


def _nan_where_all_are(a: Any, found: Any, axis: Any, keepdims: bool) -> Any:
    """NaN where there was nothing else."""
    if not dtypes.is_float(a.dtype):
        return found
    return a.isnan().all(axis, keepdims).where(math.nan, found)


def nanmax(a: Tensor, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """The largest element that is not NaN; NaN where all are.

    >>> weft.nanmax(Tensor([1.0, float("nan"), 3.0])).item()
    3.0
    """
    found = _without_nan(a, -math.inf).max(axis, keepdims)
    return _nan_where_all_are(a, found, axis, keepdims)  # type: ignore[no-any-return]


def nanmin(a: Tensor, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """The smallest element that is not NaN; NaN where all are.

    >>> weft.nanmin(Tensor([1.0, float("nan"), 3.0])).item()
    1.0
    """
    found = _without_nan(a, math.inf).min(axis, keepdims)
    return _nan_where_all_are(a, found, axis, keepdims)  # type: ignore[no-any-return]


def nanargmax(a: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the largest element that is not NaN; 0 where all are.

    >>> weft.nanargmax(Tensor([1.0, float("nan"), 3.0])).item()
    2
    """
    return _without_nan(a, -math.inf).argmax(axis, keepdims)  # type: ignore[no-any-return]


def nanargmin(a: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the smallest element that is not NaN; 0 where all are.

    >>> weft.nanargmin(Tensor([1.0, float("nan"), 3.0])).item()
    0
    """
    return _without_nan(a, math.inf).argmin(axis, keepdims)  # type: ignore[no-any-return]


def nanprod(a: Tensor, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """The product of what is not NaN.

    >>> weft.nanprod(Tensor([2.0, float("nan"), 3.0])).item()
    6.0
    """
    return _without_nan(a, 1.0).prod(axis, keepdims)  # type: ignore[no-any-return]


def nanvar(
    a: Tensor,
    axis: int | tuple[int, ...] | None = None,
    correction: float = 0,
    keepdims: bool = False,
) -> Tensor:
    """The variance of what is not NaN.

    :param correction: subtracted from the number of elements.

    >>> weft.nanvar(Tensor([1.0, float("nan"), 3.0])).item()
    1.0
    """
    x: Any = a.cast(least_upper_float(a.dtype))
    there = ~x.isnan()
    count = there.cast(x.dtype).sum(axis, keepdims)
    off = there.where(x - x.nanmean(axis, True), 0.0)
    rest = count - correction
    found: Tensor = (rest > 0).where(off.square().sum(axis, keepdims) / rest, math.nan)
    return found


def nanstd(
    a: Tensor,
    axis: int | tuple[int, ...] | None = None,
    correction: float = 0,
    keepdims: bool = False,
) -> Tensor:
    """The standard deviation of what is not NaN: see `nanvar`.

    >>> weft.nanstd(Tensor([1.0, float("nan"), 3.0])).item()
    1.0
    """
    return nanvar(a, axis, correction, keepdims).sqrt()


# ---- counts -------------------------------------------------------------------------------------


def digitize(x: Tensor, bins: Tensor, right: bool = False) -> Tensor:
    """The number of the bin of each element: i where bins[i - 1] <= x < bins[i].

    :param bins: edges, rising or falling. :param right: whether bins[i - 1] < x <= bins[i].

    >>> weft.digitize(Tensor([0.5, 3.0]), Tensor([0.0, 1.0, 2.0])).tolist()
    [1, 3]
    """
    edges: Any = bins
    if edges.ndim != 1 or not edges.shape[0]:
        raise ShapeError("edges are a vector", asked=f"digitize with bins of shape {edges.shape}")
    falls = edges[0] > edges[-1]
    flat: Any = x.flatten()
    rising = edges.searchsorted(flat, right=not right)
    falling = edges.shape[0] - edges.flip(0).searchsorted(flat, right=right)
    found: Tensor = falls.where(falling, rising).reshape(x.shape)
    return found


def histogram(
    input: Tensor,
    bins: int | Tensor = 10,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """How many elements lie in each bin, and the edges of the bins.

    The last bin has its right edge. Elements outside are not counted.

    :param bins: their number, or their rising edges. :param range: the first and the last edge;
        the smallest and the largest element by default; 0 and 1 without elements.
    :param weight: counted instead of 1. :param density: divide by the total and the widths.
    :raises ArgumentError: for no bins.

    >>> weft.histogram(Tensor([1.0, 2.0, 1.0]), bins=4, range=(0.0, 3.0)).hist.tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    x: Any = input.cast(least_upper_float(input.dtype)).flatten()
    if isinstance(bins, Tensor):
        edges: Any = bins.cast(x.dtype)
    else:
        count = whole(bins, "bins")
        if count < 1:
            raise ArgumentError("a histogram has a bin", asked=f"histogram(bins={count})")
        if range is None and x.shape[0]:
            low, high = x.min(), x.max()
        else:
            ends = (0.0, 1.0) if range is None else range
            low, high = Tensor(ends, dtype=x.dtype, device=x.device).unbind()
        edges = _edges(low, high, count)
    place = edges.searchsorted(x, right=True) - 1
    last = edges.shape[0] - 2
    place = (x == edges[-1]).where(last, place)
    terms = x.ones_like() if weight is None else weight.flatten().cast(x.dtype)
    numbers = Tensor.arange(last + 1, device=x.device).unsqueeze(1)
    hist = (place == numbers).where(terms, 0.0).sum(1)
    if density:
        hist = hist / hist.sum() / edges.diff()
    return Histogram(hist, edges)


def _edges(low: Any, high: Any, count: int) -> Any:
    """Equal bins; of half a unit to each side where all elements are equal."""
    equal = low == high
    low, high = equal.where(low - 0.5, low), equal.where(high + 0.5, high)
    steps = Tensor.arange(count + 1, dtype=low.dtype, device=low.device) / count
    return low * (1 - steps) + high * steps


def msort(input: Tensor) -> Tensor:
    """Sorted along the first axis.

    >>> weft.msort(Tensor([[3, 1], [2, 4]])).tolist()
    [[2, 1], [3, 4]]
    """
    found: Tensor = input.sort(0)[0]
    return found


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Mode:
    """The most frequent value along an axis, the smallest of several; and its last index.

    >>> values, indices = weft.mode(Tensor([3, 1, 3, 1, 2]))
    >>> values.item(), indices.item()
    (1, 3)
    """
    x: Any = input.movedim(dim, -1)
    counts = (x.unsqueeze(-1) == x.unsqueeze(-2)).cast(dtypes.int32).sum(-1)
    often = counts == counts.max(-1, keepdim=True)
    order = x.argsort(-1)
    rank = often.gather(-1, order)  # the frequent ones by value
    first = order.gather(-1, rank.cast(dtypes.int32).argmax(-1, keepdim=True))
    values = x.gather(-1, first)
    places = Tensor.arange(x.shape[-1], device=x.device)
    indices = (x == values).where(places, -1).max(-1, keepdim=True)
    found = [each if keepdim else each.squeeze(-1) for each in (values, indices)]
    if keepdim:
        found = [each.movedim(-1, dim) for each in found]
    return Mode(*found)
