"""Checks of the options of optimisers."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import real, shown
from weft.base.errors import ArgumentError

_SHARES = frozenset({"alpha", "rho"})
"""Options that are the weight of a moving average, from 0 to 1."""


def check_options(who: str, **options: float) -> None:
    """:raises ArgumentError: for options below 0, and for weights of averages above 1."""
    for name, value in options.items():
        number = real(value, name)
        if number < 0 or (name in _SHARES and number > 1):
            raise ArgumentError(
                f"{name} is a number from 0" + (" to 1" if name in _SHARES else ""),
                asked=f"{who}({name}={shown(value)})",
            )


def check_differentiable(who: str, differentiable: bool) -> None:
    """:raises ArgumentError: for steps that are to have derivatives."""
    if differentiable:
        raise ArgumentError(
            "a step has no derivative here",
            asked=f"{who}(differentiable=True)",
            because="parameters are assigned, and their history is not recorded",
            try_="computing the new values with weft.autograd.grad",
        )


def checked_betas(who: str, betas: Any) -> tuple[float, float]:
    """The weights of two moving averages. :raises ArgumentError: unless they are two from 0 to
    below 1."""
    if not isinstance(betas, tuple | list) or len(betas) != 2:
        raise ArgumentError(
            "the weights of the two averages are given together",
            asked=f"{who}(betas={shown(betas)})",
            because="there are two of them",
            try_="betas=(0.9, 0.999), or b1=0.9, b2=0.999",
        )
    found = real(betas[0], "b1"), real(betas[1], "b2")
    if not all(0.0 <= beta < 1.0 for beta in found):
        raise ArgumentError(
            "a moving average needs a weight from 0 to below 1",
            asked=f"{who}(betas={shown(betas)})",
            because="with 1 the average would never move",
            try_="(0.9, 0.999) is usual",
        )
    return found
