"""Distinct elements, and places in sorted rows."""

from __future__ import annotations

from typing import Any, Literal, overload

from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.base.promotion import least_upper_dtype
from weft.tensor.ops import radix_sort
from weft.tensor.ops.radix_sort import DIGITS
from weft.tensor.ops.statistics import least_and_greatest
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike

_COUNTED = 1 << 22
"""Up to so many comparisons are made at once rather than by halving."""
_DENSE = 4
"""The largest range of integers, per element, that is sorted by counting every value."""


@overload
def unique(
    self: TensorT, return_inverse: Literal[False] = False, return_counts: Literal[False] = False
) -> TensorT: ...
@overload
def unique(
    self: TensorT, return_inverse: Literal[True], return_counts: Literal[False] = False
) -> tuple[TensorT, TensorT]: ...
@overload
def unique(
    self: TensorT, return_inverse: Literal[False] = False, *, return_counts: Literal[True]
) -> tuple[TensorT, TensorT]: ...
@overload
def unique(
    self: TensorT, return_inverse: Literal[True], return_counts: Literal[True]
) -> tuple[TensorT, TensorT, TensorT]: ...
def unique(
    self: TensorT, return_inverse: bool = False, return_counts: bool = False
) -> TensorT | tuple[TensorT, ...]:
    """The distinct elements in rising order, (k,); computed at once, since k is not known.

    With return_inverse also the index of each element among them (int32, the shape of self),
    with return_counts also how often each occurs (int32, (k,)). NaN counts as equal to itself.

    >>> Tensor([3, 1, 3]).unique().tolist()
    [1, 3]
    >>> values, counts = Tensor([3, 1, 3]).unique(return_counts=True)
    >>> counts.tolist()
    [1, 2]
    """
    flat = self.reshape(-1)
    if flat.shape[0] == 0:
        nothing = self.__class__.zeros(0, dtype=dtypes.int32, device=self.device)
        found: list[Any] = [flat, nothing.reshape(self.shape), nothing]
        return _asked(found, return_inverse, return_counts)
    if (counted := _by_counting(flat.detach())) is not None:
        start, place, often = counted
        chosen = often.nonzero().reshape(-1)
        found = [(chosen.cast(start._uop.dtype) + start).cast(self._uop.dtype), None, None]
        if return_inverse:
            rank = (often > 0).cumsum(0, dtype=dtypes.int32) - 1
            found[1] = rank.contiguous()[place].reshape(self.shape)
        if return_counts:
            found[2] = often[chosen]
        return _asked(found, return_inverse, return_counts)
    ordered, places = _ordered(flat.detach(), return_inverse)
    fresh = ordered[1:] != ordered[:-1]
    if dtypes.is_float(self.dtype):
        fresh = fresh & ~(ordered[1:].isnan() & ordered[:-1].isnan())
    first = self.__class__.ones(1, dtype=dtypes.bool, device=self.device).cat(fresh)
    found = [None, None, None]
    if return_inverse:
        group = (first.cumsum(0, dtype=dtypes.int32) - 1).contiguous()
        found[1] = group.zeros_like().scatter(0, places, group).reshape(self.shape)
        first.realize(ordered, found[1])
    else:
        first.realize(ordered)
    if return_counts:
        starts = self.__class__.arange(flat.shape[0], device=self.device)[first]
        last = starts.full_like(flat.shape[0]).shrink(((0, 1),))
        found[0], found[2] = ordered[starts], starts[1:].cat(last) - starts
    else:
        found[0] = ordered[first]
    return _asked(found, return_inverse, return_counts)


def _by_counting(self: TensorBase) -> tuple[Any, Any, Any] | None:
    """The least integer of a vector, how far above it each element is, and how often each of
    the values from there on occurs, computed.

    None where there are too many values for the elements: those are sorted instead.
    """
    size, dtype = int(self.shape[0]), self._uop.dtype
    if dtypes.is_float(dtype) or size < DIGITS or not radix_sort.counts(self.device):
        return None
    low, high = least_and_greatest(self)
    span = int(high.item()) - int(low.item()) + 1
    if span > min(_DENSE * size, 1 << 30):
        return None
    # a length that is a power of two: of few lengths there are few kernels
    values = self.__class__.arange(1 << (span - 1).bit_length(), device=self.device)
    wide = dtypes.int32 if dtype.itemsize < 4 else dtype  # which holds all differences
    start = low.cast(wide)
    place = (self.cast(wide) - start).cast(dtypes.int32)
    often = (values.unsqueeze(-1) == place).sum(-1, dtype=dtypes.int32)
    return start, place, often.realize()


def _ordered(self: TensorBase, with_places: bool) -> tuple[Any, Any]:
    """All elements in order, and their former indices if requested."""
    counted = not with_places and not dtypes.is_float(self.dtype)
    if counted and self.shape[0] >= DIGITS and radix_sort.counts(self.device):
        return radix_sort.values_by_digits(self), None
    return self.sort()


def _asked(found: list[Any], inverse: bool, counts: bool) -> Any:
    chosen = [found[0], *found[1:2] * bool(inverse), *found[2:] * bool(counts)]
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


def searchsorted(self: TensorT, values: ArrayLike, right: bool = False) -> TensorT:
    """Where each of `values` would be inserted to keep self in rising order; int32.

    self (n,), or (..., n) with values (..., m). Before equal elements, or with `right` behind
    them. NaN belongs to the end. By counting, or for many by halving.
    :raises ShapeError: where the batches differ.

    >>> Tensor([1, 3, 5]).searchsorted(Tensor([0, 3, 9])).tolist()
    [0, 1, 3]
    >>> Tensor([1, 3, 5]).searchsorted(Tensor([3]), right=True).tolist()
    [2]
    """
    given: Any = self._as_tensor(values, self)
    if not self.shape or (self.shape[:-1] and self.shape[:-1] != given.shape[:-1]):
        raise ShapeError(
            "sorted rows and values do not fit together",
            asked=f"searchsorted of {given.shape} in {self.shape}",
            because="there is one sorted row, or one for each row of values",
            try_="values.reshape(...) to the same leading axes",
        )
    dtype = least_upper_dtype(self.dtype, given.dtype)
    rows, given = self.detach().cast(dtype), given.detach().cast(dtype)
    size = int(self.shape[-1])
    shared = len(self.shape) == 1
    if size * given.numel() <= _COUNTED:
        line = rows if shared else rows.unsqueeze(-2)
        return _precedes(line, given.unsqueeze(-1), right).sum(-1, dtype=dtypes.int32)
    low: Any = given.zeros_like(dtype=dtypes.int32)
    span = 1 << size.bit_length()
    while span > 1:
        span //= 2
        middle = low + span
        at = (middle - 1).minimum(size - 1).contiguous()
        element = rows[at] if shared else rows.gather(-1, at)
        inside = (middle <= size) & _precedes(element, given, right)
        low = inside.where(middle, low).contiguous()
    return low


def isin(self: TensorT, elements: ArrayLike) -> TensorT:
    """Which elements of self occur in `elements`; bool, the shape of self.

    >>> Tensor([1, 2, 3]).isin(Tensor([3, 1])).tolist()
    [True, False, True]
    """
    others: Any = self._as_tensor(elements, self).reshape(-1)
    return (self.unsqueeze(-1) == others).any(-1)


def _precedes(a: Any, value: Any, right: bool) -> Any:
    """Whether a comes before the position of `value`: a < value or a <= value; NaN is largest."""
    before = a <= value if right else a < value
    if not dtypes.is_float(a.dtype):
        return before
    last = value.isnan() if right else value.isnan() & ~a.isnan()
    return before | last
