"""The lock between processes: one at a time holds a program, and always releases it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

fcntl = pytest.importorskip("fcntl", reason="locks of this kind are Unix's")

from weft_opencl import process_lock  # noqa: E402

OTHER = """
import sys, fcntl
from pathlib import Path
from weft_opencl import process_lock
process_lock.lock_file = lambda: Path(sys.argv[1])
def given_at_once(file, how, *where):
    return real(file, how | fcntl.LOCK_NB, *where)
real, fcntl.lockf = fcntl.lockf, given_at_once
try:
    with process_lock.process_lock(sys.argv[2]):
        print("mine")
except BlockingIOError:
    print("taken")
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(process_lock, "lock_file", lambda: tmp_path / "locks")
    return tmp_path / "locks"


def other_process(file: Path, program: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", OTHER, str(file), program], capture_output=True, text=True
    )
    return ran.stdout.strip() or ran.stderr


def test_one_process_at_a_time_has_a_program(file: Path) -> None:
    with process_lock.process_lock("a"):
        assert other_process(file, "a") == "taken"
        assert other_process(file, "b") == "mine"
    assert other_process(file, "a") == "mine"


def test_a_failure_inside_releases_the_lock(file: Path) -> None:
    with pytest.raises(ZeroDivisionError), process_lock.process_lock("a"):
        1 / 0
    assert other_process(file, "a") == "mine"
    with process_lock.process_lock("a"):
        pass


def test_without_a_file_nothing_is_locked(file: Path) -> None:
    file.mkdir()
    with process_lock.process_lock("a"):
        done = True
    assert done


def test_a_link_is_not_followed(file: Path, tmp_path: Path) -> None:
    file.symlink_to(tmp_path / "elsewhere")
    with process_lock.process_lock("a"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_the_drivers_cache_holds_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    with process_lock.process_lock("a"):
        pass
    assert [file.name for file in (tmp_path / "pocl").iterdir()] == ["weft.lock"]
    monkeypatch.delenv("POCL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert process_lock.lock_file().parent == tmp_path / "caches" / "pocl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert process_lock.lock_file().parent == tmp_path / "home" / ".cache" / "pocl"
