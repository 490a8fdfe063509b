"""Distinct elements. They are computed at once: how many there are is not known before.

As the standard has it, NaN is equal to nothing and each one counts, and both zeros are one. Complex
numbers are in the order of their real parts, and of their imaginary parts where those are equal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.array_api.array import Array, as_array, as_indices, index_dtype
from weft.base.dtype import dtypes

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array


def unique_all(x: Array, /) -> UniqueAll:
    """The distinct elements in rising order; where each occurs first; for every element of x its
    place among them; how often each occurs."""
    return _unique(as_array(x))


def unique_counts(x: Array, /) -> UniqueCounts:
    """The distinct elements and how often each occurs."""
    found = _unique(as_array(x))
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Array, /) -> UniqueInverse:
    """The distinct elements and, for every element of x, its place among them."""
    found = _unique(as_array(x))
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Array, /) -> Array:
    """The distinct elements in rising order."""
    return _unique(as_array(x)).values


def _unique(x: Array) -> UniqueAll:
    flat: Any = x.reshape(x.size)
    if x.size == 0:
        nothing = Array.zeros(0, dtype=index_dtype(x.device), device=x.device)
        return UniqueAll(flat, nothing, nothing.reshape(x.shape), nothing)
    # what sorts stably shows the first of equal elements first
    ordered, places = _in_order(flat.detach())
    first: Any = Array.ones(1, dtype=dtypes.bool, device=x.device).cat(ordered[1:] != ordered[:-1])
    group = first.cumsum(0, dtype=dtypes.int32) - 1
    ordered.realize(first, places, group)
    starts = Array.arange(x.size, device=x.device)[first]
    ends: Any = starts[1:].cat(Array.full((1,), x.size, dtype=dtypes.int32, device=x.device))
    inverse = group.zeros_like().scatter(0, places, group).reshape(x.shape)
    indices = (as_indices(each) for each in (places[starts], inverse, ends - starts))
    return UniqueAll(ordered[starts], *indices)


def _in_order(x: Any) -> tuple[Any, Any]:
    """The elements of a vector in rising order, and their places."""
    if not x.is_complex():
        ordered: tuple[Any, Any] = x.sort(0)
        return ordered
    by_imag = x.imag.argsort(0)
    places = by_imag[x.real[by_imag].argsort(0)]
    return x[places], places
