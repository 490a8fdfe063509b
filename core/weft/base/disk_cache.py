"""Bytes by key, kept on disk between runs: compiled kernels, search results.

One SQLite file in `settings.CACHE_DIR` serves all processes; each name and version has a table of
its own in it. A cache must never be the reason that something fails: whatever goes wrong with the
file reads as a miss, and a damaged file is thrown away and begun anew. `settings.CACHE = 0` makes
every read a miss and every write nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import threading
import time

from weft.base.errors import ArgumentError
from weft.base.locks import lock_around_forks
from weft.base.settings import settings

_FILE = "cache.sqlite3"
_BUSY_SECONDS = 5.0
_PAUSE = 0.002  # seconds between two attempts


class _Connections(threading.local):
    """The open files of one thread. A forked child must not use those of its parent."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.open: dict[str, tuple[sqlite3.Connection, int]] = {}


_connections = _Connections()
_inside = lock_around_forks()
"""Held while SQLite is at work: a child forked then could not take its locks."""
_of_parents: list[object] = []


class DiskCache:
    """A table of bytes by key. `version` is that of what the values mean: another starts empty.

    Keys are bytes or text (a text is its UTF-8). Values are checked when read: one that does not
    come back as it was put is a miss and is removed. ArgumentError for a name that is not made of
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
        """The value put for `key`, or None."""
        digest = _digest(_as_bytes(key))
        row = self._run(f"SELECT value, sum FROM {self._table} WHERE key = ?", digest)
        if row is None:
            return None
        value, checksum = row
        if not isinstance(value, bytes) or checksum != _digest(digest + value):
            self._run(f"DELETE FROM {self._table} WHERE key = ?", digest)
            return None
        return value

    def put(self, key: bytes | str, value: bytes) -> None:
        """Keep `value` for `key`, in the place of what was there."""
        digest, value = _digest(_as_bytes(key)), bytes(value)
        checksum = _digest(digest + value)
        self._run(f"REPLACE INTO {self._table} VALUES (?, ?, ?)", digest, value, checksum)

    def clear(self) -> None:
        """Forget every value of this name and version."""
        self._run(f"DELETE FROM {self._table}")

    def _run(self, statement: str, *values: bytes) -> tuple[object, ...] | None:
        """Run one statement; the first row of its answer. None where the cache does not serve."""
        if not settings.CACHE:
            return None
        path = os.path.abspath(os.path.join(os.fspath(settings.CACHE_DIR), _FILE))
        with _inside:
            return self._tried(path, statement, values)

    def _tried(
        self, path: str, statement: str, values: tuple[bytes, ...]
    ) -> tuple[object, ...] | None:
        """The same from this file, which is made anew where it is damaged."""
        for _attempt in range(2):
            try:
                return self._execute(path, statement, values)
            except sqlite3.OperationalError as error:
                # Locked for too long, read-only, disk full, no permission: serve without.
                # SQLite also reports some damage this way, and that is repaired.
                if "malformed" not in str(error) and "disk I/O" not in str(error):
                    return None
                _discard(path)
            except sqlite3.DatabaseError:
                _discard(path)
            except OSError:
                return None
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
            return None  # nothing was ever put: do not write for a read
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} "
            "(key BLOB PRIMARY KEY, value BLOB NOT NULL, sum BLOB NOT NULL) WITHOUT ROWID"
        )
        return connection.execute(statement, values).fetchone()


def _as_bytes(key: bytes | str) -> bytes:
    return key.encode() if isinstance(key, str) else bytes(key)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=20).digest()


def _connect(path: str) -> sqlite3.Connection:
    """This thread's connection to the file, which is made where it is missing."""
    if _connections.process != os.getpid():
        # SQLite forbids even closing what the parent opened, so it is kept from being collected.
        _of_parents.append(_connections.open)
        _connections.open = {}
        _connections.process = os.getpid()
    known = _connections.open.get(path)
    if known is not None:
        # Someone may have thrown the file away meanwhile; writing to the old one helps nobody.
        if known[1] == _inode(path):
            return known[0]
        _close(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        # Losing the last writes in a power cut is nothing to a cache. Said before anything is
        # written: a new file would wait for the disk as long as many kernels take to be made.
        connection.execute("PRAGMA synchronous = OFF")
        # With a write-ahead log readers never wait for a writer.
        _with_patience(connection, "PRAGMA journal_mode = WAL")
    except sqlite3.Error:
        connection.close()
        raise
    _connections.open[path] = (connection, _inode(path))
    return connection


def _with_patience(connection: sqlite3.Connection, statement: str) -> None:
    """Run what SQLite refuses at once, however long it may wait, while another process does it."""
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return -1


def _close(path: str) -> None:
    known = _connections.open.pop(path, None)
    if known is not None:
        known[0].close()


def _discard(path: str) -> None:
    """Throw a damaged file away, unless another process has put a new one in its place."""
    known = _connections.open.get(path)
    renewed = known is not None and known[1] != _inode(path)
    _close(path)
    if renewed:
        return
    for name in (path, path + "-wal", path + "-shm"):
        try:
            os.unlink(name)
        except OSError:
            pass  # gone already, or held open on a system that forbids it: then it stays a miss
