"""Functions of one, two and three spatial axes from one definition, and checks of the axes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from weft.base.arguments import shown, whole
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor import Tensor

P = ParamSpec("P")
R = TypeVar("R")

Sizes = int | Sequence[int]
"""One number for all spatial axes, or one for each."""

_WORDS = {
    1: {"{axes}": "axis", "{sizes}": "kernel"},
    2: {"{axes}": "two axes", "{sizes}": "height, width"},
    3: {"{axes}": "three axes", "{sizes}": "depth, height, width"},
}


def over_axes(
    function: Callable[Concatenate[int, P], R],
) -> tuple[Callable[P, R], Callable[P, R], Callable[P, R]]:
    """`function`, whose first argument is the number of spatial axes, for 1, 2 and 3 of them.

    Its name is that of the three with `n` for the number, and a `_` in front. Its docstring has
    `{axes}` and `{sizes}` where they differ.
    """
    return _over(1, function), _over(2, function), _over(3, function)


def _over(axes: int, function: Callable[Concatenate[int, P], R]) -> Callable[P, R]:
    @wraps(function)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(axes, *args, **kwargs)

    name = function.__name__.removeprefix("_").removesuffix("nd")
    made.__name__ = made.__qualname__ = f"{name}{axes}d"
    text = function.__doc__ or ""
    for word, own in _WORDS[axes].items():
        text = text.replace(word, own)
    made.__doc__ = text
    signature = inspect.signature(function)
    described: Any = made
    described.__signature__ = signature.replace(parameters=[*signature.parameters.values()][1:])
    del described.__wrapped__
    return made


def per_axis(value: Any, axes: int, what: str, least: int = 1) -> tuple[int, ...]:
    """One number for each axis, of one or of as many. :raises ArgumentError: for another count."""
    given = tuple(value) if isinstance(value, Sequence) else (value,)
    sizes = tuple(whole(n, what, least=least) for n in given * (axes if len(given) == 1 else 1))
    if len(sizes) != axes:
        raise ArgumentError(
            f"{what} needs one number, or one per spatial axis",
            asked=f"{what}={shown(value)}",
            because=f"there are {axes} spatial axes",
            try_=f"give {axes} numbers",
        )
    return sizes


def check_space(who: str, x: Tensor, axes: int, weight: Tensor | None = None) -> None:
    """Check that an input has `axes` spatial axes. :raises ShapeError: for another number."""
    if x.ndim not in (axes + 1, axes + 2) or (weight is not None and weight.ndim != axes + 2):
        with_weight = "" if weight is None else f" with a weight of {weight.shape}"
        raise ShapeError(
            f"{who} has {axes} spatial axes",
            asked=f"{who} of {x.shape}{with_weight}",
            because=f"the input has {axes + 2} axes, (batch, channels, ...), or no batch"
            + ("" if weight is None else f", the weight {axes + 2}"),
            try_="add the axes that are missing, x.unsqueeze(0)",
        )
