"""The conformance kit on the framework's double: what kernels compute, and not only their text."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOUBLE = Path(__file__).parent / "double"


def test_the_kit_passes(framework, tmp_path):
    from importlib.metadata import entry_points

    if not any(entry.name == "METAL" for entry in entry_points(group="weft.devices")):
        pytest.skip("weft-metal is not installed, so the kit does not find it")
    path = os.pathsep.join(filter(None, (str(DOUBLE), os.environ.get("PYTHONPATH"))))
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs",
        "weft.testing.conformance", "--weft-device", "METAL",
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=900,
        env={**os.environ, "PYTHONPATH": path, "WEFT_TEST_FEWER": "3"},
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 400
