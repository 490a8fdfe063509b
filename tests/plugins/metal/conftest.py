"""The Metal framework's double, and METAL opened on it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import weft_metal
from weft.device import registry
from weft.plugin import DeviceId

HERE = Path(__file__).parent / "double"


@cache
def _double() -> dict[str, ModuleType]:
    """The modules of the double, which only tests that ask for it are to find: whoever looks for
    the best device would take it for a GPU."""
    before = set(sys.modules)
    sys.path.insert(0, str(HERE))
    try:
        import Metal
        import objc
    finally:
        sys.path.remove(str(HERE))
    assert {"Metal", "objc"} == {Metal.__name__, objc.__name__}
    made = {name: sys.modules[name] for name in set(sys.modules) - before}
    ours = {n: m for n, m in made.items() if str(HERE) in (getattr(m, "__file__", None) or "")}
    for name in ours:
        del sys.modules[name]
    return ours


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The double, importable as the framework is."""
    pytest.importorskip("ziglang", reason="the double compiles kernels with the wheel ziglang")
    if "Metal" not in _double():
        pytest.skip("the real framework is here; these tests are about its double")
    for name, module in _double().items():
        monkeypatch.setitem(sys.modules, name, module)
    objc: Any = _double()["objc"]
    objc.crashes.clear()
    yield _double()["Metal"]
    assert not objc.crashes and not objc.depth


@pytest.fixture
def gpu(framework: Any) -> weft_metal.Gpu:
    """An opened device by itself."""
    return weft_metal.weft_open(DeviceId("METAL"))


@pytest.fixture
def metal(framework: Any) -> Iterator[str]:
    """The family METAL, to be used by tensors."""
    own = registry.Registry()
    if not any(plugin.family == "METAL" for plugin in own.plugins):
        own.register(weft_metal, "METAL")
    with registry.use(own):
        yield "METAL"


@pytest.fixture(scope="session")
def checked() -> Callable[[str], str]:
    """What a compiler that knows address spaces says of a source; "" if nothing."""
    ziglang = pytest.importorskip("ziglang", reason="its clang checks address spaces")
    zig = str(Path(ziglang.__file__).parent / "zig")

    def check(source: str) -> str:
        command = [
            zig, "clang", "-cc1", "-x", "clcpp", "-cl-std=clc++2021", "-triple", "spir64",
            "-fsyntax-only", "-Wno-unknown-attributes", "-I", str(HERE / "checked"), "-",
        ]  # fmt: skip
        plain = re.sub(r"^\[\[kernel,.*?\]\]", "kernel", source, flags=re.M | re.S)
        done = subprocess.run(command, input=plain.encode(), capture_output=True)
        return done.stderr.decode() if done.returncode else ""

    return check


@pytest.fixture
def no_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where the framework cannot be imported."""
    monkeypatch.setitem(sys.modules, "Metal", None)
