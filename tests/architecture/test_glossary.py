"""docs/glossary.md lists the techniques of the compiler: what each does, its module, its source.

The page is made from the docstrings of modules of the core and of the plugins. A module is on it if
the first line of its docstring is `<Term>: <sentence>.` and a line of it begins with `Source: `.
Others are left out.
`python -m pytest tests/architecture/test_glossary.py --update-golden` writes the page.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from weft.testing.golden import Golden

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "glossary.md"
CORE = ROOT / "core" / "weft"
LAYERS = ("codegen", "schedule", "render", "engine")
HEADER = """\
# Glossary

The techniques of the compiler: what each does, the module that does it, and a source to read about
it. Generated from the docstrings of the modules by
`python -m pytest tests/architecture/test_glossary.py --update-golden`; do not edit it.

| term | what it does | module | source |
|---|---|---|---|
"""
FIRST_LINE = re.compile(r"([A-Z][^:.`]*): (\S.*\.)")


class Entry(NamedTuple):
    term: str
    sentence: str
    source: str


def entry_of(docstring: str) -> Entry | None:
    """The row that a module's docstring asks for, if any."""
    first = FIRST_LINE.fullmatch(docstring.partition("\n")[0].strip())
    source = re.search(r"^Source: (.+?)(?=\n\s*\n|\n(?:in|out): |\Z)", docstring, re.M | re.S)
    if first is None or source is None:
        return None
    return Entry(first.group(1), first.group(2), " ".join(source.group(1).split()))


def row(entry: Entry, path: Path) -> str:
    file = path.relative_to(ROOT).as_posix()
    link = f"[`{file.removeprefix('core/weft/')}`](../{file})"
    cells = (entry.term, entry.sentence, link, entry.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def glossary() -> str:
    found = []
    folders = [CORE / layer for layer in LAYERS] + sorted((ROOT / "plugins").glob("*/weft_*"))
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        entry = entry_of(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
        if entry is not None:
            found.append((entry.term.lower(), path.as_posix(), row(entry, path)))
    return HEADER + "".join(line for *_, line in sorted(found))


def test_the_page_is_what_the_docstrings_say(request: pytest.FixtureRequest) -> None:
    assert glossary() == Golden(PAGE, request.config.getoption("--update-golden"))


def test_a_docstring_with_a_term_and_a_source_is_a_row() -> None:
    text = "Loop peeling: split off the rest.\n\nSource: Muchnick, 1997,\nchapter 17.\n\nin: x"
    assert entry_of(text) == Entry(
        "Loop peeling", "split off the rest.", "Muchnick, 1997, chapter 17."
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Loop peeling: split off the rest.",
        "Loop peeling splits off the rest.\n\nSource: Muchnick, 1997.",
        "`run`: split off the rest.\n\nSource: Muchnick, 1997.",
        "Loop peeling: split off\nthe rest.\n\nSource: Muchnick, 1997.",
    ],
)
def test_other_docstrings_are_left_out(text: str) -> None:
    assert entry_of(text) is None


def test_cells_keep_the_table_whole() -> None:
    line = row(
        Entry("Mask", "computes a | b.", "none known; trivial"), CORE / "render" / "rules.py"
    )
    assert line.count(" | ") == 3 and r"a \| b" in line
