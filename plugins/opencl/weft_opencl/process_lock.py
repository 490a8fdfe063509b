"""File lock (advisory, POSIX `fcntl`): one process at a time compiles or loads a program.

PoCL unpacks a binary into files that all processes of a user share, and looks for the program in
them. A process that finds a file which another one has begun to write reads too little, and PoCL
then ends the process by an assertion (seen with 3.1, two processes loading one program). The lock
lies in PoCL's cache folder, beside the files that it protects. Each program has a byte of its own.

Source: POSIX.1-2017, `fcntl` with F_SETLKW.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from weft.plugin import let_through

try:
    import fcntl
except ImportError:  # no locks of this kind on this system, where PoCL 3 is not shipped either
    fcntl = None  # type: ignore[assignment]

PLACES = 1 << 20
"""Bytes of the file, each for some programs: two programs seldom share one."""

_inside = Lock()


def lock_file() -> Path:
    """The file whose bytes are locked; it stays empty. In the folder where PoCL keeps binaries."""
    if folder := os.environ.get("POCL_CACHE_DIR"):
        return Path(folder) / "weft.lock"
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "pocl" / "weft.lock"


@contextmanager
def process_lock(program: str) -> Iterator[None]:
    """Hold the lock of one program: no other process and no other thread holds it meanwhile.

    Without a file that can be opened, nothing is locked.

    :param program: what is the same in all processes that load the same program: its source.
    """
    if fcntl is None:
        yield
        return
    place = int.from_bytes(blake2b(program.encode(), digest_size=8).digest()) % PLACES
    # Closing any descriptor of the file releases all locks of this process: one thread at a time
    # may have it open.
    with _inside:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            file = lock_file()
            file.parent.mkdir(parents=True, exist_ok=True)
            opened = os.open(file, flags, 0o600)
        except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home folder
            let_through(error)
            yield
            return
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX, 1, place)
            yield
        finally:
            os.close(opened)
