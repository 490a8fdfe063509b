"""Resources of the operating system that a device uses: memory, shared segments, processes, files.

Read from ``/proc`` and ``/dev/shm``: on systems without them nothing is known (`is_visible`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
SEGMENTS = Path("/dev/shm")
PATIENCE = 10.0
"""Seconds that what a program used has for going away after its end."""
_SYSTEM_V = ("shm", "sem", "msg")


def is_visible() -> bool:
    """Whether this system shows its processes and their memory."""
    return (PROC / "self" / "statm").exists() and SEGMENTS.is_dir()


def memory_in_use() -> int:
    """Bytes of memory that this process, its descendants and shared-memory files occupy."""
    page = os.sysconf("SC_PAGESIZE")
    pages = 0
    for process in [os.getpid(), *descendants(os.getpid())]:
        text = _read(PROC / str(process) / "statm")
        pages += int(text.split()[1]) if text else 0
    segments = os.statvfs(SEGMENTS)
    return pages * page + (segments.f_blocks - segments.f_bfree) * segments.f_frsize


def descendants(process: int) -> list[int]:
    """Processes that a process started, and those that these started."""
    parents: dict[int, list[int]] = {}
    for child in _processes():
        stat = _read(PROC / str(child) / "stat").rpartition(")")[2].split()
        if len(stat) > 1:
            parents.setdefault(int(stat[1]), []).append(child)
    found = list(parents.get(process, ()))
    for one in found:  # it grows
        found += parents.get(one, ())
    return found


@dataclass
class Watch:
    """What exists before a program runs, so that afterwards it is known what it left.

    mark: an environment variable, ``NAME=value``, that the program is given and hands on to what it
    starts. folder: its folder of temporary files.
    """

    mark: str
    folder: Path
    _segments: set[str] = field(default_factory=set)
    _system_v: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._segments = _segments()
        self._system_v = set(_system_v())

    def left_behind(self) -> list[str]:
        """What is there now, and was not before, and no process uses; one line each. What goes
        away within `PATIENCE` does not count: processes may take their time to end."""
        until = time.monotonic() + PATIENCE
        while (found := self._found()) and time.monotonic() < until:
            time.sleep(0.05)
        return found

    def processes(self) -> list[int]:
        """Processes that have the mark and still run."""
        found = []
        for process in _processes():
            words = _read(PROC / str(process) / "environ").split("\0")
            state = _read(PROC / str(process) / "stat").rpartition(")")[2].split()[:1]
            if self.mark in words and state not in ([], ["Z"], ["X"]):
                found.append(process)
        return found

    def _found(self) -> list[str]:
        running = [
            f"process {one}: {_read(PROC / str(one) / 'cmdline')[:100]}" for one in self.processes()
        ]
        segments = _segments() - self._segments
        unused = segments - _used_segments() if segments else set()
        new = set(_system_v()) - self._system_v
        files = sorted(str(path) for path in self.folder.rglob("*"))
        return [
            *running,
            *(f"shared memory {SEGMENTS / name}" for name in sorted(unused)),
            *(f"System V {kind} {key}" for kind, key in sorted(new)),
            *(f"temporary file {name}" for name in files),
        ]


def _processes() -> Iterator[int]:
    return (int(name) for name in os.listdir(PROC) if name.isdigit())


def _read(path: Path) -> str:
    """The text of a file of /proc; empty if the process has ended, or belongs to another user."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _segments() -> set[str]:
    """Names of shared-memory files of this user."""
    found = set()
    for entry in os.scandir(SEGMENTS):
        try:
            if entry.stat(follow_symlinks=False).st_uid == os.getuid():
                found.add(entry.name)
        except OSError:
            continue  # it is gone
    return found


def _used_segments() -> set[str]:
    """Names of shared-memory files that a process has mapped or open."""
    found = set()
    start = f"{SEGMENTS}/"
    for process in _processes():
        places = [line.partition("/")[1:] for line in _read(PROC / f"{process}/maps").splitlines()]
        paths = ["".join(parts) for parts in places]
        try:
            for number in os.listdir(PROC / str(process) / "fd"):
                paths.append(os.readlink(PROC / str(process) / "fd" / number))
        except OSError:
            pass  # it has ended, or belongs to another user
        found |= {path[len(start) :] for path in paths if path.startswith(start)}
    return found


def _system_v() -> Iterator[tuple[str, str]]:
    """(kind, identifier) of what System V offers: shared memory, semaphores, queues."""
    for kind in _SYSTEM_V:
        for line in _read(PROC / "sysvipc" / kind).splitlines()[1:]:
            yield kind, line.split()[1]
