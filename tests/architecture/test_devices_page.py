"""The page on writing a device is a program: its blocks run in order, and what it claims holds."""

import re
from pathlib import Path

import pytest

from weft.device import Registry, registry
from weft.plugin import API_VERSION
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
        assert names["registry"].open("PAGE").capabilities.name == "Python, written on one page"


def test_the_device_is_under_a_hundred_lines(text):
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    before = blocks[: next(n for n, block in enumerate(blocks) if "import Tensor" in block)]
    lines = [line for block in before for line in block.splitlines() if line.strip()]
    assert len(lines) < 100


def test_what_it_names_is_there(text):
    assert f"weft_api = {API_VERSION}" in text
    for command in re.findall(r"`weft ([\w-]+)", text):
        assert command in COMMANDS
    for suffix in REPORT_SUFFIXES:
        assert f"`{suffix}`" in text
