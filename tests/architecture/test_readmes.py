"""The README of each folder: it names every module there, and no file that is not there."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import weft_simd
from weft.codegen.pipeline import generic_passes

GENERIC = {step.name for step in generic_passes()}
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("core", "plugins", "tests", "examples", "benchmarks", "docs")
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")]
)
MODULES = sorted(
    [
        *(ROOT / "core" / "weft").rglob("README.md"),
        *(ROOT / "plugins").glob("*/README.md"),
        *(ROOT / "plugins").glob("*/weft_*/README.md"),
    ]
)
FILES = [path.as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def named_in(text):
    """The words in backticks, without folder and suffix."""
    words = re.findall(r"`([^`\s]+)`", text)
    return {word.rstrip("/").rpartition("/")[2].partition(".")[0] for word in words}


def folders_of(page):
    """The folders of modules that a page is about: of a distribution its packages that have no page
    of their own, of a package its folders likewise, else the folder it is in."""
    distribution = page.parent.parent == ROOT / "plugins"
    if not distribution:
        parts = page.parent.glob("*/") if page.is_relative_to(ROOT / "plugins") else ()
        return [page.parent, *parts]
    return [one for one in page.parent.glob("weft_*") if not (one / "README.md").exists()]


@pytest.mark.parametrize("page", MODULES, ids=name_of)
def test_every_module_is_named(page):
    known = named_in(page.read_text(encoding="utf-8"))
    found = [path for folder in folders_of(page) for path in folder.glob("*.py")]
    modules = {path.stem for path in found} - {"__init__", "__main__"}
    assert not {one for one in modules if not any(fnmatch(one, name) for name in known)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_files_exist(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!http)([\w./-]+\.\w+)(?:#[\w-]+)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    words = set(re.findall(r"`([\w./-]+\.py)`", text)) - {"program.py", "siteconf.py"}
    paths = [word.removeprefix("../") for word in words]
    assert [path for path in paths if not any(one.endswith(f"/{path}") for one in FILES)] == []


def test_passes_of_code_generation_are_listed_in_order():
    assert rows_of(ROOT / "core" / "weft" / "codegen" / "README.md") == [
        step.name for step in generic_passes()
    ]
    own = rows_of(ROOT / "plugins" / "cpu_clang" / "weft_simd" / "README.md")
    assert own == [one.name for one in weft_simd.passes() if one.name not in GENERIC]


def rows_of(page):
    """The passes in the table of a page."""
    table = re.search(r"^\| pass \|.*\n\|[-|]+\n((?:\|.*\n)+)", page.read_text("utf-8"), re.M)
    assert table
    return re.findall(r"^\| `(\w+)` \|", table.group(1), re.M)
