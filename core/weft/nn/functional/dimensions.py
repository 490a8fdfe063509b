"""Functions of one, two and three spatial axes from one definition."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

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
