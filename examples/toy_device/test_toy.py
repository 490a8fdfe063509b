"""The example stays short, enters by the front door, and computes."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "weft_toy" / "__init__.py"


def test_it_is_under_a_hundred_lines():
    assert len(FILE.read_text().splitlines()) < 100


def test_it_imports_nothing_but_the_door():
    tree = ast.parse(FILE.read_text())
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {n for n in names if n.partition(".")[0] not in sys.stdlib_module_names} == {
        "weft.plugin"
    }


@pytest.fixture
def toy(monkeypatch):
    """The device, whether or not the example is installed."""
    monkeypatch.syspath_prepend(str(FILE.parent.parent))
    import weft_toy
    from weft.device import registry
    from weft.plugin import DeviceUnavailable

    own = registry.Registry()
    if not any(plugin.family == "TOY" for plugin in own.plugins):
        own.register(weft_toy, "TOY")
    with registry.use(own):
        try:
            registry.open("TOY")
        except DeviceUnavailable as reason:
            pytest.skip(str(reason))
        yield "TOY"


def test_tensors_compute_on_it(toy):
    from weft import Tensor

    rows = Tensor([[1.0, 2.0], [3.0, 4.0]], device=toy)
    assert (rows @ rows + 0.5).tolist() == [[7.5, 10.5], [15.5, 22.5]]
    assert rows.max(axis=0).tolist() == [3.0, 4.0]
    assert (Tensor([7, -7, 7], device=toy) // 2).tolist() == [3, -4, 3]
