"""Compiled modules: list the modules of this installation that are shared libraries.

A wheel that was built with `WEFT_COMPILED=1` has some; the pure wheel and a checkout have none.
"""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def compiled_modules() -> tuple[str, ...]:
    """The names of the compiled modules, sorted; () for pure Python."""
    found: set[str] = set()
    for suffix in EXTENSION_SUFFIXES:
        for path in PACKAGE.rglob(f"*{suffix}"):
            relative = path.relative_to(PACKAGE.parent).as_posix()
            if path.name.count(".") == suffix.count("."):  # not `x.abi3.so`, for the suffix `.so`
                found.add(relative.removesuffix(suffix).replace("/", "."))
    return tuple(sorted(found))
