"""Record validation: check the fields of what a plugin declares where it is made, so that an error
names the plugin.

in: a record and what each of its fields must be    out: nothing, or ArgumentError naming the field
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

from weft.base.arguments import kind_of, shown
from weft.base.errors import ArgumentError


class Rule(NamedTuple):
    """The rule of a field: a predicate, its description, and the part of a wrong value to show."""

    holds: Callable[[Any], bool]
    words: str
    wrong: Callable[[Any], Any] = lambda value: value


def whole(least: int = 0, optional: bool = False) -> Rule:
    """A whole number of at least ``least``; or None, where that means something."""
    words = f"a whole number from {least} on" + (", or None" if optional else "")
    return Rule(lambda value: (optional and value is None) or _is_whole(value, least), words)


def number() -> Rule:
    """A number above 0."""
    return Rule(
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value > 0,
        "a number above 0",
    )


def sizes(count: int) -> Rule:
    """So many whole numbers from 1 on; or None."""

    def holds(value: Any) -> bool:
        if not isinstance(value, tuple):
            return value is None
        numbers = cast("tuple[Any, ...]", value)
        return len(numbers) == count and all(_is_whole(number, 1) for number in numbers)

    return Rule(holds, f"{count} whole numbers from 1 on, or None")


def one(kind: type, optional: bool = False) -> Rule:
    """An instance of a class; or None, where that means something."""
    words = kind.__name__ + (" or None" if optional else "")
    return Rule(lambda value: isinstance(value, kind) or (optional and value is None), words)


def function(optional: bool = False) -> Rule:
    """A function; or None, where that means something."""

    def holds(value: Any) -> bool:
        return callable(value) or (optional and value is None)

    return Rule(holds, "a function" + (" or None" if optional else ""))


def each(holds: Callable[[Any], bool], words: str) -> Rule:
    """A collection of which every element passes."""

    def all_hold(value: Iterable[Any]) -> bool:
        return all(map(holds, value))

    def first_wrong(value: Iterable[Any]) -> Any:
        return next(element for element in value if not holds(element))

    return Rule(all_hold, words, first_wrong)


def check(record: object, **fields: Rule) -> None:
    """Look at fields of a record. :raises ArgumentError: for the first that is something else."""
    for name, kind in fields.items():
        value = getattr(record, name)
        if not kind.holds(value):
            owner, wrong = type(record).__name__, kind.wrong(value)
            raise ArgumentError(
                f"{name} of {owner} is {kind.words}",
                asked=f"{owner}({name}={shown(value)})",
                because=f"{shown(wrong)} is {kind_of(wrong)}",
            )


def freeze(record: object, **how: Callable[[Any], Any]) -> None:
    """Replace fields of a frozen record by what these functions make of them: a plugin writes plain
    sets, dicts and lists. :raises ArgumentError: where one cannot."""
    for name, make in how.items():
        value = getattr(record, name)
        try:
            object.__setattr__(record, name, make(value))
        except (TypeError, ValueError) as error:
            owner = type(record).__name__
            raise ArgumentError(
                f"{name} of {owner} is something else",
                asked=f"{owner}({name}={shown(value)})",
                because=str(error),
            ) from error


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
