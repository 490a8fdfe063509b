"""Locators of OpenCL devices: a number, or a part of a name."""

from __future__ import annotations


def spell(locator: str) -> str:
    """One spelling of a locator: a number without zeros before it, or a name in small letters."""
    plain = locator.strip().lower()
    if plain.isascii() and plain.isdigit():
        return str(int(plain))
    return plain or "0"
