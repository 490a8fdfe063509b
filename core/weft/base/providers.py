"""Functions of higher layers that lower layers call: dependency inversion.

The package `weft`, which knows all layers, enters them when it is imported. A module that calls one
names no module above it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PROVIDED: dict[str, Callable[..., Any]] = {}
"""By name."""


def provide(name: str, function: Callable[..., Any]) -> None:
    """Enter a function.

    >>> provide("answer", lambda: 42)
    >>> provided("answer")()
    42
    """
    PROVIDED[name] = function


def provided(name: str) -> Callable[..., Any]:
    """The function of that name. :raises KeyError: if none was entered."""
    return PROVIDED[name]
