"""Type checkers at their strictest accept a right program and report every mistake of a wrong one.

They are given the packages as a user has them: found by the interpreter, marked by `py.typed`.
"""

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLE = ROOT / "examples" / "nanogpt.py"
PROGRAMS = [HERE / "program.py", *([EXAMPLE] if EXAMPLE.exists() else [])]
PACKAGES = [
    "weft", "weft_cpu_clang", "weft_cuda", "weft_disk", "weft_metal", "weft_mpi", "weft_opencl",
]  # fmt: skip
MISTAKES = HERE / "mistakes.py"


def run(*command, folder):
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, text=True,
        capture_output=True, timeout=600,
    )  # fmt: skip


@pytest.fixture(scope="module")
def pyright(tmp_path_factory):
    """The complaints of pyright in strict mode: (line, message) by file."""
    pytest.importorskip("pyright")
    folder = tmp_path_factory.mktemp("pyright")
    if run("pyright", "--version", folder=folder).returncode:
        pytest.skip("pyright does not run here: it needs node (pyright[nodejs])")
    for path in (*PROGRAMS, MISTAKES):
        shutil.copy(path, folder)
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    command = ("pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder))
    told = json.loads(run(*command, folder=folder).stdout)
    assert told["summary"]["filesAnalyzed"] == len(PROGRAMS) + 1
    found = {}
    for each in told["generalDiagnostics"]:
        if each["severity"] == "error":
            place = (each["range"]["start"]["line"] + 1, each.get("rule"), each["message"])
            found.setdefault(Path(each["file"]).name, []).append(place)
    return found


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """The complaints of mypy in strict mode: (line, message) by file."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("mypy")
    found = {}
    for path in (HERE / "program.py", MISTAKES):
        strict = ("--strict", "--no-error-summary", "--hide-error-context")
        cache = ("--cache-dir", str(folder), "--config-file", os.devnull)
        for line in run("mypy", *strict, *cache, str(path), folder=folder).stdout.splitlines():
            if match := re.match(r".*?(\w+\.py):(\d+): error: (.*)", line):
                found.setdefault(match[1], []).append((int(match[2]), match[3]))
    return found


def marked():
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# error")}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_pyright_accepts_a_right_program(pyright, path):
    assert pyright.get(path.name, []) == []


def test_mypy_accepts_a_right_program(mypy):
    assert mypy.get("program.py", []) == []


def test_pyright_reports_every_mistake(pyright):
    assert {line for line, *_ in pyright["mistakes.py"]} == marked()


def test_mypy_reports_every_mistake(mypy):
    assert {line for line, *_ in mypy["mistakes.py"]} == marked()


def test_the_program_runs():
    spec = importlib.util.spec_from_file_location("program", HERE / "program.py")
    program = importlib.util.module_from_spec(spec)
    sys.modules["program"] = program  # its dataclasses look there
    try:
        spec.loader.exec_module(program)
        program.main()
    finally:
        del sys.modules["program"]


# Objects whose attributes are not known before they run.
OPEN = {"autograd/functions.py", "nn/optim/param_groups.py"}


def test_no_getattr_hides_unknown_names_from_checkers():
    """One that gives Any accepts every name; after one that gives NoReturn nothing is checked."""
    core = ROOT / "core" / "weft"
    seen = []
    for path in sorted(core.rglob("*.py")):
        if path.is_relative_to(core / "testing"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        hidden = {
            node
            for guard in ast.walk(tree)
            if isinstance(guard, ast.If) and "TYPE_CHECKING" in ast.unparse(guard.test)
            for branch in (guard.body if "not" in ast.unparse(guard.test) else guard.orelse)
            for node in ast.walk(branch)
        }
        seen += [
            path.relative_to(core).as_posix()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
            if node not in hidden
        ]
    assert set(seen) == OPEN


@pytest.mark.parametrize("name", PACKAGES)
def test_every_package_is_marked_as_typed(name):
    found = importlib.util.find_spec(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    assert (Path(found.origin).parent / "py.typed").exists()
