"""Argument checks: convert arguments to the type that a function uses, or refuse them.

Each function returns the value in one type, or raises an ArgumentError (a WrongKind for a type that
means nothing) that names the argument, the given value, and a value that works.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, cast

from weft.base.errors import ArgumentError, OutOfRange, UnknownChoice, WrongKind
from weft.base.interrupts import let_through

DEEPEST = 64
"""The deepest nesting of lists of numbers: the largest number of axes of a NumPy array."""


def index_of(value: Any) -> int | None:
    """The int that `value` is, a NumPy one included; None for what is no whole number."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def shown(value: Any) -> str:
    """`value` as an error quotes it: on one line, and no longer than a line.

    What has no repr (it raises, or lists are nested too deep for one) is quoted by its type.
    """
    if isinstance(value, int) and value.bit_length() > 192:  # Python refuses to spell longer ones
        return f"{'-' if value < 0 else ''}2**{value.bit_length() - 1} or more"
    try:
        line = " ".join(repr(value).split())
    except Exception as error:
        let_through(error)
        line = f"<{kind_of(value)} without a repr>"
    return line if len(line) <= 60 else line[:57] + "..."


def no_tensor(name: str, args: tuple[Any, ...]) -> WrongKind:
    """The error for a function whose first argument is no tensor. name: inside of `weft`."""
    return WrongKind(
        f"the input of {name} is a tensor",
        asked=f"weft.{name}({', '.join(map(shown, args))})",
        because=f"that is {kind_of(args[0])}" if args else "there is none",
        try_=f"weft.{name}(Tensor(x))",
    )


def is_deep(value: Any, most: int = DEEPEST) -> bool:
    """Whether lists, tuples and dicts are nested more than `most` deep, or hold themselves."""
    level: list[Any] = [value]
    for _ in range(most + 1):
        inner: dict[int, Any] = {}
        for container in level:
            if isinstance(container, (list, tuple, dict)):
                own = isinstance(container, dict)
                items = cast("Iterable[Any]", container.values() if own else container)
                inner.update((id(item), item) for item in items)
        if not inner:
            return False
        level = list(inner.values())
    return True


def too_deep(value: Any, what: str, error: RecursionError) -> ArgumentError | RecursionError:
    """The error for a RecursionError while nested containers are read.

    If they are not deep, the caller has used up the stack, and the given error is returned.
    """
    if not is_deep(value):
        return error
    return ArgumentError(
        f"{what} are nested too deep",
        asked=f"{what} of more than {DEEPEST} levels, or lists that hold themselves",
        because="each level takes a part of Python's stack, which is used up",
        try_="fewer levels: a flat list, or a dict with long keys",
    )


def kind_of(value: Any) -> str:
    """The type of `value` with its article: "an int", "a list"."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def whole(value: Any, what: str, least: int | None = None) -> int:
    """A whole number. :raises WrongKind: for anything else; ArgumentError: below `least`."""
    number = index_of(value)
    if number is None:
        equal = isinstance(value, float) and value.is_integer()
        raise WrongKind(
            f"{what} is a whole number",
            asked=f"{what}={shown(value)}",
            because=f"that is {kind_of(value)}",
            try_=f"{what}={int(value)}" if equal else None,
        )
    if least is not None and number < least:
        raise ArgumentError(
            f"{what} is at least {least}",
            asked=f"{what}={number}",
            because=f"{number} is below that",
            try_=f"a whole number from {least} on",
        )
    return number


def real(value: Any, what: str) -> int | float:
    """A number. :raises WrongKind: for anything else; OutOfRange: for an int beyond all floats."""
    number = index_of(value)
    if number is not None:
        if number.bit_length() > 1023:
            _check_has_float(number, what)
        return number
    if isinstance(value, float):
        return float(value)
    if getattr(value, "shape", None) == () and isinstance(value.item(), bool | int | float):
        return value.item()  # NumPy's numbers, and arrays of one
    raise WrongKind(
        f"{what} is a number",
        asked=f"{what}={shown(value)}",
        because=f"that is {kind_of(value)}",
    )


def _check_has_float(number: int, what: str) -> None:
    try:
        float(number)
    except OverflowError:
        raise OutOfRange(
            f"{what} is a number that a float can represent",
            asked=f"{what}={shown(number)}",
            because="the largest float of Python is 1.8e308",
        ) from None


def flag(value: Any, what: str, hint: str | None = None) -> bool:
    """A bool, NumPy's included. :raises WrongKind: for anything else; `hint` is what to try."""
    if isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise WrongKind(
        f"{what} is True or False",
        asked=f"{what}={shown(value)}",
        because=f"that is {kind_of(value)}",
        try_=hint or f"{what}=True or {what}=False, by name",
    )


def text(value: Any, what: str, example: str) -> str:
    """A string. :raises WrongKind: for anything else; `example` is what to try."""
    if isinstance(value, str):
        return value
    raise WrongKind(
        f"{what} is a text",
        asked=f"{what}={shown(value)}",
        because=f"that is {kind_of(value)}",
        try_=example,
    )


def choice(value: Any, what: str, choices: tuple[str, ...]) -> str:
    """One of some words. :raises UnknownChoice: for any other value."""
    if isinstance(value, str) and value in choices:
        return value
    listed = [repr(each) for each in choices]
    raise UnknownChoice(
        f"there is no {what} {shown(value)}",
        asked=f"{what}={shown(value)}",
        try_=", ".join(listed[:-1]) + f" or {listed[-1]}" if len(listed) > 1 else listed[0],
    )
