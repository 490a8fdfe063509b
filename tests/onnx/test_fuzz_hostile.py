"""Mutated models: only errors of weft, no file outside of the model's folder, little memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from helpers.example_counts import examples

pytest.importorskip("onnx", reason="the package onnx makes the models")

PROGRAM = Path(__file__).with_name("fuzz_hostile.py")


def test_mutants_raise_errors_of_weft():
    count = str(examples(60))
    done = subprocess.run([sys.executable, PROGRAM, count], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
