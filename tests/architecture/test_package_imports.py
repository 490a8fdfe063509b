"""Packages are imported through their public API: the package itself, or one of its public modules.

Other modules belong to the package. How often they are imported from outside is counted; the
numbers in `LEFT` may only fall.
"""

import ast
import importlib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "core" / "weft"
PACKAGES = sorted(path.parent.name for path in CORE.glob("*/__init__.py"))

PUBLIC = {
    "autograd": {"history"},
    "codegen": {
        "analysis",
        "linearization",
        "opt.kernel",
        "opt.opts",
        "opt.search_space",
        "pipeline",
        "strategy_api",
    },
    "device": {
        "binding",
        "hookspecs",
        "machine",
        "packed_dot",
        "program",
        "registry",
        "storage",
        "tensor_core",
        "transfer",
    },
    "engine": {
        "candidate_measurement",
        "capture",
        "kernel_cache",
        "recorded_steps",
        "replay",
        "runners",
        "search",
        "tuning_database",
        "worker_processes",
    },
    "fft": {"short_time"},
    "io": {"safetensors_header"},
    "nn": {
        "datasets",
        "datasets.digits",
        "functional",
        "functional.embedding_bags",
        "functional.grid_sampling",
        "functional.normalization",
        "functional.point_sampling",
        "functional.resizing",
        "init",
        "optim",
        "state",
        "utils",
    },
    "schedule": {"cache", "pipeline", "structural_key", "use_def"},
    "shape": {"movement"},
    "spec": {"check", "kernel_ast", "linear", "lowered", "passes", "tensor"},
    "tensor": {
        "alias",
        "autocast",
        "checkpoint",
        "complex",
        "jit",
        "live_tensors",
        "ops.attribute_suggestions",
        "ops.device_placement",
        "ops.index_bounds",
        "ops.neural_network.losses",
        "ops.neural_network.resizing",
        "ops.suggested_names",
        "protocol",
        "return_types",
        "rng",
        "storage",
        "tracing_cache",
    },
    "testing": {"fakes", "reference"},
    "tools": {"capabilities"},
    "uop": {
        "analysis",
        "args",
        "bounds",
        "symbolic.conditions",
        "symbolic.divmod",
        "symbolic.quotient_bounds",
        "symbolic.simplify",
        "symbolic.sint",
        "symbolic.sums",
        "text",
    },
}
"""Modules that are imported by their name; of `base` all are."""

LEFT: dict[str, int] = {}
"""Imports of other modules from outside of their package: to become none."""


@cache
def imports_from_outside():
    """Per package, the places that import a module of it which is not public."""
    found = {package: [] for package in PACKAGES}
    for path in sorted(CORE.rglob("*.py")):
        own = path.relative_to(CORE).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                root, _, rest = node.module.partition(".")
                package, _, module = rest.partition(".")
                if root != "weft" or package not in found or package in (own, "base"):
                    continue
                if module and module not in PUBLIC.get(package, ()):
                    place = f"{path.relative_to(CORE)}:{node.lineno}"
                    found[package].append(f"{place} imports {node.module}")
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_imported_through_its_public_api(package):
    found = imports_from_outside()[package]
    assert len(found) <= LEFT.get(package, 0), (
        f"import from weft.{package} or a public module of it, or export the name there:\n"
        + "\n".join(found)
    )


def test_public_modules_are_there():
    names = {
        f"{package}/{name.replace('.', '/')}" for package in PUBLIC for name in PUBLIC[package]
    }
    missing = [
        name for name in names
        if not ((CORE / f"{name}.py").exists() or (CORE / name / "__init__.py").exists())
    ]  # fmt: skip
    assert missing == []


def starred():
    """(package, module) where a package imports all public names of a module."""
    for package in sorted(CORE.rglob("*.py")):
        for node in ast.walk(ast.parse(package.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                name = ".".join(("weft", *package.relative_to(CORE).with_suffix("").parts))
                if name not in ("weft.__init__", "weft.optim"):  # for type checkers alone
                    yield name.removesuffix(".__init__"), node.module


@pytest.mark.parametrize(("package", "module"), list(starred()))
def test_a_package_lists_all_public_names_of_re_exported_modules(package, module):
    listed, public = (
        importlib.import_module(package).__all__,
        importlib.import_module(module).__all__,
    )
    assert [name for name in public if name not in listed] == []


def test_no_stale_exceptions():
    """A package without such imports leaves the table."""
    counted = Counter({package: len(found) for package, found in imports_from_outside().items()})
    assert {package for package in LEFT if not counted[package]} == set()
