"""CONTRIBUTING.md lists the passes of the compiler in their order, and what each does.

The two tables are made from the passes: their names, and the first lines of their docstrings or of
the modules that they call (`weft opt --list` prints the same).
`python -m pytest tests/architecture/test_pass_tables.py --update-golden` rewrites them.
"""

import re
from pathlib import Path

import pytest

import weft_simd
from weft.schedule import pipeline as scheduler
from weft.tools.commands.opt import summary

ALL_PASSES = {step.name: step for step in (*scheduler.PASSES, *weft_simd.passes())}
"""With those of the CPU's strategy, which are between the generic ones."""
PAGE = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
TABLES = re.compile(r"\| pass of the scheduler .*?\n(?=\n[^|])", re.S)
SUMMARY = re.compile(r"[A-Z][^:]*: \S.*[a-z)`]\.?")


def table(head: str, names: list[str]) -> str:
    rows = [f"| `{name}` | {summary(ALL_PASSES[name])} |\n" for name in names]
    return f"| {head} | what it does |\n|---|---|\n" + "".join(rows)


def tables() -> str:
    first = [step.name for step in scheduler.PASSES]
    rest = [name for name in ALL_PASSES if name not in first]
    return table("pass of the scheduler", first) + "\n" + table("pass of the code generator", rest)


def test_tables_match_docstrings_of_passes(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    found = TABLES.search(text)
    assert found is not None, "CONTRIBUTING.md has no table of passes"
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text.replace(found[0], tables()), encoding="utf-8")
        return
    assert found[0] == tables(), "run this file with --update-golden"


@pytest.mark.parametrize("name", ALL_PASSES)
def test_a_pass_names_its_technique(name: str) -> None:
    line = summary(ALL_PASSES[name])
    assert SUMMARY.fullmatch(line), f"{name}: {line!r} is no 'Term: sentence'"
