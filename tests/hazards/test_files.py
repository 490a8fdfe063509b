"""Files that are missing, forbidden or folders: our error, of the class that Python has for it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft import Tensor, nn
from weft.base.errors import FileError
from weft.io import gguf_load, npy_load, torch_load

ROUTES = {
    "Tensor": Tensor,
    "Tensor.from_file": Tensor.from_file,
    "safe_load": nn.state.safe_load,
    "torch_load": torch_load,
    "npy_load": npy_load,
    "gguf_load": gguf_load,
    "weft.load": weft.load,
}


@pytest.mark.parametrize("route", ROUTES)
def test_a_missing_file(route, tmp_path):
    path = tmp_path / "absent.bin"
    with pytest.raises(FileNotFoundError) as caught:
        ROUTES[route](path)
    error = caught.value
    assert isinstance(error, FileError) and error.errno == errno.ENOENT
    assert os.fspath(error.filename) == os.fspath(path) and "absent.bin" in str(error)


@pytest.mark.parametrize("route", ROUTES)
def test_a_folder(route, tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        ROUTES[route](tmp_path)
    assert isinstance(caught.value, FileError) and caught.value.errno == errno.EISDIR


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
@pytest.mark.parametrize("route", ROUTES)
def test_a_forbidden_file(route, tmp_path):
    path = tmp_path / "secret.bin"
    path.write_bytes(b"1234")
    path.chmod(0)
    with pytest.raises(PermissionError) as caught:
        ROUTES[route](path)
    assert isinstance(caught.value, FileError) and caught.value.errno == errno.EACCES


def test_saving_over_a_folder_or_into_none(tmp_path):
    state = {"w": Tensor([1.0])}
    with pytest.raises(IsADirectoryError):
        nn.state.safe_save(state, tmp_path)
    with pytest.raises(FileNotFoundError):
        nn.state.safe_save(state, tmp_path / "none" / "w.safetensors")


def command(*words, folder):
    return subprocess.run(
        [sys.executable, "-m", "weft.tools.cli", "compile", "--target", "CPU:x86-64-v3", *words],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip


PROGRAM = "from weft import Tensor\n(Tensor([1.0, 2.0]) + 1).tolist()\n"


@pytest.mark.parametrize(
    ("program", "out", "told"),
    [
        (PROGRAM, "taken", "a file has this name"),
        ("x = (1,\n", "new", "SyntaxError"),
        ("def f():\n    return 1 / 0\nf()\n", "new", "ZeroDivisionError"),
    ],
)
def test_what_weft_compile_says_of_failures(program, out, told, tmp_path):
    Path(tmp_path, "taken").write_text("")
    Path(tmp_path, "program.py").write_text(program)
    done = command("--out", out, "program.py", folder=tmp_path)
    assert done.returncode == 1 and told in done.stderr, done.stderr
    own = [line for line in done.stderr.splitlines() if os.sep + "weft" + os.sep in line]
    assert not own and "runpy" not in done.stderr, done.stderr
