"""Memory that is a file: handles are extents, and every copy is a checked read or write."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.plugin import Allocator, BufferHints, Capabilities, Device, DeviceId, let_through
from weft_disk.mapping import StoredFile, file_error


class FileDevice(Device):
    """One path.

    :param path: of the file, which need not exist.
    """

    def __init__(self, id: DeviceId, capabilities: Capabilities, path: Path) -> None:
        super().__init__(id, capabilities)
        self.path = path
        # a WeakSet would call a Python function when a file is freed; this callback is in C
        self._files: dict[weakref.ref[StoredFile], None] = {}

    def hold(self, file: StoredFile) -> None:
        """Flush and close it with this device, while it lives."""
        self._files.setdefault(weakref.ref(file, self._files.__delitem__))

    def files(self) -> list[StoredFile]:
        """Those that live."""
        return [file for reference in list(self._files) if (file := reference()) is not None]

    def synchronize(self) -> None:
        """Wait until everything written is on the disk. :raises FileError: if that fails."""
        for file in self.files():
            file.flush()

    def close(self) -> None:
        """Let go of the file."""
        for file in self.files():
            file.close()


@dataclass(frozen=True, slots=True)
class Extent:
    """Some bytes of a file."""

    file: StoredFile
    offset: int
    nbytes: int


class FileAllocator(Allocator[Extent]):
    """Gives the device's file from its beginning. Nothing is opened before bytes are moved."""

    def __init__(self, device: FileDevice) -> None:
        self.device = device

    def capacity(self) -> int | None:
        """The file's size; None if there is no file. :raises FileError: if it cannot be read."""
        try:
            return os.stat(self.device.path).st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            let_through(error)
            raise file_error("look at", self.device.path, error) from error

    def allocate(self, nbytes: int, hints: BufferHints) -> Extent:
        """The first ``nbytes`` of the file, which grows to that length when it is first written."""
        file = StoredFile(self.device.path, nbytes)
        self.device.hold(file)
        return Extent(file, 0, nbytes)

    def view(self, handle: Extent, offset: int, nbytes: int) -> Extent:
        """A part of an extent; touches nothing."""
        return Extent(handle.file, handle.offset + offset, nbytes)

    def copy_in(self, dst: Extent, src: memoryview) -> None:
        """:raises FileError: if the file cannot be written, or the disk is full."""
        dst.file.write(src, dst.offset)

    def copy_out(self, dst: memoryview, src: Extent) -> None:
        """:raises FileError: if there is no file, or it ends too early."""
        src.file.read(dst, src.offset)

    def map_host(self, handle: Extent) -> memoryview:
        """A read-only window. :raises FileError: if there is no file, or it ends too early."""
        return handle.file.window(handle.offset, handle.nbytes)

    def stream_out(self, src: Extent, chunk: int) -> Iterator[memoryview]:
        """Piece by piece through one piece of host memory."""
        return self._pieces(src, chunk)

    def _pieces(self, src: Extent, chunk: int) -> Iterator[memoryview]:
        between = memoryview(bytearray(min(chunk, src.nbytes)))
        for start in range(0, src.nbytes, chunk):
            piece = between[: min(chunk, src.nbytes - start)]
            src.file.read(piece, src.offset + start)
            yield piece
