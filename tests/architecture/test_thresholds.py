"""No number that was tuned on a machine is left in a pass: it is in a table, with its reason."""

import ast
from pathlib import Path

import pytest

CODEGEN = Path(__file__).parents[2] / "core" / "weft" / "codegen"
FOLDERS = (
    "analysis", "indexing", "launch_grid", "linearization", "loops", "lowering", "memory", "opt",
    "vectorization", "workgroups",
)  # fmt: skip
NEUTRAL = {0, 1, 2}
OTHERS = {
    "indexing/images.py": ({4}, "a pixel has four channels"),
    "linearization/linear_order.py": ({0.5}, "a place between two others"),
    "memory/operand_staging.py": ({2.5, 4, 5, 62}, "the order of axes; no stride is as long"),
    "opt/search_space.py": (
        {4, 5, 6, 7, 8, 12, 16, 32, 64, 128, 256, 512},
        "amounts that a search tries",
    ),
    "vectorization/memory_accesses.py": ({4, 8, 16}, "bytes that asynchronous copies have"),
    "vectorization/packed_dot.py": (
        {4, 7, 8, 15, 16, 0xFFFF, 0x10000, 0xFFFF0000},
        "bits of a word, of its bytes and of their halves",
    ),
    "workgroups/bank_padding.py": ({4096}, "entries of a cache"),
    "workgroups/launch_dims.py": ({62}, "no stride is as long"),
    "workgroups/tile_copies.py": ({62}, "no stride is as long"),
}
"""Numbers that depend on no machine, by module, with the reason."""

MODULES = sorted(
    path.relative_to(CODEGEN).as_posix()
    for folder in FOLDERS
    for path in (CODEGEN / folder).glob("*.py")
    if path.name != "thresholds.py"
)


def numbers(tree: ast.AST) -> set[float]:
    """The numbers above 2, and fractions, that a module spells. A node has up to three sources."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and node.value not in {*NEUTRAL, 3}
    }


@pytest.mark.parametrize("module", MODULES)
def test_thresholds_are_in_tables(module: str) -> None:
    known, _ = OTHERS.get(module, (set(), ""))
    assert numbers(ast.parse((CODEGEN / module).read_text())) == known


@pytest.mark.parametrize("table", ["thresholds.py", "launch_grid/thresholds.py"])
def test_every_threshold_has_a_reason(table: str) -> None:
    for line in (CODEGEN / table).read_text().splitlines():
        name, equals, rest = line.partition(" = ")
        if equals and name.isidentifier() and name.strip("_").isupper():
            assert "  # " in rest, f"{name} has no reason"
