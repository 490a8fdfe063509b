"""The example stays short, uses only the plugin API, and computes."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "weft_toy" / "__init__.py"


def test_it_is_under_a_hundred_lines():
    assert len(FILE.read_text().splitlines()) < 100


def test_it_imports_only_the_plugin_api():
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


def matrix_product(device):
    """A product of matrices, and the kinds of Opts of its kernel on a device."""
    import numpy as np

    from weft import Tensor
    from weft.engine import lower_schedule_item

    numbers = np.random.default_rng(0).integers(-4, 5, (2, 96, 96)).astype("float32")
    a, b = (Tensor(each, device=device).realize() for each in numbers)
    (item,) = (a @ b).schedule()
    opts = {opt.kind.name for opt in lower_schedule_item(item).prg.p.program.applied}
    return opts, np.array_equal((a @ b).numpy(), numbers[0] @ numbers[1])


def test_its_kernels_get_the_generic_choice(toy):
    opts, right = matrix_product(toy)
    assert opts == {"UPCAST", "UNROLL"} and right


def test_the_simd_strategy_is_one_line_more(toy, monkeypatch):
    pytest.importorskip("weft_simd", reason="weft-cpu-clang is not installed")
    import weft_toy
    from weft.device import registry
    from weft.plugin import Device
    from weft_simd import choose, passes

    ours = registry.current().open(toy)
    monkeypatch.setattr(
        weft_toy, "Device", lambda *given: Device(*given, passes=passes, choose=choose)
    )
    own = registry.Registry()
    if not any(plugin.family == "TOY" for plugin in own.plugins):
        own.register(weft_toy, "TOY")
    with registry.use(own):
        opts, right = matrix_product("TOY")
        target = registry.open("TOY").target
    assert target.passes is passes and target.choose is choose
    assert ours.target.passes is None is ours.target.choose
    assert opts != {"UPCAST", "UNROLL"} and right
