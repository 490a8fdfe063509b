"""The cache on disk: keeps, separates, survives damage, and never fails anybody."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weft.base import disk_cache
from weft.base.disk_cache import DiskCache
from weft.base.errors import ArgumentError
from weft.base.settings import settings


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    where = tmp_path / "not" / "yet"
    with settings.override(CACHE_DIR=str(where), CACHE=1):
        yield where


@pytest.fixture(autouse=True)
def files_are_forgotten() -> Iterator[None]:
    yield
    disk_cache.forget_files()


def file_in(folder: Path) -> Path:
    return next(path for path in folder.iterdir() if path.suffix == ".sqlite3")


def test_put_and_get(folder: Path) -> None:
    cache = DiskCache("kernels", 1)
    assert cache.get("a") is None
    cache.put("a", b"one")
    cache.put(b"\x00\xff", b"")
    cache.put("a", bytearray(b"two"))
    assert cache.get("a") == b"two" == cache.get(b"a") == DiskCache("kernels", 1).get("a")
    assert cache.get(b"\x00\xff") == b"" and cache.get("b") is None


def test_names_versions_and_folders_are_apart(folder: Path, tmp_path: Path) -> None:
    caches = [DiskCache("k", 1), DiskCache("k", 2), DiskCache("k", "a-b"), DiskCache("k", "a.b"),
              DiskCache("l", 1)]  # fmt: skip
    for number, cache in enumerate(caches):
        cache.put("x", bytes([number]))
    assert [cache.get("x") for cache in caches] == [bytes([n]) for n in range(5)]
    with settings.override(CACHE_DIR=str(tmp_path / "other")):
        assert caches[0].get("x") is None
    caches[0].clear()
    assert caches[0].get("x") is None and caches[1].get("x") == b"\x01"


def test_a_name_is_a_word() -> None:
    for name in ("", "a b", "a;drop", "naïve"):
        with pytest.raises(ArgumentError):
            DiskCache(name)


def test_a_disabled_cache_neither_reads_nor_writes(folder: Path) -> None:
    cache = DiskCache("k")
    with settings.override(CACHE=0):
        cache.put("a", b"1")
        assert cache.get("a") is None and not folder.exists()
    cache.put("a", b"1")
    with settings.override(CACHE=0):
        assert cache.get("a") is None
    assert cache.get("a") == b"1"


@pytest.mark.parametrize("open_meanwhile", [True, False])
def test_a_file_of_garbage_is_a_miss_and_is_repaired(folder: Path, open_meanwhile: bool) -> None:
    cache = DiskCache("k")
    cache.put("a", b"1" * 5000)

    def spoil() -> None:
        if not open_meanwhile:
            for path in folder.iterdir():
                if path.name.endswith(("-wal", "-shm")):
                    path.unlink()
        file_in(folder).write_bytes(b"this is no database, it only has the name of one " * 100)

    spoil()
    # A new process sees the damage; this one may have the entry in memory.
    answers: list[bytes | None] = []

    def newcomer() -> None:
        with settings.override(CACHE_DIR=str(folder)):
            answers.append(DiskCache("k").get("a"))
            DiskCache("k").put("b", b"2")
            answers.append(DiskCache("k").get("b"))

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        worker = threading.Thread(target=newcomer)
        worker.start()
        worker.join()
    # The write-ahead log may still hold all pages: then nothing is lost.
    assert open_meanwhile or ["cache.sqlite3.damaged" in str(one.message) for one in said] == [True]
    assert answers[0] in (None, b"1" * 5000) and answers[1] == b"2"
    cache.put("c", b"3")
    assert cache.get("c") == b"3" and cache.get("b") == b"2"


def test_a_value_that_changed_on_disk_is_a_miss(folder: Path) -> None:
    cache = DiskCache("k")
    cache.put("a", b"good")
    cache.put("b", b"fine")
    other = sqlite3.connect(file_in(folder))
    table = other.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchone()[0]
    changed = other.execute(f"UPDATE {table} SET value = ? WHERE value = ?", (b"evil", b"good"))
    assert changed.rowcount == 1
    other.commit()
    assert cache.get("a") is None and cache.get("b") == b"fine"
    assert other.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 1
    other.close()
    cache.put("a", b"good")
    assert cache.get("a") == b"good"


def test_a_file_that_is_removed_is_made_again(folder: Path) -> None:
    cache = DiskCache("k")
    cache.put("a", b"1")
    for path in folder.iterdir():
        path.unlink()
    assert cache.get("a") is None
    cache.put("a", b"2")
    assert cache.get("a") == b"2"


def test_a_new_file_does_not_wait_for_the_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    class Recording(sqlite3.Connection):
        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            said.append(statement)
            return super().execute(statement, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Recording))
    DiskCache("one").put("key", b"value")
    assert said[0] == "PRAGMA synchronous = OFF"
    assert DiskCache("one").get("key") == b"value"


def test_a_folder_that_cannot_be_made_is_a_miss(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with settings.override(CACHE_DIR=str(blocked), CACHE=1):
        with pytest.warns(RuntimeWarning, match="is not written .* WEFT_CACHE_DIR") as said:
            DiskCache("k").put("a", b"1")
            assert DiskCache("k").get("a") is None
        assert len(said) == 1
    assert blocked.read_text() == "in the way"


class Clock:
    """Time that passes only in `sleep`."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("held", ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE"])
def test_a_file_that_stays_locked_costs_less_than_a_second(
    folder: Path, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    cache = DiskCache("k")
    cache.put("a", b"1")
    disk_cache.forget_files()
    holder = sqlite3.connect(file_in(folder), isolation_level=None)
    holder.execute(held).fetchone()
    if held.startswith("PRAGMA"):
        holder.execute("BEGIN EXCLUSIVE")
    clock = Clock()
    monkeypatch.setattr(disk_cache, "time", clock)
    with pytest.warns(RuntimeWarning, match="has held it locked") as said:
        for number in range(50):
            cache.put(f"{number}", b"2")
            assert cache.get("a") in (None, b"1")
    assert 0 < clock.now < 1 and len(said) == 1
    assert cache.get("a") == (b"1" if held == "BEGIN IMMEDIATE" else None)
    holder.execute("ROLLBACK")
    holder.close()


def test_a_lock_that_is_given_back_is_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = DiskCache("k")
    cache.put("a", b"1")
    holder = sqlite3.connect(file_in(folder), isolation_level=None)
    clock = Clock()
    clock.sleep = lambda seconds: holder.execute("ROLLBACK")  # type: ignore[method-assign]
    monkeypatch.setattr(disk_cache, "time", clock)
    for number in range(3):
        holder.execute("BEGIN IMMEDIATE")
        cache.put(f"{number}", b"2")
        assert cache.get(f"{number}") == b"2"
    holder.close()


def run_apart(program: str, folder: Path, **others: Any) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"WEFT_CACHE_DIR": str(folder), "WEFT_CACHE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment, text=True, capture_output=True, timeout=60, **others,
    )  # fmt: skip


USER = """
from weft.base.disk_cache import DiskCache
cache = DiskCache("k")
for number in range(20):
    cache.put(f"{number}", b"2" * 50_000)
    assert cache.get(f"{number}") in (None, b"2" * 50_000)
print(cache.get("a"))
"""


def test_a_full_disk_is_reported_once(folder: Path) -> None:
    resource = pytest.importorskip("resource")
    DiskCache("k").put("a", b"1")
    disk_cache.forget_files()
    program = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + USER
    limit = (200_000, 200_000)  # bytes of any file: writing more fails
    done = run_apart(
        program, folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert done.returncode == 0 and done.stdout == "b'1'\n", done.stderr
    assert done.stderr.count("weft: the disk cache") == 1


def _as_unprivileged_user(folder: str, answer) -> None:
    if os.geteuid() == 0:  # nothing is forbidden to root
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    with settings.override(CACHE_DIR=folder), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = [DiskCache("k").get("a") for _ in range(3)]
        for number in range(3):
            DiskCache("k").put(f"{number}", b"2")
        answer.send((found, [str(one.message) for one in said]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_folder_that_may_only_be_read_is_read(folder: Path) -> None:
    DiskCache("k").put("a", b"1")
    disk_cache.forget_files()
    file_in(folder).chmod(0o444)
    folder.chmod(0o555)
    for parent in folder.parents:
        if os.geteuid() == 0 and parent.stat().st_mode & 0o011 != 0o011:
            parent.chmod(parent.stat().st_mode | 0o011)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_as_unprivileged_user, args=(str(folder), there))
    child.start()
    assert here.poll(30)
    found, said = here.recv()
    child.join()
    assert found == [b"1"] * 3
    assert len(said) == 1 and "is not written" in said[0] and "readonly" in said[0]


WRITER = """
import sys
from weft.base.disk_cache import DiskCache
cache = DiskCache("shared")
for number in range(60):
    cache.put(f"{sys.argv[1]}-{number}", sys.argv[1].encode() * number)
    assert cache.get(f"{sys.argv[1]}-{number}") == sys.argv[1].encode() * number
"""


def test_processes_share_one_file(folder: Path) -> None:
    environment = os.environ | {"WEFT_CACHE_DIR": str(folder), "WEFT_CACHE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, name], env=environment)
        for name in ("x", "y", "z")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    cache = DiskCache("shared")
    for name in ("x", "y", "z"):
        assert [cache.get(f"{name}-{n}") for n in range(60)] == [
            name.encode() * n for n in range(60)
        ]


def _in_child(folder: str, answer) -> None:
    with settings.override(CACHE_DIR=folder):
        found = DiskCache("k").get("a")
        DiskCache("k").put("child", b"2")
        answer.send(found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_opens_the_file_itself(folder: Path) -> None:
    cache = DiskCache("k")
    cache.put("a", b"1")
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_in_child, args=(str(folder), there))
    child.start()
    assert here.poll(30) and here.recv() == b"1"
    child.join()
    assert child.exitcode == 0 and cache.get("child") == b"2" and cache.get("a") == b"1"
