"""A checkout as if it were installed, where nothing can be: prints what a shell must export.

    eval "$(python3 benchmarks/without_installing.py)"

Python finds plugins, pytest's among them, by what is written beside installed packages. This writes
the same for every package of the checkout into a folder, and puts that and their sources on the
path.
"""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def packages() -> list[Path]:
    """The folders with a package each."""
    found = [ROOT / "core", *(ROOT / "plugins").iterdir(), ROOT / "examples" / "toy_device"]
    return sorted(folder for folder in found if (folder / "pyproject.toml").exists())


def describe(package: Path, folder: Path) -> None:
    """Write what an installer would write of it."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    groups = dict(project.get("entry-points", {}))
    if "scripts" in project:
        groups["console_scripts"] = project["scripts"]
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""]
    (about / "entry_points.txt").write_text("\n".join(lines))


def main() -> None:
    """Write all of them, and say so to the shell."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="weft-"))
    found = packages()
    for package in found:
        describe(package, folder)
    before = os.environ.get("PYTHONPATH")
    path = [str(folder), *map(str, found), *([before] if before else [])]
    print(f'export PYTHONPATH="{os.pathsep.join(path)}"')


if __name__ == "__main__":
    main()
