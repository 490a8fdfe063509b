"""The example stays short, uses only the plugin API, computes, and passes the kit."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = [HERE / "weft_remote" / name for name in ("__init__.py", "server.py")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_it_is_under_a_hundred_lines(file):
    assert len(file.read_text().splitlines()) < 100


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_it_imports_only_the_plugin_api(file):
    tree = ast.parse(file.read_text())
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {n for n in names if n.partition(".")[0] not in sys.stdlib_module_names} <= {
        "weft.plugin"
    }


@pytest.fixture
def run(tmp_path):
    """``run(*arguments)``: Python in a process where the example is installed."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    metadata = tmp_path / "weft_remote-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weft-remote\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[weft.devices]\nREMOTE = weft_remote\n")
    known = (str(HERE), str(tmp_path), os.environ.get("PYTHONPATH"))
    path = os.pathsep.join(filter(None, known))

    def python(*arguments):
        return subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True,
            timeout=600, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip

    return python


def test_tensors_compute_on_it_and_failures_are_reported(run):
    code = """
from weft import Tensor, dtypes
from weft.device import Buffer, registry
from weft.plugin import DeviceUnavailable, OutOfMemory

rows = Tensor([[1.0, 2.0], [3.0, 4.0]], device="REMOTE")
assert (rows @ rows + 0.5).tolist() == [[7.5, 10.5], [15.5, 22.5]]
try:
    Buffer("REMOTE", 1 << 50, dtypes.uint8).allocate()
    raise SystemExit("so much memory?")
except OutOfMemory as error:
    assert "on the server" in str(error)
assert rows.sum().item() == 10.0
try:
    registry.open("REMOTE:localhost:1")
    raise SystemExit("who answers there?")
except DeviceUnavailable as error:
    assert "nobody answers there" in str(error)
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr


def test_it_passes_the_kit(run):
    """The parts in which a device at the other end of a wire could be wrong."""
    import weft.testing.conformance

    folder = Path(weft.testing.conformance.__file__).parent
    parts = ("declaration", "memory", "views", "copy", "launches", "compile")
    files = [str(folder / f"test_{part}.py") for part in parts]
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "--weft-device", "REMOTE")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
