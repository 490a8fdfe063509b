"""Tests mirror the source: every module of the core has unit tests, and every unit test a module.

A module's tests are the file of its name in the mirrored folder; modules that are tested together
may share one there, which then imports each of them.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE, UNIT = ROOT / "core" / "weft", ROOT / "tests" / "unit"

NOT_MIRRORED = ("testing/conformance/", "nn/datasets/")
"""The kit is tests itself; a data set is tested where it is loaded."""


def modules():
    """Modules that hold code: a package's door that only re-exports has none of its own."""
    for path in sorted(CORE.rglob("*.py")):
        name = path.relative_to(CORE).as_posix()
        if not name.startswith(NOT_MIRRORED) and path.name != "__init__.py" and "/" in name:
            yield name


def is_tested(module):
    path = Path(module)
    if (UNIT / path.parent / f"test_{path.stem}.py").exists():
        return True
    dotted = "weft." + module.removesuffix(".py").replace("/", ".")
    package, _, name = dotted.rpartition(".")
    imported = re.compile(
        rf"(from|import) {re.escape(dotted)}\b|from {re.escape(package)} import [^\n]*\b{name}\b"
    )
    floor = UNIT / path.parts[0]
    return any(imported.search(test.read_text(encoding="utf-8")) for test in floor.rglob("*.py"))


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
