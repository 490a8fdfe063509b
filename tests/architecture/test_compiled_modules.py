"""The modules that a wheel may have compiled: `core/pyproject.toml` lists them, and the build hook
`core/hatch_build.py` compiles them."""

import ast
import tomllib
import zipfile
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "core"
SETTINGS = tomllib.loads((CORE / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["modules"]
# names by which a module counts frames, or replaces code; a compiled function has none of its own
OF_FRAMES = {"_getframe", "currentframe", "named_after", "record", "stacklevel"}


@pytest.mark.parametrize("name", MODULES)
def test_each_is_a_module_that_may_be_compiled(name):
    tree = ast.parse((CORE / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8"))
    used = {
        getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None)
        for node in ast.walk(tree)
    }
    assert not OF_FRAMES & used
    assert MODULES[name], "the reason"


def test_a_wheel_is_pure_by_default(tmp_path, monkeypatch):
    wheels = pytest.importorskip("hatchling.builders.wheel")
    monkeypatch.delenv("WEFT_COMPILED", raising=False)
    (built,) = wheels.WheelBuilder(str(CORE)).build(directory=str(tmp_path), versions=["standard"])
    assert built.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(built) as wheel:
        names = wheel.namelist()
    assert {f"{name.replace('.', '/')}.py" for name in MODULES} <= set(names)
    assert not [name for name in names if name.endswith((".so", ".pyd", ".dylib", ".c"))]


@pytest.mark.parametrize("value, tools", [("", []), ("0", []), ("1", ["cython", "setuptools"])])
def test_only_a_compiled_wheel_needs_more_tools(value, tools, monkeypatch):
    wheels = pytest.importorskip("hatchling.builders.wheel")
    monkeypatch.setenv("WEFT_COMPILED", value)
    builder = wheels.WheelBuilder(str(CORE))
    (hook,) = builder.get_build_hooks("").values()
    assert [need.partition(">")[0] for need in hook.dependencies()] == tools


def test_another_value_of_the_variable_is_an_error(monkeypatch):
    wheels = pytest.importorskip("hatchling.builders.wheel")
    monkeypatch.setenv("WEFT_COMPILED", "yes")
    (hook,) = wheels.WheelBuilder(str(CORE)).get_build_hooks("").values()
    with pytest.raises(ValueError, match="WEFT_COMPILED=yes: 1 compiles modules, 0 does not"):
        hook.dependencies()
