"""What plugins may still use and should not: listed for one minor version at least before it goes.

in: a plugin's module, or a name that it imports    out: lines that say what to use instead

The page on devices has the same list. A hook stays in ``hookspecs`` while it is listed here; a name
of ``weft.plugin`` is listed with its successor and need not be there any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.device.hookspecs import API_VERSION


@dataclass(frozen=True)
class Deprecation:
    """One thing that will go.

    :param name: a hook, ``weft_...``, or a name of ``weft.plugin``.
    :param since: the version of the hooks that deprecates it; the next major one removes it.
    :param successor: what to use instead: a hook, or a name of ``weft.plugin``.
    """

    name: str
    since: tuple[int, int]
    successor: str

    def __str__(self) -> str:
        major, minor = self.since
        return (
            f"{self.name} is deprecated since version {major}.{minor} of the hooks "
            f"and goes with {major + 1}.0: use {self.successor}"
        )


DEPRECATED: tuple[Deprecation, ...] = ()
"""All there is now: nothing."""


def notes_on(module: object, listed: Sequence[Deprecation] | None = None) -> list[str]:
    """A line for every listed hook that a plugin implements."""
    return [
        str(each)
        for each in (DEPRECATED if listed is None else listed)
        if each.name.startswith("weft_") and hasattr(module, each.name)
    ]


def successor_of(name: str, listed: Sequence[Deprecation] | None = None) -> Deprecation | None:
    """What is listed for a name of ``weft.plugin``."""
    found = DEPRECATED if listed is None else listed
    return next((each for each in found if each.name == name), None)


def is_due(each: Deprecation) -> bool:
    """Whether its time is over: another major version than the one that deprecated it."""
    return each.since[0] < API_VERSION[0]
