"""Arguments that are given one by one, or as one sequence."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import is_deep, kind_of, shown
from weft.base.errors import ArgumentError, WrongKind
from weft.tensor.protocol import TensorBase


def as_tuple(first: Any, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments given one by one or as one sequence."""
    if rest or not isinstance(first, (tuple, list)):
        return (first, *rest)
    return tuple(first)


def all_of(first: Any, rest: tuple[Any, ...], what: str) -> list[Any]:
    """Tensors given one by one, or as one sequence.

    :raises ArgumentError: for none, or for both.
    """
    if isinstance(first, (tuple, list)) and len(first) == 1 and is_deep(first, 1):
        raise ArgumentError(
            f"{what} takes tensors one by one, or one sequence of them",
            asked=f"{what} of {shown(first)}",
            because="this is a sequence of sequences",
            try_=f"Tensor.{what}(a, b, c) or Tensor.{what}([a, b, c])",
        )
    if not isinstance(first, (tuple, list, TensorBase)):
        raise WrongKind(
            f"{what} is of tensors",
            asked=f"{what} of {shown(first)}",
            because=f"that is {kind_of(first)}",
            try_=f"Tensor.{what}([a, b, c])",
        )
    if not isinstance(first, (tuple, list)):
        if len(rest) == 1 and isinstance(rest[0], (tuple, list)):
            rest = tuple(rest[0])
        return [first, *(first._as_tensor(x, first) for x in rest)]
    if rest or not first:
        raise ArgumentError(
            f"{what} takes tensors one by one, or one sequence of them",
            asked=f"{what} of a sequence of {len(first)}, and {len(rest)} more",
            try_=f"Tensor.{what}(a, b, c) or Tensor.{what}([a, b, c])",
        )
    return all_of(first[0], tuple(first[1:]), what)
