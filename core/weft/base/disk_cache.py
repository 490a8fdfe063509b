"""Disk cache: keep bytes by key between runs: compiled kernels, search results.

One SQLite file in `settings.CACHE_DIR` serves all processes; each name and version has a table of
its own. The cache never makes an operation fail: every problem with the file reads as a miss.
`settings.CACHE = 0` makes every read a miss and ignores writes.

Each entry has a checksum of its table, key and value; a mismatch is a miss. A file that SQLite
cannot read is damaged: it is renamed (`cache.sqlite3.damaged`) and a new one is created. A file
that cannot be used (locked by another process for longer than `PATIENCE`, read-only, on a full
disk) is ignored for the rest of the process. A RuntimeWarning reports either once.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import stat
import sys
import threading
import time
import warnings
from collections.abc import Callable

from weft.base.errors import ArgumentError
from weft.base.interrupts import let_through
from weft.base.locks import lock_around_forks
from weft.base.settings import settings

PATIENCE = 0.4
"""Seconds that one read or write waits for another process. After that this process reads, or
writes, no more: at most twice as long in all."""
_FILE = "cache.sqlite3"
_SUFFIXES = ("-wal", "-shm", "-journal", "")
"""Of all files that SQLite has for one database, that of the data last."""
_PAUSE = 0.001  # seconds between two attempts, at first
_LONGEST_PAUSE = 0.02
_REPAIRS = 3
"""The number of times that one process recreates a file that is damaged repeatedly."""

# Primary result codes of SQLite.
_PERMISSION, _BUSY, _LOCKED, _READ_ONLY, _IO, _FULL, _CANNOT_OPEN = 3, 5, 6, 8, 10, 13, 14
_PROTOCOL, _TOO_BIG, _TOO_LARGE_FILE, _AUTHORISATION = 15, 18, 22, 23
_WAIT = frozenset({_BUSY, _LOCKED, _PROTOCOL})
_UNUSABLE = frozenset(
    {*_WAIT, _PERMISSION, _READ_ONLY, _IO, _FULL, _CANNOT_OPEN, _TOO_LARGE_FILE, _AUTHORISATION}
)
_DAMAGED_IO = frozenset({10 | 1 << 8, 10 | 2 << 8, 10 | 32 << 8, 10 | 33 << 8})
"""Extended result codes: a read that fails or ends too early, damage that the file system found."""


class _Connections(threading.local):
    """The open files of one thread. A forked child must not use those of its parent."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.open: dict[str, tuple[sqlite3.Connection, int]] = {}


_connections = _Connections()
_inside = lock_around_forks()
"""Held while SQLite is at work: a child forked then could not take its locks."""
_of_parents: list[object] = []
_unused: set[tuple[str, bool]] = set()
"""Files that this process does not read (False) or write (True) any more."""
_repairs: dict[str, int] = {}
_reported: set[tuple[str, str]] = set()
_unreported: list[str] = []


class DiskCache:
    """A table of bytes by key. `version` is the version of the value format: each has its own
    table.

    Keys are bytes or text (encoded as UTF-8). A checksum of each value is verified when it is read:
    a damaged value is a miss, and is removed. ArgumentError for a name with other characters than
    letters, digits and underscores.
    """

    def __init__(self, name: str, version: int | str = 1) -> None:
        if not re.fullmatch(r"\w+", name, re.ASCII):
            raise ArgumentError(
                f"{name!r} is no name for a cache",
                asked=f"DiskCache({name!r}, {version!r})",
                because="names are letters, digits and underscores",
            )
        self.name = name
        self.version = version
        # The version may hold any text (that of a compiler, say), a table's name may not.
        shown = re.sub(r"\W", "_", str(version), flags=re.ASCII)
        self._table = f"{name}__{shown}__{_digest(str(version).encode()).hex()[:8]}"

    def get(self, key: bytes | str) -> bytes | None:
        """The value stored for `key`, or None."""
        digest = _digest(_as_bytes(key))
        row = self._run(f"SELECT value, sum FROM {self._table} WHERE key = ?", digest)
        if row is None:
            return None
        value, checksum = row
        if not isinstance(value, bytes) or checksum != self._checksum(digest, value):
            self._run(f"DELETE FROM {self._table} WHERE key = ?", digest)
            return None
        return value

    def put(self, key: bytes | str, value: bytes) -> None:
        """Keep `value` for `key`, in the place of what was there."""
        digest, value = _digest(_as_bytes(key)), bytes(value)
        checksum = self._checksum(digest, value)
        self._run(f"REPLACE INTO {self._table} VALUES (?, ?, ?)", digest, value, checksum)

    def clear(self) -> None:
        """Forget every value of this name and version."""
        self._run(f"DELETE FROM {self._table}")

    def _checksum(self, digest: bytes, value: bytes) -> bytes:
        return _digest(b"".join((self._table.encode(), digest, value)))

    def _run(self, statement: str, *values: bytes) -> tuple[object, ...] | None:
        """Run one statement; the first row of its answer. None where the cache does not serve."""
        if not settings.CACHE:
            return None
        path = os.path.join(os.fspath(settings.CACHE_DIR), _FILE)
        writes = not statement.startswith("SELECT")
        try:
            path = os.path.abspath(path)
            with _inside:
                if (path, writes) in _unused:
                    return None
                return self._tried(path, statement, values)
        except Exception as error:  # no folder to work in, a name that no file can have
            let_through(error)
            _give_up(path, writes, error)
            return None
        finally:
            if _unreported:
                _warn()

    def _tried(
        self, path: str, statement: str, values: tuple[bytes, ...]
    ) -> tuple[object, ...] | None:
        """The same from this file, which is recreated if it is damaged."""
        writes = not statement.startswith("SELECT")
        while True:
            inode = _inode(path)
            try:
                return _with_retries(lambda: self._execute(path, statement, values))
            except Exception as error:
                let_through(error)
                if isinstance(error, OSError) or _is_unusable(error, path):
                    _close(path)
                    _give_up(path, writes, error)
                    return None
                # the value is at fault: too large for SQLite or for memory
                if isinstance(error, (MemoryError, OverflowError)) or _code(error) == _TOO_BIG:
                    return None
                if not _set_aside(path, inode, error):
                    _give_up(path, writes, error)
                    return None

    def _execute(
        self, path: str, statement: str, values: tuple[bytes, ...]
    ) -> tuple[object, ...] | None:
        connection = _connect(path)
        try:
            return connection.execute(statement, values).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
        if statement.startswith(("SELECT", "DELETE")):
            return None  # no value was ever stored: a read creates no file
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} "
            "(key BLOB PRIMARY KEY, value BLOB NOT NULL, sum BLOB NOT NULL) WITHOUT ROWID"
        )
        return connection.execute(statement, values).fetchone()


def forget_files() -> None:
    """Close this thread's files, and use again what was given up: for tests."""
    with _inside:
        for path in list(_connections.open):
            _close(path)
        _unused.clear()
        _repairs.clear()
        _reported.clear()


def _as_bytes(key: bytes | str) -> bytes:
    return key.encode() if isinstance(key, str) else bytes(key)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=20).digest()


# ---- connections ---------------------------------------------------------------------------------


def _connect(path: str) -> sqlite3.Connection:
    """This thread's connection to the file, which is made where it is missing."""
    if _connections.process != os.getpid():
        # SQLite forbids even closing what the parent opened, so it is kept from being collected.
        _of_parents.append(_connections.open)
        _connections.open = {}
        _connections.process = os.getpid()
    known = _connections.open.get(path)
    if known is not None:
        # Another process may have moved the file away; writing to the old one is useless.
        if known[1] == _inode(path):
            return known[0]
        _close(path)
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    try:
        connection = _opened(path)
    except sqlite3.OperationalError as error:
        # a write-ahead log needs a writable folder; a read-only cache needs no log
        sealed = not os.access(folder, os.W_OK) and os.path.isfile(path)
        if not sealed or _code(error) not in (_CANNOT_OPEN, _READ_ONLY):
            raise
        from urllib.parse import quote

        connection = _opened(f"file:{quote(path)}?immutable=1")
    _connections.open[path] = (connection, _inode(path))
    return connection


def _opened(path: str) -> sqlite3.Connection:
    # Waiting is for `_with_retries`, which counts it.
    connection = sqlite3.connect(
        path, timeout=0, isolation_level=None, uri=path.startswith("file:")
    )
    try:
        # Losing the last writes in a power cut is nothing to a cache. Said before anything is
        # written: a new file would wait for the disk as long as many kernels take to be made.
        connection.execute("PRAGMA synchronous = OFF")
        # What is in a damaged file may be anything, even text that is none.
        connection.text_factory = bytes
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        # With a write-ahead log readers never wait for a writer.
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _with_retries(work: Callable[[], tuple[object, ...] | None]) -> tuple[object, ...] | None:
    """The result of `work`, retried for `PATIENCE` while other processes hold the file."""
    until, pause = time.monotonic() + PATIENCE, _PAUSE
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if _code(error) not in _WAIT or time.monotonic() + pause > until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError as error:
        let_through(error)
        return -1


def _close(path: str) -> None:
    known = _connections.open.pop(path, None)
    if known is not None:
        try:
            known[0].close()
        except sqlite3.Error:
            pass  # it is damaged


# ---- what went wrong -----------------------------------------------------------------------------


def _code(error: Exception) -> int | None:
    """The primary result code of SQLite, where the error has one."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _is_unusable(error: Exception, path: str) -> bool:
    """Whether the file, or the folder, cannot be used as it is, though it is not damaged."""
    if _code(error) not in _UNUSABLE or getattr(error, "sqlite_errorcode", 0) in _DAMAGED_IO:
        return False
    return _code(error) in _WAIT or not any(_is_other_kind(path + suffix) for suffix in _SUFFIXES)


def _is_other_kind(path: str) -> bool:
    """Whether another kind of file has this name: a folder, a pipe, a dangling link."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        let_through(error)
        return os.path.islink(path)


def _set_aside(path: str, inode: int, error: Exception) -> bool:
    """Rename a damaged file, unless another process has replaced it already. False if that is
    impossible."""
    _close(path)
    if _inode(path) != inode:
        return True
    _repairs[path] = _repairs.get(path, 0) + 1
    if _repairs[path] > _REPAIRS or not all(_renamed(path + suffix) for suffix in _SUFFIXES):
        return False
    _queue_warning(
        path,
        "damaged",
        f"the disk cache {path} was damaged ({_shown(error)}): it is renamed to "
        f"{os.path.basename(path)}.damaged, and a new one is begun",
    )
    return True


def _renamed(path: str) -> bool:
    """Whether nothing has this name any more. A file takes the place of what was renamed before."""
    for number in range(10):
        if not os.path.lexists(path):
            return True
        aside = f"{path}.damaged{number or ''}"
        if (
            number < 9
            and os.path.lexists(aside)
            and (_is_other_kind(aside) or _is_other_kind(path))
        ):
            continue
        try:
            os.replace(path, aside)
        except OSError as error:
            let_through(error)
            continue
    return not os.path.lexists(path)


def _give_up(path: str, writes: bool, error: Exception) -> None:
    _unused.add((path, writes))
    held = f"another process has held it locked for {PATIENCE} s"
    because = held if _code(error) in _WAIT else _shown(error)
    _queue_warning(
        path,
        "unused",
        f"the disk cache {path} is not {'written' if writes else 'read'} by this process any more: "
        f"{because}. Kernels that it lacks are compiled each time. WEFT_CACHE_DIR names another "
        "folder, WEFT_CACHE=0 goes without",
    )


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _queue_warning(path: str, what: str, text: str) -> None:
    """Queue a warning for when the lock is free, since listeners may use the cache."""
    if (path, what) not in _reported:
        _reported.add((path, what))
        _unreported.append(text)


def _warn() -> None:
    while _unreported:
        try:
            text = _unreported.pop()
        except IndexError:
            return  # another thread said it
        try:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        except RuntimeWarning:  # warnings are errors here, but a cache must not fail
            print(f"weft: {text}", file=sys.stderr)
