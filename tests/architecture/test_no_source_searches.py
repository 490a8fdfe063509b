"""No renderer searches the text that it printed: what it writes is known from the program."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("core/weft/render", "plugins/cpu_clang", "plugins/cuda", "plugins/metal",
           "plugins/opencl", "examples/toy_device")  # fmt: skip
EXPRESSIONS = {
    "plugins/cpu_clang/weft_cpu_clang/memory_limit.py": "reads files of the system",
    "plugins/cpu_clang/weft_cpu_clang/cpu_quota.py": "reads files of the system",
    "plugins/cpu_clang/weft_cpu_clang/toolchain.py": "reads what a compiler says of itself",
    "plugins/cuda/weft_cuda/defects.py": "reads what NVRTC hands to a defective assembler",
}
"""Files that may use regular expressions, with the reason."""
SOURCES = {"source", "sources", "src", "written", "rendered", "code"}
SEARCHES = {"find", "rfind", "index", "count", "replace", "split", "partition", "startswith",
            "endswith"}  # fmt: skip

FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
)


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def searches(tree: ast.AST) -> list[int]:
    """Lines that look for a text in a source."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            place = node.comparators[0]
            if is_text(node.left) and isinstance(place, ast.Name) and place.id in SOURCES:
                found.append(node.lineno)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            place = node.func.value
            name = place.id if isinstance(place, ast.Name) else ""
            given = bool(node.args) and is_text(node.args[0])
            if node.func.attr in SEARCHES and name in SOURCES and given:
                found.append(node.lineno)
    return found


@pytest.mark.parametrize("path", FILES)
def test_no_source_is_searched(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text())
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert ("re" in imported) == (path in EXPRESSIONS)
    assert searches(tree) == []


@pytest.mark.parametrize("line", ['"f16" in source', 'source.find("f16")', 'f"{x}(" not in src'])
def test_searches_are_found(line: str) -> None:
    assert searches(ast.parse(line)) == [1]
