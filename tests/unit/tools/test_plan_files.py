"""Plans as files: their format, and that they run without weft."""

import importlib.util
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from weft import Tensor, settings
from weft.device import registry
from weft.tools import cli, plan_files
from weft.tools.dry_run import dry_run

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "howto" / "compile-for-other-machines.md"
PROGRAM = """
from weft import Tensor, Variable, jit

weights = Tensor([[n * 0.25 - 1 for n in range(m, m + 4)] for m in range(3)])

@jit
def step(x):
    return ((x @ weights).relu().sum(1) * 2).realize()

for i in range(3):
    print(step(Tensor([[i, 1.0, 2.0], [3.0, i, 1.0]]).realize()).tolist())
n = Variable("n", 1, 8)
rows = Tensor([[float(i), 1.0] for i in range(8)]).realize()
for i in (3, 5):
    print(rows[: n.bind(i)].sum(0).tolist())
a = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
a[1:3] = Tensor([7.0, 8.0])
print(a.tolist())
"""


@pytest.fixture
def folder(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    return tmp_path


def written(folder, target, *words):
    out = folder / "out"
    line = ["compile", "--target", target, *words, str(folder / "program.py"), "--out", str(out)]
    assert cli.main(line) == 0
    return out, json.loads((out / "plan.json").read_text())


def test_every_word_of_a_plan(folder):
    pytest.importorskip("weft_cpu_clang")
    out, plan = written(folder, "CPU:x86-64-v3")
    assert list(plan) == ["format", "target", "language", "kernels", "memory", "steps"]
    assert plan["format"] == plan_files.FORMAT and plan["language"] == "c"
    for kernel in plan["kernels"]:
        assert {one["access"] for one in kernel["buffers"]} <= {"read", "write", "read and write"}
        assert kernel["buffers"][0]["access"] != "read"
    assert any(one["variables"] == [{"name": "n", "dtype": "int"}] for one in plan["kernels"])
    for step in plan["steps"]:
        for part in (step.get("to"), step.get("from"), *step.get("buffers", ())):
            if part is not None:
                end = part["offset"] + part["nbytes"]
                assert end <= plan["memory"][part["memory"]]["nbytes"]
        if step["do"] == "write":
            assert (out / step["data"]).stat().st_size == step["to"]["nbytes"]
        if step["do"] == "launch":
            kernel = plan["kernels"][step["kernel"]]
            assert len(step["buffers"]) == len(kernel["buffers"])
            assert len(step["values"]) == len(kernel["variables"])
    assert sum(step["do"] == "read" for step in plan["steps"]) == 6


def test_plans_run_without_weft(folder):
    """The program of the page, in a process that has no weft, gives what the program gives."""
    pytest.importorskip("weft_cpu_clang")
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the wheel ziglang, which compiles C here, is not installed")
    if not PAGE.exists():
        pytest.skip("the page is not here: these tests run outside the repository")
    out, _ = written(folder, "CPU:x86-64-v3")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    env = {**os.environ, "CC": f"{sys.executable} -m ziglang cc"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(out)], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = [struct.unpack(f"{len(line) // 8}f", bytes.fromhex(line)) for line in
             done.stdout.split()]  # fmt: skip
    real = subprocess.run(
        [sys.executable, str(folder / "program.py")], capture_output=True, text=True,
        env={**os.environ, "WEFT_DEVICE": "CPU"},
    )  # fmt: skip
    wanted = [tuple(json.loads(line)) for line in real.stdout.splitlines()]
    assert len(wanted) == 6
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other)


def test_copies_between_devices_of_the_family_are_steps(tmp_path):
    pytest.importorskip("weft_cpu_clang")
    own, plan = dry_run("CPU", "aarch64")
    with registry.use(own):
        x = Tensor([1.0, 2.0], device="CPU:1").realize()
        (x.to("CPU:2") + 1).tolist()
    plan_files.write(tmp_path, "CPU:aarch64", plan)
    content = json.loads((tmp_path / "plan.json").read_text())
    assert [step["do"] for step in content["steps"]] == ["write", "copy", "launch", "read"]
    assert {one["device"] for one in content["memory"]} == {"CPU:1", "CPU:2"}


def test_images_are_distinguished_from_buffers(tmp_path):
    pytest.importorskip("weft_opencl")
    own, plan = dry_run("OPENCL", "pocl")
    with registry.use(own), settings.override(IMAGE=1):
        x = Tensor.empty(6, 8, dtype="half", device="OPENCL")
        (x @ Tensor.empty(8, 2, dtype="half", device="OPENCL")).realize()
    plan_files.write(tmp_path, "OPENCL:pocl", plan)
    memory = json.loads((tmp_path / "plan.json").read_text())["memory"]
    images = [one for one in memory if "image" in one]
    assert {"width": 2, "height": 6, "channel": "half"} in [one["image"] for one in images]
    assert len(images) == 2 and images[0]["nbytes"] in (96, 32)


@pytest.mark.parametrize(
    "target, plugin",
    [("METAL:apple8", "metal"), ("CUDA:sm_90a", "cuda"), ("OPENCL:pocl", "opencl")],
)
def test_functions_have_the_names_of_the_plan(folder, target, plugin):
    pytest.importorskip(f"weft_{plugin}")
    out, plan = written(folder, target)
    for kernel in plan["kernels"]:
        assert f" {kernel['name']}(" in (out / kernel["source"]).read_text()
    launches = [step for step in plan["steps"] if step["do"] == "launch"]
    assert all(len(step["global_size"]) == len(step["local_size"]) == 3 for step in launches)


def test_kernels_of_one_name_keep_their_own_files():
    class Program:
        name = "E_4"

    assert plan_files._file_name(Program, "c", {}) == "E_4.c"
    assert plan_files._file_name(Program, "c", {"...": "E_4.c"}) == "E_4-1.c"


def test_names_of_files_are_no_longer_than_file_systems_allow():
    class Program:
        name = "E" + "_2" * 300

    first = plan_files._file_name(Program, "metal", {})
    second = plan_files._file_name(Program, "metal", {"...": first})
    assert first != second and max(map(len, (first, second))) <= 255
