"""The section of the kit on collectives, on devices of one process that have them."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_the_kit_passes_on_a_family_of_one_process(tmp_path):
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p",
        "helpers.collective_family", "--pyargs", "weft.testing.conformance.test_collectives",
        "--weft-device", "GANG",
    ]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "passed" in done.stdout and " failed" not in done.stdout
