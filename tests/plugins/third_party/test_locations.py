"""A plugin that holds ``mem://`` URLs: found by its metadata, and no other is imported."""

import os
import subprocess
import sys

import pytest

HOLDS = """
from weft.plugin import Allocator, Capabilities, Device, DeviceFamily, DeviceId, MemoryCaps
from weft.plugin import hookimpl

weft_api = (1, 0)
FILES = {}


class Memory(Allocator):
    def __init__(self, name):
        self.name = name

    def capacity(self):
        return len(FILES[self.name]) if self.name in FILES else None

    def allocate(self, nbytes, hints):
        return memoryview(FILES.setdefault(self.name, bytearray(nbytes)))

    def view(self, handle, offset, nbytes):
        return handle[offset : offset + nbytes]

    def copy_in(self, dst, src):
        dst[:] = src

    def copy_out(self, dst, src):
        dst[:] = src


@hookimpl
def weft_devices():
    return [DeviceFamily("MEM", computes=False, canonical=str)]


@hookimpl
def weft_locate(source):
    if isinstance(source, str) and source.startswith("mem://"):
        return DeviceId("MEM", source.removeprefix("mem://"))


@hookimpl
def weft_open(id):
    return Device(id, Capabilities(MemoryCaps(persistent=True, resident=False)))


@hookimpl
def weft_allocator(device):
    return Memory(device.id.locator)
"""

OTHER = "raise AssertionError('a plugin that holds other schemes is not imported')\n"


def distribution(folder, name, text, points):
    package = name.replace("-", "_")
    (folder / f"{package}.py").write_text(text)
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(points)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """``python(code)`` where a plugin that holds ``mem://`` is installed, and one for ``tape://``."""
    folder = tmp_path_factory.mktemp("site")
    points = "[weft.devices]\nMEM = holds_mem\n\n[weft.locations]\nmem = holds_mem\n"
    distribution(folder, "holds-mem", HOLDS, points)
    points = points.replace("mem", "tape").replace("MEM", "TAPE")
    distribution(folder, "holds-tape", OTHER, points)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))

    def run(code):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_url_is_a_lazy_tensor_where_it_is_held(python):
    code = """
import struct, sys
from weft import Tensor, dtypes
from weft.device import registry

assert str(registry.locate("mem://a")) == "MEM:a"
assert "holds_mem" in sys.modules and "holds_tape" not in sys.modules
assert not {"weft_cpu_clang", "weft_cuda", "weft_opencl"} & set(sys.modules)
sys.modules["holds_mem"].FILES["a"] = bytearray(struct.pack("<3f", 1, 2, 3))
for made in (Tensor.from_file("mem://a"), Tensor.from_url("mem://a")):
    assert made.device == "MEM:a" and made.dtype is dtypes.uint8 and made.shape == (12,)
    assert made.bitcast("float32").to("HOST").tolist() == [1, 2, 3]
assert Tensor.from_file("mem://a", dtype="float32").shape == (3,)
assert Tensor.from_url("mem://a", device="HOST").device == "HOST"
"""
    python(code)


def test_weights_are_loaded_from_a_url(python, tmp_path):
    code = f"""
from pathlib import Path
import sys
from weft import Tensor, nn
from weft.device import registry

nn.state.safe_save({{"w": Tensor([1.0, 2.0], device="HOST")}}, {str(tmp_path / "w")!r})
registry.locate("mem://w")
sys.modules["holds_mem"].FILES["w"] = bytearray(Path({str(tmp_path / "w")!r}).read_bytes())
weight = nn.state.safe_load("mem://w")["w"]
print(weight.device, weight.to("HOST").tolist())
"""
    assert python(code) == "MEM:w [1.0, 2.0]\n"


def test_unknown_locations_are_weft_errors(python):
    code = """
from weft import Tensor
from weft.base.errors import ArgumentError, FileError, UnknownDevice

for url, error in (("mem://none", FileError), ("unknown://a", UnknownDevice)):
    try:
        Tensor.from_file(url)
    except error as told:
        print(url in str(told))
try:
    Tensor.from_url("unknown://a")
except ArgumentError as told:
    print("http://" in str(told))
"""
    assert python(code) == "True\nTrue\nTrue\n"
