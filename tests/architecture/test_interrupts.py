"""What a signal handler of a program raises is not taken for a failure of what it interrupted:
every `except` that takes errors of others lets it through."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROAD = {"Exception", "OSError", "RuntimeError", "TimeoutError"}
"""What handlers raise is one of these, if `except` takes it at all."""

ELSEWHERE = {
    "core/weft/engine/worker_main.py": "a process of its own, without handlers of a program",
    "core/weft/tools/bench/start.py": "what the program raised ends it, whoever raised it",
    "core/weft/base/settings.py": "a handler's exception is on its way already",
}
IN_A_THREAD = {"core/weft/engine/worker_processes.py": "_read"}
"""Functions that run in a thread of their own, where no handler runs."""

SOURCES = sorted(
    path
    for folder in (ROOT / "core" / "weft", *(ROOT / "plugins").glob("*/weft_*"))
    for path in folder.rglob("*.py")
    # the command line is a program of its own
    if "testing" not in path.parts and "commands" not in path.parts
)


def names_of(kinds: ast.expr | None) -> set[str]:
    """The exceptions that are named in an `except`."""
    if kinds is None:
        return {"Exception"}
    if isinstance(kinds, ast.Tuple):
        return set().union(*map(names_of, kinds.elts))
    return {getattr(kinds, "id", getattr(kinds, "attr", ""))}


def lets_through(handler: ast.ExceptHandler) -> bool:
    """Whether it raises what it took again, or asks `let_through` to do so."""
    return any(
        (isinstance(node, ast.Raise) and node.exc is None)
        or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "let_through")
        for node in ast.walk(handler)
    )


def swallowing(tree: ast.AST, in_a_thread: str | None) -> list[int]:
    """The lines of those that take more than is theirs."""
    threaded: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == in_a_thread:
            threaded |= set(ast.walk(node))
    found = []
    for node in ast.walk(tree):
        if node in threaded:
            continue
        if isinstance(node, ast.ExceptHandler):
            if names_of(node.type) & BROAD and not lets_through(node):
                found.append(node.lineno)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "suppress":
            if set().union(*map(names_of, node.args)) & BROAD:
                found.append(node.lineno)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_except_lets_signals_through(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = swallowing(tree, IN_A_THREAD.get(name))
    assert not found or name in ELSEWHERE, f"{name}: let_through(error) is missing at {found}"


def test_swallowed_exceptions_are_found() -> None:
    tree = ast.parse("try: f()\nexcept (ValueError, OSError) as error: pass")
    assert swallowing(tree, None) == [2]
    tree = ast.parse("try: f()\nexcept OSError as error: let_through(error)")
    assert swallowing(tree, None) == []
    assert swallowing(ast.parse("suppress(OSError)"), None) == [1]
