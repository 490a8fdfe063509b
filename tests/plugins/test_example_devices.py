"""The devices in `examples/` bring tests of their own, which run here too."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("name", ["toy_device", "remote_device"])
def test_its_tests_pass(name):
    folder = EXAMPLES / name
    if not folder.is_dir():
        pytest.skip("the examples are not here")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"\d+ passed", done.stdout)
