"""``weft new-device NAME``: a complete device plugin in a folder of its own, to start from.

What is written works at once, on the system's C compiler: a plugin of under a hundred lines, its
tests, a workflow for continuous integration, a list of expected failures and a README. It passes
the conformance kit from the start.
"""

from __future__ import annotations

import argparse
import re
from importlib.resources import files
from pathlib import Path

from weft.base.errors import ArgumentError, FileError
from weft.device import family_names, registry
from weft.device.hookspecs import API_VERSION

TEMPLATE = "weft.tools.device_template"
PLACES = {
    "plugin.txt": "@PACKAGE@/__init__.py",
    "tests.txt": "tests/test_@PACKAGE@.py",
    "pyproject.txt": "pyproject.toml",
    "readme.txt": "README.md",
    "xfails.txt": "xfails.txt",
    "ci.txt": ".github/workflows/tests.yml",
}
"""Where each file of the template goes."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("name", help="of the device family, such as MINE")
    parser.add_argument("--out", help="the folder to write; weft-NAME by default")


def run(arguments: argparse.Namespace) -> int:
    """Write the package, say what to do with it.

    :raises ArgumentError: for a name that is no family's, or is taken.
    :raises FileError: if the folder has something in it.
    """
    if not _NAME.fullmatch(arguments.name):
        raise ArgumentError(
            "this cannot be the name of a device family",
            asked=arguments.name,
            because="it is a part of device strings and of a module's name",
            try_="letters, digits and underscores, a letter first",
        )
    words = replacements(arguments.name)
    if words["FAMILY"] in family_names(registry.current().plugins):
        raise ArgumentError(
            "there is a device family of this name already",
            asked=words["FAMILY"],
            because="two plugins that own one family are both left out",
            try_="another name; `weft devices` lists those that are taken",
        )
    folder = Path(arguments.out or words["DISTRIBUTION"]).expanduser()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(
            "there is something already",
            asked=str(folder),
            because="nothing is overwritten",
            try_="--out and another folder",
        )
    for path in write(folder, words):
        print(path)
    print(
        f"\nnext: pip install -e '{folder}[test]' && weft devices && "
        f"pytest --pyargs weft.testing.conformance --weft-device {words['FAMILY']}"
    )
    return 0


def replacements(name: str) -> dict[str, str]:
    """The words of a family."""
    major, minor = API_VERSION
    return {
        "FAMILY": name.upper(),
        "PACKAGE": f"weft_{name.lower()}",
        "DISTRIBUTION": f"weft-{name.lower().replace('_', '-')}",
        "MAJOR": str(major),
        "MINOR": str(minor),
    }


def write(folder: Path, words: dict[str, str]) -> list[Path]:
    """Write every file of the template; their paths."""
    written = []
    for file, place in PLACES.items():
        text = (files(TEMPLATE) / file).read_text(encoding="utf-8")
        path = folder / _filled(place, words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(text, words), encoding="utf-8")
        written.append(path)
    return written


def _filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text
