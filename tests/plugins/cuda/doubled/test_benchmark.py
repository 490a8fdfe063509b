"""The benchmark for GPUs runs to its end, so that it does so on the first minute of a real one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[4] / "benchmarks"
ONLY_WITH_A_CHECKOUT = pytest.mark.skipif(
    not (FOLDER / "gpu.py").exists(), reason="the benchmarks are in a checkout only"
)


@ONLY_WITH_A_CHECKOUT
def test_it_measures_compares_and_writes(tmp_path):
    options = ["--small", "--out", str(tmp_path), "--sources", str(tmp_path / "kernels")]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "gpu.py"), *options], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "test-double.json").read_text())["results"]
    names = [result["name"] for result in results]
    for word in ("copy within", "launch", "replay", "softmax", "attention", "matmul bf16"):
        assert any(word in name for name in names), word
    (softmax,) = (result for result in results if result["name"].startswith("softmax"))
    assert softmax["apart"] <= 1e-5 and softmax["rate"] > 0
    assert softmax["kernels"][0]["registers"] > 0
    assert "__global__" in (tmp_path / "kernels" / "softmax-64-0.cu").read_text()
    assert "| softmax 64 |" in (tmp_path / "test-double.md").read_text()


@ONLY_WITH_A_CHECKOUT
def test_a_checkout_serves_where_nothing_can_be_installed(tmp_path):
    """Its plugins, pytest's too, are found by a Python that has not got them."""
    export = subprocess.run(
        [sys.executable, str(FOLDER / "without_installing.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    path = export.partition("=")[2].strip().strip('"')
    code = (
        "from importlib.metadata import entry_points, version; print(version('weft-cuda'));"
        "print(entry_points(group='weft.devices', name='CUDA'), entry_points(group='pytest11'));"
        "import weft.base.errors"
    )
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "value='weft_cuda'" in done.stdout and "weft.testing.pytest_plugin" in done.stdout
