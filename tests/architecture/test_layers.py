"""The layers are a checked contract: see [tool.importlinter] in the root pyproject.toml."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_imports_only_go_down():
    pytest.importorskip("importlinter")
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_no_function_imports_weft():
    """What a module needs of the house stands at its top, where the contract sees it."""
    import ast

    guilty = []
    for path in sorted((ROOT / "core" / "weft").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for node in ast.walk(function):
                    names = []
                    if isinstance(node, ast.Import):
                        names = [alias.name for alias in node.names]
                    elif isinstance(node, ast.ImportFrom):
                        names = [node.module or ""]
                    if any(name.partition(".")[0] == "weft" for name in names):
                        guilty.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    # pytest loads the plugin everywhere, so it imports the house only when a fixture needs it.
    allowed = "core/weft/testing/pytest_plugin.py"
    assert [place for place in guilty if not place.startswith(allowed)] == []
