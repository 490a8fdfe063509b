"""The conformance kit, run against every installed device that opens here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from weft.base.errors import DeviceError, UnknownDevice
from weft.device import registry
from weft.device.discovery import installed_plugins

KINDS = {"REF": ["REF", "REF:vector", "REF:grid"]}
"""Families with several kinds of device."""
PLUGINS = Path(__file__).resolve().parents[1] / "plugins"


def devices():
    """Device strings to test: of every family, its first device, or a fresh place."""
    for family in sorted({plugin.family for plugin in installed_plugins()}):
        yield from KINDS.get(family, [family])


@pytest.mark.parametrize("device", list(devices()))
def test_the_kit_passes(device, tmp_path):
    try:
        registry.open(device)
    except UnknownDevice:
        device = f"{device}:{{tmp}}/kit.bin"  # a device that is named by its place
    except DeviceError as error:
        pytest.skip(f"{device} does not open here: {error.because or error.summary}")
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs",
        "weft.testing.conformance", "--weft-device", device,
    ]  # fmt: skip
    xfails = PLUGINS / device.partition(":")[0].lower() / "xfails.txt"
    if xfails.exists():
        command += ["--weft-xfails", str(xfails)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    assert re.search(r"\d+ passed", done.stdout)
