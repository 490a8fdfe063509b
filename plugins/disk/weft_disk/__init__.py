"""Files as weft devices: ``DISK:<path>`` is one flat buffer of bytes in a file.

Opening such a device accesses nothing. The file is opened at the first access to its bytes. Each
read and write is checked against the current size of the file.
"""

from __future__ import annotations

import os
from pathlib import Path

from weft.plugin import (
    Allocator,
    Capabilities,
    Device,
    DeviceFamily,
    DeviceId,
    MemoryCaps,
    UnknownDevice,
    hookimpl,
)
from weft_disk.allocator import Extent, FileAllocator, FileDevice

__all__ = ["Extent", "FileAllocator", "FileDevice"]

weft_api = (1, 0)


def absolute_path(locator: str) -> str:
    """The one spelling of a path: absolute, links followed, no dots.

    :raises UnknownDevice: if there is no path, or one that cannot name a file.
    """
    if not locator or "\0" in locator:
        raise UnknownDevice(
            "a file device is named by its path",
            asked=f"DISK:{locator}" if locator else "DISK without a path",
            because="a path cannot contain a null character" if locator else "there is no path",
            try_='"DISK:/data/weights.bin"',
        )
    return os.path.realpath(locator)


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family, of storage."""
    about = "files: DISK:<path> is one flat, lazily read buffer"
    return [DeviceFamily("DISK", computes=False, canonical=absolute_path, about=about)]


@hookimpl
def weft_locate(source: str | os.PathLike[str]) -> DeviceId | None:
    """Paths and ``file:`` URLs are ours; other URLs are not."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    text = os.fsdecode(source)
    if isinstance(source, str) and "://" in source:
        if not source.startswith("file://"):
            return None
        from urllib.parse import unquote, urlsplit

        text = unquote(urlsplit(source).path)
    return DeviceId("DISK", absolute_path(text))


@hookimpl
def weft_open(id: DeviceId) -> Device:
    """Nothing is touched."""
    memory = MemoryCaps(alignment=1, persistent=True, resident=False)
    return FileDevice(id, Capabilities(memory, name=id.locator), Path(id.locator))


@hookimpl
def weft_allocator(device: FileDevice) -> Allocator[Extent]:
    """Handles are extents of the device's file."""
    return FileAllocator(device)
