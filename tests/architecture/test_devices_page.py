"""The page on writing a device is a program: its blocks run in order, and what it claims holds."""

import re
from pathlib import Path

import pytest

from weft import Tensor, jit
from weft.device import Registry, registry
from weft.plugin import API_VERSION, unregister
from weft.testing.pytest_plugin import REPORT_SUFFIXES
from weft.tools.cli import COMMANDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "devices.md"


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


def test_the_blocks_run_in_order(text):
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert len(blocks) >= 7
    names = {"__name__": "page"}
    with registry.use(Registry()):
        for block in blocks:
            exec(compile(block, str(PAGE), "exec"), names)
        assert registry.open("PAGE").capabilities.name == "Python, written on one page"


def test_the_device_is_under_a_hundred_lines(text):
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    before = blocks[: next(n for n, block in enumerate(blocks) if "import Tensor" in block)]
    lines = [line for block in before for line in block.splitlines() if line.strip()]
    assert len(lines) < 100


def test_a_cell_that_is_edited_and_run_again(text):
    """As in a notebook: a renderer that is wrong, mended, while tensors lie on the device."""
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    cells = blocks[: next(n for n, block in enumerate(blocks) if "import Tensor" in block)]
    names = {"__name__": "page"}
    with registry.use(Registry()):
        for cell in cells:
            exec(cell, names)
        x = Tensor([1.0, 2.0], device="PAGE").realize()

        @jit
        def step(x):
            return (x + 3).realize()

        assert [step(x).tolist() for _ in range(3)] == [[4.0, 5.0]] * 3
        for signs in ('Ops.ADD: "-"', 'Ops.ADD: "+"'):
            for cell in cells[1:]:
                exec(cell.replace('Ops.ADD: "+"', signs), names)
            wanted = [4.0, 5.0] if "+" in signs else [-2.0, -1.0]
            assert (x + 3).tolist() == step(x).tolist() == wanted
        unregister("PAGE")
        assert x.tolist() == [1.0, 2.0]


def test_what_it_names_is_there(text):
    assert f"weft_api = {API_VERSION}" in text
    versions = re.findall(r"^\| (\d+)\.(\d+) \|", text, re.M)
    assert tuple(map(int, versions[-1])) == API_VERSION
    for command in re.findall(r"`weft ([\w-]+)", text):
        assert command in COMMANDS
    for suffix in REPORT_SUFFIXES:
        assert f"`{suffix}`" in text
