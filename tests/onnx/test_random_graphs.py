"""Random graphs beside the package `onnx` and ONNX Runtime: shapes, dtypes and values agree."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.example_counts import examples

pytest.importorskip("onnx", reason="the package onnx makes the models")
pytest.importorskip("onnxruntime", reason="ONNX Runtime evaluates the models")

PROGRAM = Path(__file__).with_name("fuzz_graphs.py")


def test_random_graphs():
    command = [sys.executable, PROGRAM, str(examples(30))]
    environment = {**os.environ, "WEFT_DEVICE": "REF"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 refused by weft" in done.stdout
