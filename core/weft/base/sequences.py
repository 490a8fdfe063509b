"""Sequence helpers, independent of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def prod(values: Iterable[Any]) -> Any:
    """The product of the items; 1 if there are none. Items may be any type with `*`."""
    return math.prod(values)


def flatten(nested: Iterable[Iterable[T]]) -> list[T]:
    """One level of nesting less."""
    return [item for inner in nested for item in inner]


def partition(values: Iterable[T], holds: Callable[[T], Any]) -> tuple[list[T], list[T]]:
    """The values for which `holds` is true, and the others, in their order."""
    yes: list[T] = []
    no: list[T] = []
    for value in values:
        (yes if holds(value) else no).append(value)
    return yes, no


def argsort(values: Sequence[Any]) -> tuple[int, ...]:
    """Positions in ascending order of their values, stable; of a permutation, its inverse."""
    return tuple(sorted(range(len(values)), key=values.__getitem__))
