"""Device names: families, locators, and the device strings that users write.

A device string is ``FAMILY`` or ``FAMILY:locator``. The family names the plugin. The meaning of the
locator (a number, a path, a URL) is defined by the plugin alone, so the core only compares locators
in the canonical spelling of the plugin (``canonical``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from weft.base.arguments import kind_of, shown
from weft.base.deferred_dataclass import dataclass
from weft.base.errors import ArgumentError, UnknownDevice
from weft.device.validation import check, function, one

FIRST = "0"
"""The locator of a family's first device, which device strings leave out."""

_FAMILY_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


def ordinal(locator: str) -> str:
    """Spell a device number in one way: ``"" -> "0"``, ``"01" -> "1"``.

    :raises UnknownDevice: if the locator is not a number.
    """
    if not locator:
        return FIRST
    if not (locator.isascii() and locator.isdigit()):
        raise UnknownDevice(
            "devices of this family are numbered",
            asked=f"device number {locator!r}",
            because="it is not a number of digits only",
            try_='a number from 0 on, as in "FAMILY:1"',
        )
    return str(int(locator))


@dataclass(frozen=True)
class DeviceFamily:
    """One family of devices, as the plugin that serves (or extends) it declares it.

    :param name: the part before ``:`` in a device string; upper case letters, digits, underscores.
    :param computes: False for devices that only store; those are never the default device.
    :param priority: among computing families the highest that opens is the default device; a
        negative one is used only by those who name it.
    :param staging: it wraps Python's own memory; only the core's host plugin sets this.
    :param canonical: spells a locator in one way (``"" -> "0"``, ``"a/../w" -> "/abs/w"``); may
        refuse one by raising UnknownDevice. Must be idempotent and must not touch the device.
    :param extends: this plugin contributes parts to a family that another plugin owns.
    :param about: one line for people.
    """

    name: str
    computes: bool = True
    priority: int = 0
    staging: bool = False
    canonical: Callable[[str], str] = ordinal
    extends: bool = False
    about: str = ""

    def __post_init__(self) -> None:
        if not _FAMILY_NAME.fullmatch(self.name):
            raise ArgumentError(
                "a device family needs a plain upper-case name",
                asked=f"DeviceFamily({self.name!r})",
                because="device strings are split at the first colon and compared in upper case",
                try_="letters A-Z, digits and underscores, a letter first",
            )
        check(
            self, computes=one(bool), priority=one(int), staging=one(bool), extends=one(bool),
            about=one(str), canonical=function(),
        )  # fmt: skip


@dataclass(frozen=True, order=True)
class DeviceId:
    """One device: its family, and a locator that only the family's plugin understands."""

    family: str
    locator: str = FIRST

    @classmethod
    def parse(cls, text: str) -> DeviceId:
        """Split ``"FAMILY:locator"``. The locator stays as written (``""`` where there is none),
        since only the family's plugin can spell it canonically.

        :raises UnknownDevice: if the part before the colon cannot be a family's name.
        """
        if not isinstance(text, str):
            raise UnknownDevice(
                "this is not a device string",
                asked=f"device={shown(text)}",
                because=f"that is {kind_of(text)}",
                try_="Tensor.zeros(2, 3) or Tensor.empty(2, 3) for a tensor of a shape"
                if isinstance(text, int)
                else 'FAMILY or FAMILY:locator; "weft devices" lists the families',
            )
        family, _, locator = text.partition(":")
        family = family.strip().upper()
        if not _FAMILY_NAME.fullmatch(family):
            raise UnknownDevice(
                "this is not a device string",
                asked=repr(text),
                because=f"{family!r} cannot be the name of a device family",
                try_='FAMILY or FAMILY:locator; "weft devices" lists the families',
            )
        return cls(family, locator)

    def __str__(self) -> str:
        return self.family if self.locator == FIRST else f"{self.family}:{self.locator}"


Placement: TypeAlias = DeviceId | tuple[DeviceId, ...]
"""The placement of a value: on one device, or in shards on several."""
