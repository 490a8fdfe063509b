"""What a program leaves is seen: files, segments, processes; memory of a process is counted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.testing import resources
from weft.testing.resources import Watch

pytestmark = pytest.mark.skipif(not resources.is_visible(), reason="nothing is visible here")


def test_leftovers_are_detected(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "PATIENCE", 0.0)
    watch = Watch(f"WEFT_MARK={os.getpid()}", tmp_path)
    assert watch.left_behind() == []
    (tmp_path / "file").write_text("")
    assert watch.left_behind() == [f"temporary file {tmp_path / 'file'}"]
    segment = Path(f"/dev/shm/weft_test_{os.getpid()}")
    with segment.open("w"):  # in use
        assert not any("shared memory" in one for one in watch.left_behind())
    assert f"shared memory {segment}" in watch.left_behind()
    segment.unlink()
    name, _, value = watch.mark.partition("=")
    words = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    environment = {**os.environ, name: value}
    with subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        assert watch.processes() == [child.pid] and child.pid in resources.descendants(os.getpid())
        assert any(f"process {child.pid}" in one for one in watch.left_behind())
        child.stdin.close()
    assert not watch.processes()


def test_memory_that_is_written_is_counted():
    before = resources.memory_in_use()
    block = b"\1" * (64 << 20)
    assert resources.memory_in_use() - before > len(block) // 2
