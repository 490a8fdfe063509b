"""Turns between processes, where a driver's own cache on disk does not give them.

PoCL unpacks a binary into files that all processes of a user share, and looks for the program in
them. A process that finds a file which another one has begun to write reads too little, and PoCL
then ends the process by an assertion (seen with 3.1, two processes loading one program). So
whoever compiles or loads a program there waits for its turn; other programs have their own.
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
"""Bytes of the file that stand for programs: two programs seldom share one."""

_inside = Lock()


def lock_file() -> Path:
    """The file whose bytes are locked, one for each user; it stays empty."""
    import tempfile  # it brings much, and most processes never come here

    return Path(tempfile.gettempdir()) / f"weft-opencl-{os.getuid()}.lock"


@contextmanager
def process_lock(program: str) -> Iterator[None]:
    """Hold the turn for one program: no other process, and no other thread, holds it meanwhile.

    Where the file cannot be opened the work goes on without.

    :param program: what is the same in all processes that load the same program: its source.
    """
    if fcntl is None:
        yield
        return
    place = int.from_bytes(blake2b(program.encode(), digest_size=8).digest()) % PLACES
    # Locks of files are held by processes: closing any descriptor of the file lets all of them go,
    # so that one thread at a time may have it open.
    with _inside:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            opened = os.open(lock_file(), flags, 0o600)
        except OSError as error:
            let_through(error)
            yield
            return
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX, 1, place)
            yield
        finally:
            os.close(opened)
