"""Sequence helpers, independent of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from weft.base.errors import ArgumentError

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


def prod(values: Iterable[Any]) -> Any:
    """The product; 1 of nothing. Works on whatever `*` works on, symbolic sizes included."""
    return math.prod(values)


def dedup(values: Iterable[H]) -> list[H]:
    """The values without repetitions, each at its first place."""
    return list(dict.fromkeys(values))


def flatten(nested: Iterable[Iterable[T]]) -> list[T]:
    """One level of nesting less."""
    return [item for inner in nested for item in inner]


def partition(values: Iterable[T], holds: Callable[[T], Any]) -> tuple[list[T], list[T]]:
    """Those for which `holds` is true, then the others; order is kept in both."""
    yes: list[T] = []
    no: list[T] = []
    for value in values:
        (yes if holds(value) else no).append(value)
    return yes, no


def argsort(values: Sequence[Any]) -> tuple[int, ...]:
    """Positions in ascending order of their values, stable; of a permutation, its inverse."""
    return tuple(sorted(range(len(values)), key=values.__getitem__))


def all_same(values: Sequence[Any]) -> bool:
    """True where every value equals the first; true of nothing."""
    return all(value == values[0] for value in values)


def get_single(values: Iterable[T]) -> T:
    """The only value there is; ArgumentError where there are none or several."""
    found = list(values)
    if len(found) != 1:
        raise ArgumentError(
            f"expected exactly one value, got {len(found)}",
            asked=f"the single value of {found[:5]!r}{'...' if len(found) > 5 else ''}",
        )
    return found[0]
