"""docs/howto/pytorch.md: its blocks run, one after another."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the page compiles models of PyTorch")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "pytorch.md"


def test_the_blocks_run(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    program = "\n".join(blocks)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    first, accuracy, cubes, *rest = done.stdout.splitlines()
    assert first == "True" and rest == ["True"] * 4, done.stdout
    assert int(accuracy.removesuffix("%")) > 80
    assert cubes == "tensor([2., 2.])"
