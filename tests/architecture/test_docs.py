"""What the documents say is so: code blocks run, tables and paths match the source."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from weft.base.settings import settings

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "CONTRIBUTING.md"]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(name), re.M | re.S)


EXECUTED = DOCUMENTS
PYTHON = [(name, n) for name in EXECUTED for n in range(len(blocks(name, "python")))]


@pytest.mark.parametrize(("name", "number"), PYTHON)
def test_python_blocks_run(name: str, number: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", blocks(name, "python")[number]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_the_first_two_shell_blocks_are_one_line_each() -> None:
    shell = blocks("README.md", "sh")
    assert len(shell) >= 2
    for block in shell[:2]:
        assert len(block.strip().splitlines()) == 1
    assert shell[0].strip().endswith("weft demo")
    assert "pytest" in shell[1]


def test_every_setting_is_in_the_table_as_the_source_has_it() -> None:
    rows = dict(re.findall(r"^\| `(WEFT_\w+)` \| (.*) \|$", text_of("CONTRIBUTING.md"), re.M))
    assert set(rows) == {row.env for row in settings.table()}
    for row in settings.table():
        default = f"`{row.default}`" if row.default != "" else ""
        if row.name == "CACHE_DIR":
            default = "the user's cache folder"
        assert rows[row.env] == f"{default} | {row.doc}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_paths_in_backticks_exist(name: str) -> None:
    rooted = r"`((?:core|plugins|tests|examples|benchmarks)/[\w./]*)`"
    paths = re.findall(rooted, text_of(name))
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_system_has_its_module_its_golden_and_its_tests() -> None:
    table = re.search(
        r"^\| system \| module \|.*\n\|[-|]+\n((?:\|.*\n?)+)", text_of("CONTRIBUTING.md"), re.M
    )
    assert table
    below = (ROOT / "core" / "weft", None, ROOT / "tests" / "golden", ROOT / "tests")
    for row in table.group(1).strip().splitlines():
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        for folder, cell in zip(below, cells, strict=True):
            paths = re.findall(r"`([\w/.]+)`", cell) if folder else []
            assert paths or not folder, f"{name}: {cell}"
            assert [path for path in paths if not (folder / path).exists()] == [], name


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_between_documents_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", text_of(name))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_benchmarks_quoted_are_those_of_the_last_run() -> None:
    quoted = re.search(
        r"<!-- benchmarks: .*?-->\n(.*)<!-- end of benchmarks -->",
        text_of("docs/benchmarks.md"),
        re.S,
    )
    assert quoted
    table = [line for line in quoted.group(1).splitlines() if line.startswith("|")]
    results = text_of("benchmarks/results.md").splitlines()
    assert table == [line for line in results if line.startswith("|")]


def test_the_plot_is_that_of_the_last_run() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import plot; print(plot.comparison(), end='')"],
        cwd=ROOT / "benchmarks", capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == text_of("docs/images/comparison.svg")


def test_the_kernels_quoted_are_those_of_the_last_run() -> None:
    counted = {}
    for line in text_of("benchmarks/kernels.md").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        counted[cells[0]] = (cells[1], cells[3]) if len(cells) > 3 else ()
    quoted = re.search(r"<!-- kernels -->\n(.*?)<!-- end", text_of("docs/benchmarks.md"), re.S)
    assert quoted
    for line in quoted.group(1).splitlines()[2:]:
        name, ours, theirs = (cell.strip() for cell in line.strip("|").split("|")[:3])
        assert counted[name] == (ours, theirs), name
