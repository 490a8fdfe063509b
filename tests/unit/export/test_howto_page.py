"""docs/howto/compile_to_c.md: its blocks run, one after another, in an empty folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from weft.device import registry

pytest.importorskip("onnx", reason="the page makes a model with the package onnx")

PAGE = Path(__file__).resolve().parents[3] / "docs" / "howto" / "compile_to_c.md"


def program():
    """The blocks as one program. Blocks of a shell begin in the first folder."""
    parts = []
    text = PAGE.read_text(encoding="utf-8")
    for language, block in re.findall(r"```(python|sh)\n(.*?)```", text, re.DOTALL):
        parts.append(
            block
            if language == "python"
            else f"subprocess.run({block!r}, shell=True, check=True, executable='/bin/sh')"
        )
    return "import subprocess\n" + "\n".join(parts)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no cc")
@pytest.mark.skipif(
    not hasattr(registry.open(registry.canonical(None)).compiler, "build_library"),
    reason="the default device has no C compiler",
)
def test_the_blocks_run(tmp_path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert "libclassify" in done.stdout and "1 kernel" in done.stdout
