"""Entry points: read those of installed distributions from their metadata files.

In: names of groups. Out: their entries, each with its distribution. The standard library has a
reader (`importlib.metadata`), but importing it takes longer than a small program runs. It is used
where distributions may be elsewhere than in folders on `sys.path`: in archives, or behind custom
finders.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from weft.base.interrupts import let_through

_FOLDERS = (".dist-info", ".egg-info")
_FACTS = ("METADATA", "PKG-INFO")


class Entry(NamedTuple):
    """One entry point.

    :ivar value: ``module`` or ``module:object``.
    :ivar distribution: the name of its package for pip; empty if the metadata has none.
    :ivar group: its entry-point group.
    """

    name: str
    value: str
    distribution: str
    version: str
    group: str = ""

    def load(self) -> Any:
        """The module or object, imported."""
        module, _, path = self.value.partition("[")[0].partition(":")
        found = importlib.import_module(module.strip())
        for name in filter(None, path.strip().split(".")):
            found = getattr(found, name)
        return found


def entry_points(*groups: str) -> list[Entry]:
    """All entries of these groups. A distribution that is on the path twice counts once: the first
    one."""
    if _elsewhere():
        return [entry for group in groups for entry in _by_the_library(group)]
    found: list[Entry] = []
    seen: set[str] = set()
    for folder in _metadata_folders():
        stem = os.path.basename(folder).removesuffix(_FOLDERS[0]).removesuffix(_FOLDERS[1])
        name = _normal(stem.partition("-")[0])
        if name in seen:
            continue
        seen.add(name)
        text = _read(folder, "entry_points.txt")
        if any(group in text for group in groups):
            facts = _facts(folder)
            found += [
                Entry(key, value, facts.get("name", ""), facts.get("version", ""), group)
                for group in groups
                for key, value in _entries(text, group)
            ]
    return found


def _elsewhere() -> bool:
    """Whether distributions may be in places that this module does not read."""
    if any(path and os.path.isfile(path) for path in sys.path if isinstance(path, str)):
        return True
    return any(
        hasattr(finder, "find_distributions")
        for finder in sys.meta_path
        if getattr(finder, "__module__", type(finder).__module__).partition(".")[0]
        not in ("importlib_metadata", "_frozen_importlib_external")
    )


def _by_the_library(group: str) -> list[Entry]:
    from importlib import metadata

    return [
        Entry(
            entry.name,
            entry.value,
            entry.dist.name if entry.dist else "",
            entry.dist.version if entry.dist else "",
            group,
        )
        for entry in metadata.entry_points(group=group)
    ]


def _metadata_folders() -> Iterator[str]:
    for path in dict.fromkeys(path for path in sys.path if isinstance(path, str)):
        if path.endswith(".egg"):
            yield os.path.join(path, "EGG-INFO")
        try:
            with os.scandir(path or ".") as entries:
                yield from sorted(entry.path for entry in entries if entry.name.endswith(_FOLDERS))
        except OSError as error:
            let_through(error)
            continue


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        let_through(error)
        return ""


def _facts(folder: str) -> dict[str, str]:
    """The headers of a distribution's metadata, by their names in small letters."""
    text = next(filter(None, (_read(folder, name) for name in _FACTS)), "")
    head = text.partition("\n\n")[0]
    pairs = (line.partition(":") for line in head.splitlines() if not line.startswith((" ", "\t")))
    facts: dict[str, str] = {}
    for name, _, value in pairs:
        facts.setdefault(name.strip().lower(), value.strip())
    return facts


def _entries(text: str, group: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section == group and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()
