"""The layers are a checked contract: see [tool.importlinter] in the root pyproject.toml."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_imports_only_go_down():
    pytest.importorskip("importlinter")
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    plugins = map(str, (ROOT / "plugins").iterdir())  # installed or not
    sources = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *plugins])
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": sources},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def layers():
    """The packages of each layer, from the highest down, as the contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (names,) = (
        contract["layers"] for contract in contracts["tool"]["importlinter"]["contracts"]
        if contract["name"] == "layers"
    )  # fmt: skip
    return [re.findall(r"weft\.(\w+)", line) for line in names]


def test_no_import_by_string_climbs():
    """What `import_module` is given is seen by no contract: it names no higher layer."""
    height = {name: -number for number, names in enumerate(layers()) for name in names}
    core, climbing = ROOT / "core" / "weft", []
    for path in sorted(core.rglob("*.py")):
        own = path.relative_to(core).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
                for argument in node.args:
                    text = ast.literal_eval(argument) if isinstance(argument, ast.Constant) else ""
                    root, _, rest = text.partition(".")
                    other = rest.partition(".")[0]
                    if root == "weft" and own in height and height[other] > height[own]:
                        climbing.append(f"{path.relative_to(ROOT)}:{node.lineno} {text}")
    assert climbing == []


def test_no_function_imports_weft():
    """A module imports from weft at its top, where the import contract checks it."""
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
