"""Pyright over weft's own sources: strict in the compiler, standard elsewhere; no error is added.

`sources.json` is strict for all, less four rules: arguments are looked at also where types promise
what they are, lambdas of rule tables have no annotations, modules of a package share names that
begin with an underscore, and drivers need not be installed. Rules that only the strict mode has do
not count outside of the compiler.
"""

import json
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

STRICT = {
    "base", "codegen", "device", "engine", "host", "plugin.py", "render", "schedule", "shape",
    "spec", "uop",
}  # fmt: skip
"""The compiler, the host's memory and the plugin API."""

ONLY_STRICT = {
    "reportConstantRedefinition", "reportDeprecated", "reportInconsistentConstructor",
    "reportMatchNotExhaustive", "reportMissingParameterType", "reportMissingTypeArgument",
    "reportTypeCommentUsage", "reportUnknownArgumentType", "reportUnknownMemberType",
    "reportUnknownParameterType", "reportUnknownVariableType", "reportUnnecessaryCast",
    "reportUnnecessaryContains", "reportUntypedBaseClass", "reportUntypedClassDecorator",
    "reportUntypedFunctionDecorator", "reportUntypedNamedTuple", "reportUnusedClass",
    "reportUnusedFunction", "reportUnusedImport", "reportUnusedVariable",
}  # fmt: skip
"""Rules that the standard mode does not have."""

NEEDS = {"torch": "torch", "mpi": "weft_mpi"}
"""What is known of the types of a package only where this module is installed."""

LEFT: dict[str, int] = {}
"""Errors by package: to become none. A package that is not here has none."""


def package_of(file):
    """The package of the core, or the plugin's distribution."""
    path = Path(file).relative_to(ROOT)
    return path.parts[2] if path.parts[0] == "core" else path.parts[1]


@pytest.fixture(scope="module")
def errors():
    """The errors that count, by package."""
    pytest.importorskip("pyright")
    if not (ROOT / "core" / "weft").is_dir():
        pytest.skip("the sources are not here")
    command = ("--outputjson", "--pythonpath", sys.executable, "-p", str(HERE / "sources.json"))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", *command], cwd=HERE, capture_output=True, text=True,
        timeout=1800,
    )  # fmt: skip
    if not done.stdout.startswith("{"):
        pytest.skip("pyright does not run here: it needs node (pyright[nodejs])")
    told = json.loads(done.stdout)
    assert told["summary"]["filesAnalyzed"] > 400
    found = {}
    for each in told["generalDiagnostics"]:
        package = package_of(each["file"])
        if package in NEEDS and find_spec(NEEDS[package]) is None:
            continue
        if each["severity"] != "error" or "unknown import symbol" in each["message"]:
            continue  # of a driver of which a part is installed
        if package in STRICT or each.get("rule") not in ONLY_STRICT:
            line = each["range"]["start"]["line"] + 1
            found.setdefault(package, []).append(f"{each['file']}:{line}: {each['message']}")
    return found


def test_no_error_is_added(errors):
    counted = Counter({package: len(lines) for package, lines in errors.items()})
    more = {package for package in counted if counted[package] > LEFT.get(package, 0)}
    assert not more, "\n".join(line for package in sorted(more) for line in errors[package])


def test_no_stale_exceptions(errors):
    """A package that is mended leaves the table."""
    assert set(LEFT) <= set(errors), dict.fromkeys(set(LEFT) - set(errors), 0)
