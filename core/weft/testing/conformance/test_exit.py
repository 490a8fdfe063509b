"""A process that ends leaves nothing behind, however it ends: no memory, process or file.

Each test runs a program of its own in another process, which finds the device by its entry point.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid

import pytest

from weft.base.settings import settings
from weft.testing.resources import Watch, is_visible

UNKNOWN = 77
"""The status of a program that does not find the device."""
SECONDS = 120
PROGRAM = f"""
import sys
device, ending = sys.argv[1:]
from weft import Tensor, dtypes
from weft.base.errors import UnknownDevice
from weft.device import Buffer, registry
try:
    opened = registry.open(device)
except UnknownDevice:
    sys.exit({UNKNOWN})
kept = [Buffer(opened.id, size, dtypes.uint8).copy_in(bytes(size)) for size in (1, 4096, 100_000)]
freed = [Buffer(opened.id, size, dtypes.uint8).copy_in(bytes(size)) for size in (7, 5000, 200_000)]
del freed
if opened.capabilities.compute is not None:
    tensor = Tensor([1, 2, 3], dtype=dtypes.int32, device=device)
    result = (tensor * 2 + 1).realize()
    result.tolist()
    pending = (result + tensor).realize()
print("ready", flush=True)
if ending == "raise":
    raise RuntimeError("the program fails")
if ending == "exit":
    sys.exit(3)
if ending == "SIGTERM":
    sys.stdin.read()
"""
ENDINGS = {"return": 0, "raise": 1, "exit": 3, "SIGTERM": -signal.SIGTERM}


@pytest.fixture
def program(weft_device_name, weft_device, tmp_path):
    """``program(ending)`` runs PROGRAM: its status, what it wrote to stderr, what it left."""
    if not is_visible():
        pytest.skip("this system does not show the resources of its processes")
    folder = tmp_path / "temporary"
    folder.mkdir()

    def run(ending: str) -> tuple[int, str, list[str]]:
        mark = f"WEFT_MARK={uuid.uuid4().hex}"
        environment = settings.environment(CACHE=0) | dict([mark.split("=")])
        environment |= {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in sys.path)
        environment.pop("WEFT_DEVICE", None)
        watch, said = Watch(mark, folder), tmp_path / f"said-{mark}"
        with said.open("w") as stderr:
            started = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, weft_device_name, ending],
                env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            )  # fmt: skip
        with started:
            try:
                # Not until its end: what it leaves behind may hold its output open.
                assert started.stdout is not None
                if started.stdout.readline() == "ready\n" and ending == "SIGTERM":
                    started.terminate()
                started.wait(SECONDS)
            except BaseException:
                started.kill()
                raise
        left = watch.left_behind()
        for process in watch.processes():
            os.kill(process, signal.SIGKILL)
        return started.returncode, said.read_text(errors="replace"), left

    return run


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_behind(program, ending):
    status, said, left = program(ending)
    if status == UNKNOWN:
        pytest.skip("another process does not find this device: no entry point is installed")
    assert status == ENDINGS[ending], f"the program ended with status {status}: {said[-2000:]}"
    assert not left, f"left behind after {ending}: {', '.join(left[:20])}"
    assert "Exception ignored" not in said, f"errors after {ending}: {said[-2000:]}"
