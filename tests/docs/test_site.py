"""The site: built without a warning, and with an entry in its index for every public name.

Cells are not executed here: `test_pages.py` runs them, and `.ci/run` builds the site with them.
`WEFT_SITE` names the folder of a site that was built before, which is then looked at instead.
"""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import weft

pytest.importorskip("sphinx", reason="the site is built by Sphinx: pip install 'weft[docs]'")
pytest.importorskip("myst_nb", reason="the pages are read by myst-nb: pip install 'weft[docs]'")

from sphinx.util.inventory import InventoryFile

ROOT = Path(__file__).resolve().parents[2]


def part_of_the_extension(name: str) -> Any:
    folder = str(ROOT / "docs" / "_ext")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(f"weft_docs.{name}")


docstrings = part_of_the_extension("docstrings")
public_names = part_of_the_extension("public_names")


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """All names that the index of the site has."""
    folder = Path(os.environ.get("WEFT_SITE") or built_in(tmp_path_factory.mktemp("site")))
    inventory = InventoryFile.loads((folder / "objects.inv").read_bytes(), uri="")
    return {name for kind in inventory.data for name in inventory.data[kind]}


def built_in(folder: Path) -> Path:
    words = ["-q", "-W", "-b", "html", "-D", "nb_execution_mode=off", str(ROOT / "docs"), folder]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("module", public_names.MODULES)
def test_every_public_name_is_documented(module: str, documented: set[str]) -> None:
    loaded = importlib.import_module(module)
    names = [
        n for n in public_names.public(module) if not isinstance(getattr(loaded, n), ModuleType)
    ]
    assert names
    assert [n for n in names if f"{module}.{n}" not in documented] == []


def test_every_function_and_method_is_documented(documented: set[str]) -> None:
    names = [f"weft.{name}" for name in public_names.public("weft.functions")]
    names += [f"weft.Tensor.{name}" for name in dir(weft.Tensor) if not name.startswith("_")]
    assert [name for name in names if name not in documented] == []


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("x[1:3] of `x`", "x[1:3] of ``x``"),
        ("`Tensor.shard()` and *args", r":py:obj:`Tensor.shard` and \*args"),
        ("the names `exp_`s end in _: x_", r"the names ``exp_``\ s end in _: x\_"),
        ("``a | b`` or |x|", r"``a | b`` or \|x\|"),
    ],
)
def test_markup_of_docstrings(written: str, shown: str) -> None:
    assert docstrings.inline(written) == shown


def test_blocks_of_docstrings() -> None:
    lines = ["Sum. :raises ShapeError: if", "    it fails.", "- one", "- two", "", "    code", ""]
    assert docstrings.restructured([*lines, ">>> 1"]) == [
        "Sum.", "", ":raises ShapeError: if it fails.", "", "", "- one", "", "- two", "",
        "::", "", "        code", "", ">>> 1", "",
    ]  # fmt: skip
