"""Files that are missing, forbidden or folders: our error, of the class that Python has for it."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import weft
from weft import Tensor, nn
from weft.base.errors import FileError, FormatError
from weft.io import gguf_load, npy_load, torch_load
from weft.tools.viz.page import write_page

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


@contextmanager
def as_unprivileged_user():
    """Run as a user without root's permissions."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="a system without users")
@pytest.mark.parametrize("route", ROUTES)
def test_a_forbidden_file(route, tmp_path):
    path = tmp_path / "secret.bin"
    with pytest.raises(FileNotFoundError):
        ROUTES[route](path)  # which imports what it needs
    path.write_bytes(b"1234")
    path.chmod(0)
    with as_unprivileged_user(), pytest.raises(PermissionError) as caught:
        ROUTES[route](path)
    assert isinstance(caught.value, FileError) and caught.value.errno == errno.EACCES
    assert os.fspath(caught.value.filename) == os.fspath(path)


def bound(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.fspath(path))


NO_FILES = {
    "pipe": lambda path: os.mkfifo(path),
    "socket": bound,
    "device": lambda path: path.symlink_to(os.devnull),
    "loop": lambda path: path.symlink_to(path),
}
POSIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes in folders")


@POSIX
@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("route", ROUTES)
def test_special_files_are_not_read(route, kind, tmp_path, monkeypatch):
    """Nor waited for: a pipe without writer never ends."""
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    NO_FILES[kind](Path("it"))
    with pytest.raises(FileError) as caught:
        ROUTES[route](Path("it"))
    assert caught.value.errno and not isinstance(caught.value, FormatError)
    assert caught.value.filename == "it"


SAVERS = {
    "safe_save": lambda path: nn.state.safe_save({"w": Tensor([1.0])}, path),
    "weft.save": lambda path: weft.save({"w": Tensor([1.0])}, path),
    "to(disk)": lambda path: Tensor([1.0]).to(f"disk:{path}").realize(),
    "page": lambda path: write_page({}, path),
}


@POSIX
@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("saver", SAVERS)
def test_special_files_are_not_replaced(saver, kind, tmp_path, monkeypatch):
    """A device that is replaced by a file is gone for the whole machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "replace", lambda *paths: pytest.fail("it was replaced"))
    NO_FILES[kind](Path("it"))
    before = os.lstat("it")
    with pytest.raises(FileError):
        SAVERS[saver](Path("it"))
    assert os.lstat("it").st_ino == before.st_ino and os.listdir() == ["it"]


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="a system without users")
@pytest.mark.parametrize("saver", SAVERS)
def test_a_folder_that_must_not_be_written(saver, tmp_path):
    SAVERS[saver](tmp_path / "before")  # which imports what it needs
    folder = tmp_path / "sealed"
    folder.mkdir(0o555)
    with as_unprivileged_user(), pytest.raises(PermissionError) as caught:
        SAVERS[saver](folder / "a")
    assert isinstance(caught.value, FileError) and caught.value.errno == errno.EACCES


@pytest.mark.parametrize("call", [*ROUTES.values(), *list(SAVERS.values())[:2]])
def test_a_name_with_a_zero_in_it(call, tmp_path):
    with pytest.raises(FileError, match="zero in it"):
        call(tmp_path / "a\0b")


@pytest.mark.parametrize("saver", ["safe_save", "weft.save", "to(disk)"])
def test_a_full_disk(saver, tmp_path):
    """More than this process may write to one file fails as a full disk does."""
    pytest.importorskip("resource")
    program = f"""
import errno, resource, signal
import weft
from weft import Tensor, nn
from weft.base.errors import FileError, FormatError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
x = Tensor.ones(50_000).contiguous().realize()
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    {{
        "safe_save": lambda: nn.state.safe_save({{"w": x}}, "a"),
        "weft.save": lambda: weft.save({{"w": x}}, "a"),
        "to(disk)": lambda: x.to("disk:a").realize(),
    }}[{saver!r}]()
except FileError as error:
    assert error.errno == errno.EFBIG and error.filename.endswith("a"), error
    assert ".tmp-" not in str(error), error
    print("refused")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"WEFT_CACHE": "0"},
    )  # fmt: skip
    assert done.stdout == "refused\n", done.stderr
    assert os.listdir(tmp_path) == []


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
def test_error_messages_of_weft_compile(program, out, told, tmp_path):
    Path(tmp_path, "taken").write_text("")
    Path(tmp_path, "program.py").write_text(program)
    done = command("--out", out, "program.py", folder=tmp_path)
    assert done.returncode == 1 and told in done.stderr, done.stderr
    own = [line for line in done.stderr.splitlines() if os.sep + "weft" + os.sep in line]
    assert not own and "runpy" not in done.stderr, done.stderr
