"""The page on writing a device is a program: its blocks run in order, and what it claims holds."""

import inspect
import re
from pathlib import Path

import pytest

from weft import Tensor, dtypes, jit
from weft.device import Registry, hookspecs, registry
from weft.engine import lower_schedule_item
from weft.plugin import API_VERSION, Ops, unregister
from weft.testing.pytest_plugin import REPORT_SUFFIXES
from weft.tools.cli import COMMANDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "write-a-device.md"


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


def test_named_commands_and_versions_exist(text):
    assert f"weft_api = {API_VERSION}" in text
    versions = re.findall(r"^\| (\d+)\.(\d+) \|", text, re.M)
    assert tuple(map(int, versions[-1])) == API_VERSION
    for command in re.findall(r"`weft ([\w-]+)", text):
        assert command in COMMANDS
    for suffix in REPORT_SUFFIXES:
        assert f"`{suffix}`" in text


def test_the_codes_of_dtypes(text):
    rows = dict(re.findall(r"^\| `(\w+)` \| (`.`|None) \| \d+ \|$", text, re.M))
    sizes = dict(re.findall(r"^\| `(\w+)` \| (?:`.`|None) \| (\d+) \|$", text, re.M))
    every = {dtypes.bool, *dtypes.ints, *dtypes.floats}
    assert {getattr(dtypes, name) for name in rows} == every
    for name, code in rows.items():
        dtype = getattr(dtypes, name)
        assert dtype.fmt == (None if code == "None" else code.strip("`"))
        assert dtype.itemsize == int(sizes[name])


def test_the_arguments_of_hooks(text):
    rows = re.findall(r"^\| `(weft_\w+)` \| (.*?) \|", text, re.M)
    hooks = {n: f for n, f in vars(hookspecs).items() if n.startswith("weft_")}
    assert {name for name, _ in rows} == hooks.keys()
    for name, arguments in rows:
        assert re.findall(r"`(\w+)`", arguments) == list(inspect.signature(hooks[name]).parameters)


@pytest.mark.parametrize("device", ["REF", "REF:vector"])
def test_shifts_by_the_width_and_more(device):
    x = Tensor([5, -5, 1], dtype=dtypes.int32, device=device)
    for distance in (32, 33, 1000, -1, -40):
        by = Tensor([distance] * 3, dtype=dtypes.int32, device=device)
        assert (x << by).tolist() == [0, 0, 0]
        assert (x >> by).tolist() == [0, -1, 0]


@pytest.mark.parametrize("op", [Ops.SHL, Ops.SHR])
def test_programs_shift_by_less_than_the_width(op):
    """The evaluator of the reference would not show it: the distances in the program are masked."""
    x = Tensor([5, -5, 1], dtype=dtypes.int32, device="REF")
    by = Tensor([1, 40, -2], dtype=dtypes.int32, device="REF").realize()
    node = (x << by) if op is Ops.SHL else (x >> by)
    program = lower_schedule_item(node.schedule()[-1]).prg.p.program
    shifts = [u for u in program.uops if u.op is op]
    assert shifts and all(0 <= u.src[1].vmin and u.src[1].vmax < 32 for u in shifts)


def test_an_allocator_is_asked_for_once_for_each_device(text):
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    names = {"__name__": "page"}
    with registry.use(Registry()):
        for block in blocks[: next(n for n, b in enumerate(blocks) if "import Tensor" in b)]:
            exec(block, names)
        first, second = registry.open("PAGE"), registry.open("PAGE:1")
        assert first.allocator is first.allocator is not second.allocator
        assert first.device.id.locator == "0" and second.device.id.locator == "1"
