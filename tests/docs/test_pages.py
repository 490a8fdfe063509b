"""The pages under docs/: their examples run, their links lead somewhere, their sentences are short.

The site itself is built by `sphinx-build -W`; these tests need no Sphinx.
"""

import ast
import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from weft.tools.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BUILT = {"_build", "jupyter_execute"}
PAGES = sorted(page for page in DOCS.rglob("*.md") if not BUILT.intersection(page.parts))
TEXT = {page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
NOTEBOOKS = sorted(name for name, text in TEXT.items() if "file_format: mystnb" in text)
SESSIONS = sorted(name for name, text in TEXT.items() if "```pycon" in text)
WRITTEN_BY_PROGRAMS = {"glossary.md", "onnx_operators.md", "operations.md", "settings.md"}
# Tests of their own run the blocks: unit/test_errors.py, architecture/test_devices_page.py,
# unit/tools/test_plan_files.py, {onnx,pytorch}/test_howto_page.py, unit/export/test_howto_page.py,
# llm/test_howto_pages.py
RUN_ELSEWHERE = {
    "errors.md", "howto/write-a-device.md", "howto/compile-for-other-machines.md", "howto/onnx.md",
    "howto/compile_to_c.md", "howto/pytorch.md", "howto/chat.md", "howto/serve.md",
}  # fmt: skip
OUTSIDE = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", "examples/README.md",
    "tests/cases/README.md", "tests/hazards/README.md", "tests/helpers/README.md",
)  # fmt: skip
OF_OTHERS = {"llm", "plan"}  # commands that other distributions add
LONGEST = 30
WIDEST = 80  # more does not fit next to the navigation


def cells(text: str) -> list[str]:
    return re.findall(r"^```\{code-cell\} python\n(?::tags:[^\n]*\n)?(.*?)^```$", text, re.M | re.S)


def anchor(heading: str) -> str:
    """The fragment that MyST gives a heading."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower().strip()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_cells_run(name: str, tmp_path: Path) -> None:
    """All cells of a page, in one process of their own and an empty folder."""
    program = tmp_path / "page.py"
    program.write_text("\n\n".join(cells(TEXT[name])), encoding="utf-8")
    folder = tmp_path / "empty"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, str(program)], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_example_of_a_notebook_is_a_cell(name: str) -> None:
    assert cells(TEXT[name])
    assert "```python" not in TEXT[name]


def test_no_example_is_left_out() -> None:
    assert {name for name, text in TEXT.items() if "```python" in text} == RUN_ELSEWHERE


@pytest.mark.parametrize("name", SESSIONS)
def test_sessions_print_the_documented_output(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", TEXT[name], re.S))
    test = doctest.DocTestParser().get_doctest(examples, {}, name, name, 0)
    assert test.examples
    said: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", sorted(TEXT))
def test_links_lead_somewhere(name: str) -> None:
    """Pages, headings and files; no network is needed."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", TEXT[name], flags=re.M | re.S)
    for target in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", text):
        path, _, fragment = target.partition("#")
        file = (DOCS / name).parent / path if path else DOCS / name
        assert file.exists(), target
        if fragment:
            assert file.suffix == ".md", target
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.M)
            assert fragment in {anchor(heading) for heading in headings}, target


def test_every_page_is_in_one_table_of_contents() -> None:
    listed: list[str] = []
    for name, text in TEXT.items():
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.S):
            for entry in re.findall(r"^(?:[\w -]+<)?([\w./-]+)>?$", tree, re.M):
                listed.append(os.path.normpath(Path(name).parent / f"{entry}.md"))
    assert sorted(listed) == sorted(set(TEXT) - {"index.md", "README.md"})


def sentences(text: str) -> list[str]:
    """Prose: paragraphs, items and cells; code and links count as one word each."""
    text = re.sub(
        r"\A---\n.*?^---$|^(`{3,}|:{3,}).*?^\1$|<!--.*?-->", "\n\n", text, flags=re.M | re.S
    )
    text = re.sub(r"\{[\w:]+\}`[^`]*`|`[^`]*`|\]\([^)]*\)", "x", text)
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-#*>]|\d+\.) )|\n(?=\|)|\|", text)
    joined = (" ".join(part.split()) for part in parts)
    return [one for part in joined for one in re.split(r"(?<=[.?!])\s+", part) if one]


@pytest.mark.parametrize("name", sorted(set(TEXT) - WRITTEN_BY_PROGRAMS))
def test_sentences_are_short(name: str) -> None:
    long = [one for one in sentences(TEXT[name]) if len(one.split()) > LONGEST]
    assert long == []


@pytest.mark.parametrize("name", OUTSIDE)
def test_sentences_outside_of_the_site_are_short(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"^\| `WEFT_.*\n", "", text, flags=re.M)  # written by the settings
    assert [one for one in sentences(text) if len(one.split()) > LONGEST] == []


def test_commands_exist() -> None:
    for name, text in TEXT.items():
        for command in re.findall(r"`weft ([a-z][\w-]+)", text):
            assert command in {*COMMANDS, *OF_OTHERS}, f"{name}: weft {command}"


def test_cells_are_python_that_fits_the_page() -> None:
    for name in NOTEBOOKS:
        for cell in cells(TEXT[name]):
            ast.parse(cell)
            assert all(len(line) <= WIDEST for line in cell.splitlines()), name
