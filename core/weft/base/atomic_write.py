"""Atomic file replacement: write a temporary file beside the target, sync it, rename it.

A reader finds the old content or the new one, never a part, also after a crash. A process that is
killed while it writes cannot remove its temporary file. Each is locked (flock) by its writer for as
long as the writer lives, and the next write of the same name removes those without a lock. Unlike a
process id, the lock works across containers that share a folder.

in:  the path of a file      out: a temporary path to write to
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from weft.base.errors import FileError
from weft.base.interrupts import let_through
from weft.base.regular_file import check_regular

try:
    import fcntl
except ImportError:  # Windows: an open file cannot be removed there anyway
    fcntl = None  # type: ignore[assignment]

_FAILED = "the file could not be saved"
_KEPT = "what was there before is unchanged"
_OURS = re.compile(r"\.tmp-\d+-[0-9a-f]{8}")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[Path]:
    """A temporary file beside `path` to write to; renamed to it at the end.

    Whatever is raised, a file that was there before keeps its content and the temporary one is
    removed. Symbolic links are followed; the permissions of the old file are kept.

    :raises FileError: where the folder cannot be written, the disk is full, or a folder, a pipe or
        a device has this name.

    >>> from weft.base.atomic_write import replacing
    >>> with replacing("notes.txt") as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> open("notes.txt").read()
    'all of it'
    """
    written = None
    try:
        with replaced(path) as written:
            yield written
    except FileError as error:
        error.asked = f"save {os.fspath(path)}"
        if written is not None and error.filename == str(written):
            error.summary, error.filename = _FAILED, os.fspath(path)
            error.because = f"{error.because}; {_KEPT}"
        raise
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error,
            _FAILED,
            path=path,
            asked=f"save {os.fspath(path)}",
            because=f"{error.strerror or error}; {_KEPT}",
            try_="add a file name to the path"
            if isinstance(error, IsADirectoryError)
            else "check the folder, its permissions and the free space",
        ) from error


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Generator[Path]:
    """As `replacing`, with the errors of the operating system as they are."""
    check_regular(path, exists=False)
    path = Path(os.path.realpath(path))
    _remove_abandoned(path)
    temporary, held = _locked_file(path)
    try:
        yield temporary
        _sync(temporary)
        if path.exists():
            os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))
        os.replace(temporary, path)
        _sync(path.parent)
    finally:
        try:
            _remove(temporary)
        finally:
            os.close(held)


def _locked_file(path: Path) -> tuple[Path, int]:
    """A new file beside `path` that is locked by this process, and its descriptor."""
    while True:
        temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}-{os.urandom(4).hex()}")
        held = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        # between the two calls another process may have taken it for an abandoned one
        if _lock(held, wait=True) is not True or _is_at(held, temporary):
            return temporary, held
        os.close(held)


def _remove_abandoned(path: Path) -> None:
    """Remove the temporary files of this name whose writers are gone."""
    if fcntl is None:
        return
    try:
        names = os.listdir(path.parent)
    except OSError as error:
        let_through(error)
        return
    for name in names:
        if name.startswith(path.name) and _OURS.fullmatch(name[len(path.name) :]):
            _remove_if_abandoned(path.with_name(name))


def _remove_if_abandoned(temporary: Path) -> None:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        held = os.open(temporary, flags)
    except OSError as error:  # it is gone, or another process has it
        let_through(error)
        return
    try:
        if stat.S_ISREG(os.fstat(held).st_mode) and _lock(held, wait=False):
            _remove(temporary)
    finally:
        os.close(held)


def _remove(temporary: Path) -> None:
    """Remove a file, if that is possible."""
    try:
        temporary.unlink(missing_ok=True)
    except OSError as error:
        let_through(error)


def _lock(held: int, wait: bool) -> bool | None:
    """Take the lock of an open file: whether it was free; None where there are no such locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:  # a file system without locks: nothing is ever taken for abandoned
        let_through(error)
        return None
    return True


def _is_at(held: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(held), os.stat(path))
    except FileNotFoundError:
        return False


def _sync(path: Path) -> None:
    """Wait until what was written is on the medium, so that a crash cannot leave an empty file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
