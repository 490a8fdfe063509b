"""docs/howto/onnx.md: its blocks run, one after another, in an empty folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the page makes a model with the package onnx")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "onnx.md"


def test_the_blocks_run(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    program = "\n".join(blocks)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "x: float32[batch, 4]" in done.stdout and done.stdout.rstrip().endswith("True")
