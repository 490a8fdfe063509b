"""What CONTRIBUTING.md says of the source is so. Where it is not yet, the number may only fall."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core" / "weft"
PACKAGES = sorted(path.parent for path in CORE.glob("*/__init__.py"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)

MOST_LINES, LONG_FILES, LONGEST = 500, 10, 600
"""Lines of a file; how many files may have more; lines of the longest."""
MOST_STEPS, LONG_FUNCTIONS = 60, 3
"""Lines of a function without its docstring; how many functions may have more."""
MOST_NESTED, DEEP_FUNCTIONS, DEEPEST = 3, 60, 5
"""Blocks in blocks; how many functions may have more; of the deepest."""
ASSERTIONS = 2
"""In the code that users run, besides those that tell type checkers what a value is."""
CLOCKS = {
    "test_timing.py", "test_workers.py", "test_disk_cache.py", "test_threads.py", "test_server.py",
    "test_ready_kernels.py",
}  # fmt: skip
"""Tests that read a clock: to wait for another process, to change it, or of what measures."""


@cache
def sources():
    """Every file of the core and of the plugins, parsed."""
    files = [*CORE.rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def functions():
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                yield f"{path.relative_to(ROOT)}:{node.name}", node


def nesting(node, depth=0):
    """How many blocks are in each other; `elif` is none of its own, nor is a function inside."""
    deepest = depth
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            is_elif = isinstance(node, ast.If) and node.orelse == [child]
            is_block = isinstance(child, BLOCKS) and not (is_elif and isinstance(child, ast.If))
            deepest = max(deepest, nesting(child, depth + is_block))
    return deepest


def length(node):
    """Lines of a function without those of its docstring."""
    text = ast.get_docstring(node, clean=False) or ""
    return node.end_lineno - node.lineno + 1 - len(text.splitlines())


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_every_package_has_a_readme_that_names_its_folders(package):
    readme = package / "README.md"
    assert readme.exists()
    words = set(re.findall(r"[\w.]+", readme.read_text(encoding="utf-8")))
    folders = {path.parent.name for path in package.glob("*/*.py")}
    assert {folder for folder in folders if folder not in words} == set()


def test_the_map_shows_the_layers_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        each["layers"] for each in settings["tool"]["importlinter"]["contracts"]
        if each["name"] == "layers"
    )  # fmt: skip
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```\n( 9  weft.*?)```", page, re.DOTALL)
    expected = [name for layer in layers for name in re.findall(r"weft\.\w+", layer)]
    heads = [line[4:].partition("   ")[0] for line in shown.splitlines()]
    assert [name for head in heads for name in re.findall(r"weft\.\w+", head)] == expected


def test_files_are_read_in_one_sitting():
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources()
    }
    long = {path: lines for path, lines in lengths.items() if lines > MOST_LINES}
    assert len(long) <= LONG_FILES, long
    assert max(lengths.values()) <= LONGEST, long


def test_functions_fit_a_screen():
    long = {place: length(node) for place, node in functions() if length(node) > MOST_STEPS}
    assert len(long) <= LONG_FUNCTIONS, long


def test_blocks_are_nested_three_deep_at_most():
    depths = {place: nesting(node) for place, node in functions()}
    deep = {place: depth for place, depth in depths.items() if depth > MOST_NESTED}
    assert len(deep) <= DEEP_FUNCTIONS, deep
    assert max(depths.values()) <= DEEPEST, deep


def test_arguments_of_nodes_are_frozen_dataclasses():
    for module in ("args", "sharding"):
        tree = sources()[CORE / "uop" / f"{module}.py"]
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and "Member" not in map(ast.unparse, node.bases):
                decorators = " ".join(map(ast.unparse, node.decorator_list))
                assert "dataclass(frozen=True" in decorators, node.name


def test_no_assertion_reaches_a_user():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in sources().items()
        if "testing" not in path.parts
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
        if not re.fullmatch(r"isinstance\(.*\)|.* is not None", ast.unparse(node.test))
    ]
    assert len(found) <= ASSERTIONS, found


def test_tests_time_nothing():
    clock = re.compile(r"perf_counter|\btime\.time\(|\bmonotonic\(|import timeit")
    tests = (ROOT / "tests").rglob("test_*.py")
    timed = {path.name for path in tests if clock.search(path.read_text(encoding="utf-8"))}
    assert timed - {Path(__file__).name} == CLOCKS
