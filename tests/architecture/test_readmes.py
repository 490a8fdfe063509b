"""The README of each folder: it names every module there, and no file that is not there."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from weft.codegen.pipeline import AFTER, BEFORE

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("core", "plugins", "tests", "examples", "benchmarks", "docs")
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")]
)
MODULES = sorted(
    [*(ROOT / "core" / "weft").rglob("README.md"), *(ROOT / "plugins").glob("*/README.md")]
)
FILES = [path.as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def named_in(text):
    """What stands between backticks, without folder and suffix."""
    words = re.findall(r"`([^`\s]+)`", text)
    return {word.rstrip("/").rpartition("/")[2].partition(".")[0] for word in words}


@pytest.mark.parametrize("page", MODULES, ids=name_of)
def test_every_module_is_named(page):
    (folder,) = page.parent.glob("weft_*") if "plugins" in page.parts else (page.parent,)
    known = named_in(page.read_text(encoding="utf-8"))
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    assert not {one for one in modules if not any(fnmatch(one, name) for name in known)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_is_named_is_there(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!http)([\w./-]+\.\w+)(?:#[\w-]+)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    words = set(re.findall(r"`([\w./-]+\.py)`", text)) - {"program.py", "siteconf.py"}
    paths = [word.removeprefix("../") for word in words]
    assert [path for path in paths if not any(one.endswith(f"/{path}") for one in FILES)] == []


def test_the_passes_of_code_generation_stand_in_their_order():
    text = (ROOT / "core" / "weft" / "codegen" / "README.md").read_text(encoding="utf-8")
    table = re.search(r"^\| pass \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    assert table
    rows = re.findall(r"^\| `(\w+)` \|", table.group(1), re.M)
    assert rows == [step.name for step in BEFORE + AFTER]
