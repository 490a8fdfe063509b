"""File access: positioned reads and writes, growing, and mapped windows of one file.

The file is opened at its first access. Every access is checked against the current size of the
file: a truncated file is an error. Reads and writes are system calls, not accesses to a mapping. In
a mapping, a truncated file or a full disk is a signal that kills the process.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
import threading
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from weft.plugin import FileError, let_through

_ADVICE = {
    errno.ENOENT: "check the path: the folder or the file does not exist",
    errno.ENOTDIR: "check the path: a part of it is a file, not a folder",
    errno.EISDIR: "name a file inside this folder",
    errno.EACCES: "choose a place that you may write to, or change its permissions",
    errno.EPERM: "choose a place that you may write to, or change its permissions",
    errno.EROFS: "choose a place on a disk that is not read-only",
    errno.ENOSPC: "free some space, or save to another disk",
    errno.EDQUOT: "free some of your quota, or save to another disk",
    errno.EFBIG: "this file system takes no file of that size; save to another",
}


def file_error(doing: str, path: Path, error: OSError) -> FileError:
    """What to tell people about a system call that failed."""
    return FileError.of(
        error,
        f"cannot {doing} {path}",
        path=str(path),
        asked=f"{doing} {path}",
        try_=_ADVICE.get(error.errno or 0),
    )


class _Descriptor:
    """An open file of the operating system, closed with its last reference. No Python function runs
    then: an exception of a signal handler would be lost in it."""

    __slots__ = ("_close", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self._close: Callable[[], Any] = partial(os.close, number)

    def close(self) -> None:
        """Close it now."""
        close, self._close = self._close, object
        close()

    # evaluates to a callable, which Python calls without arguments
    __del__ = property(attrgetter("_close"))  # type: ignore[assignment]


class StoredFile:
    """A file as it was when it was first touched: replacing the path later does not change it.

    :param path: where it is, or will be once something is written.
    :param wanted: how long it should be once something is written.
    """

    def __init__(self, path: Path, wanted: int) -> None:
        self.path = path
        self.wanted = wanted
        self._reader: _Descriptor | None = None
        self._writer: _Descriptor | None = None
        self._made = False
        self._lock = threading.Lock()

    def read(self, into: memoryview, offset: int) -> None:
        """Fill all of ``into`` with the bytes from ``offset`` on.

        :raises FileError: if there is no such file, or it ends too early.
        """
        with self._lock:
            fd = self._open_reader()
            self._check_end(fd, offset, into.nbytes)
            done = self._transfer(fd, into, offset, _read_some, "read")
        if done < into.nbytes:  # it was cut short while it was read
            raise self._too_short(offset, into.nbytes, offset + done)

    def write(self, data: memoryview, offset: int) -> None:
        """Write all of ``data`` at ``offset``; the file grows to its wanted length first.

        :raises FileError: if it cannot be written, or the disk is full.
        """
        with self._lock:
            fd = self._open_writer()
            self._grow(fd, max(self.wanted, offset + data.nbytes))
            if self._transfer(fd, data, offset, os.write, "write") < data.nbytes:
                raise file_error("write", self.path, OSError(errno.ENOSPC, "the disk is full"))

    def window(self, offset: int, nbytes: int) -> memoryview:
        """A read-only look at bytes that are there now.

        :raises FileError: if the file ends too early.
        """
        with self._lock:
            fd = self._open_reader()
            self._check_end(fd, offset, nbytes)
            before = offset % mmap.ALLOCATIONGRANULARITY
            try:
                mapped = mmap.mmap(
                    fd, before + nbytes, access=mmap.ACCESS_READ, offset=offset - before
                )
            except OSError as error:
                let_through(error)
                raise file_error("map", self.path, error) from error
            except ValueError as error:
                raise FileError(
                    f"cannot map {self.path}",
                    asked=f"{nbytes} bytes from byte {offset}",
                    because=str(error),
                ) from error
            return memoryview(mapped)[before : before + nbytes]

    def flush(self) -> None:
        """Wait until what was written is on the disk. :raises FileError: if that fails."""
        with self._lock:
            if self._writer is not None:
                try:
                    os.fsync(self._writer.number)
                except OSError as error:
                    let_through(error)
                    raise file_error("write", self.path, error) from error

    def close(self) -> None:
        """Close the file; the next access opens the file that is at the path then."""
        held, self._reader, self._writer = (self._reader, self._writer), None, None
        for descriptor in held:  # which may be one
            if descriptor is not None:
                descriptor.close()

    # ---- opening ------------------------------------------------------------------------------

    def _open_reader(self) -> int:
        if self._reader is None:
            self._reader = self._open(os.O_RDONLY, "read")
        return self._reader.number

    def _open_writer(self) -> int:
        if self._writer is None:
            existed = os.path.exists(self.path)
            writer = self._open(os.O_RDWR | os.O_CREAT, "write")
            self._made = not existed
            if self._reader is not None and not _same_file(self._reader.number, writer.number):
                writer.close()
                raise FileError(
                    f"{self.path} is another file now",
                    asked=f"write {self.path}",
                    because="it was replaced after this tensor had read from it",
                    try_="open it afresh",
                )
            self._writer = writer
            if self._reader is None:
                self._reader = writer
        return self._writer.number

    def _open(self, flags: int, doing: str) -> _Descriptor:
        # Opening a pipe would wait for its other end, so the kind is looked at first.
        try:
            kind = os.stat(self.path).st_mode
        except FileNotFoundError:
            kind = stat.S_IFREG  # it may be about to be made
        except OSError as error:
            let_through(error)
            raise file_error(doing, self.path, error) from error
        if stat.S_ISDIR(kind):
            raise file_error(doing, self.path, OSError(errno.EISDIR, "it is a folder"))
        if not stat.S_ISREG(kind):
            raise FileError(
                f"cannot {doing} {self.path}",
                asked=f"{doing} {self.path}",
                because="it is not a regular file (a pipe, a socket or a device)",
                try_="copy its content into a file first",
            )
        try:
            flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
            return _Descriptor(os.open(self.path, flags, 0o666))
        except OSError as error:
            let_through(error)
            raise file_error(doing, self.path, error) from error

    # ---- size ---------------------------------------------------------------------------------

    def _check_end(self, fd: int, offset: int, nbytes: int) -> None:
        size = os.fstat(fd).st_size
        if offset + nbytes > size:
            raise self._too_short(offset, nbytes, size)

    def _too_short(self, offset: int, nbytes: int, size: int) -> FileError:
        return FileError(
            f"{self.path} ends too early",
            asked=f"bytes {offset} to {offset + nbytes}",
            because=f"the file has {size} bytes",
            try_="check that it was written completely; it may have been cut short since",
        )

    def _grow(self, fd: int, size: int) -> None:
        """Allocate the blocks on the disk, so that a full disk is an error before data is
        written."""
        before = os.fstat(fd).st_size
        if before >= size:
            return
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, before, size - before)
            else:
                os.ftruncate(fd, size)
        except OSError as error:
            let_through(error)
            if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):  # this file system cannot reserve
                return
            os.ftruncate(fd, before)
            if self._made and not before:  # do not leave an empty file
                self.close()
                os.unlink(self.path)
            raise file_error("write", self.path, error) from error

    def _transfer(
        self,
        fd: int,
        memory: memoryview,
        offset: int,
        move: Callable[[int, memoryview], int],
        doing: str,
    ) -> int:
        """Move bytes until all are done or nothing moves; how many were."""
        done = 0
        try:
            os.lseek(fd, offset, os.SEEK_SET)
            while done < memory.nbytes:
                moved = move(fd, memory[done : done + (1 << 30)])
                if not moved:
                    break
                done += moved
        except OSError as error:
            let_through(error)
            raise file_error(doing, self.path, error) from error
        return done


def _read_some(fd: int, into: memoryview) -> int:
    if hasattr(os, "readv"):
        return os.readv(fd, [into])
    data: Any = os.read(fd, into.nbytes)
    into[: len(data)] = data
    return len(data)


def _same_file(one: int, other: int) -> bool:
    return os.path.samestat(os.fstat(one), os.fstat(other))
