"""Tests mirror the source: every layer has its folder of unit tests, every folder of unit tests a
folder of the core, and on the layers that others build on every module has a test of its own.

A module's tests are the file of its name in the mirrored folder; modules that are tested together
may share one on their layer, which then imports each of them. The passes of scheduling and code
generation and the mixins of Tensor are tested through their layer's public module, since what
matters is what they do together.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE, UNIT = ROOT / "core" / "weft", ROOT / "tests" / "unit"

MODULE_BY_MODULE = ("array_api", "base", "device", "host", "io", "nn", "render", "shape", "tools")


def layers():
    return sorted(path.parent.name for path in CORE.glob("*/__init__.py"))


def modules():
    """Modules that hold code: an `__init__.py` that only re-exports has none."""
    for layer in MODULE_BY_MODULE:
        for path in sorted((CORE / layer).rglob("*.py")):
            if path.name != "__init__.py":
                yield path.relative_to(CORE).as_posix()


def is_tested(module):
    path = Path(module)
    if (UNIT / path.parent / f"test_{path.stem}.py").exists():
        return True
    dotted = "weft." + module.removesuffix(".py").replace("/", ".")
    package, _, name = dotted.rpartition(".")
    imported = re.compile(
        rf"(from|import) {re.escape(dotted)}\b|from {re.escape(package)} import [^\n]*\b{name}\b"
    )
    layer = UNIT / path.parts[0]
    return any(imported.search(test.read_text(encoding="utf-8")) for test in layer.rglob("*.py"))


@pytest.mark.parametrize("layer", layers())
def test_every_layer_has_unit_tests(layer):
    assert list((UNIT / layer).rglob("test_*.py")), f"there is no tests/unit/{layer}"


@pytest.mark.parametrize("module", list(modules()))
def test_every_module_has_its_test(module):
    path = Path(module)
    assert is_tested(module), (
        f"core/weft/{module} has no tests/unit/{path.parent}/test_{path.stem}.py, "
        f"and no test in tests/unit/{path.parts[0]} imports it"
    )


def test_every_folder_of_unit_tests_is_a_folder_of_the_core():
    folders = {path.parent.relative_to(UNIT) for path in UNIT.rglob("test_*.py")}
    assert [str(folder) for folder in sorted(folders) if not (CORE / folder).is_dir()] == []
