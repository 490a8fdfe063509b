"""Stored bytes: a file or URL as a buffer, through the plugin that serves it."""

from __future__ import annotations

import errno
import os
from os import PathLike

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import FileError
from weft.device import registry
from weft.device.buffer import Buffer


def stored_size(device: registry.DeviceLike) -> int | None:
    """The number of bytes on a storage device; None if nothing is stored."""
    opened = registry.open(device)
    with opened.call("looking how much is stored"):
        found = opened.allocator.capacity()
    if found is not None and (not isinstance(found, int) or found < 0):
        opened.broken("looking how much is stored", f"gave {shown(found)}")
    return found


def stored(source: str | PathLike[str]) -> Buffer:
    """All bytes of a file or URL as a buffer of uint8. Reads none of them.

    :raises UnknownDevice: if no installed plugin knows such places.
    :raises FileError: if there is nothing.
    """
    device = registry.locate(source)
    nbytes = stored_size(device)
    if nbytes is None:
        raise FileError.of(
            FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)),
            "there is no such file",
            path=source,
            asked=str(source),
            because=f"nothing is stored at {device}",
            try_="check the path",
        )
    return Buffer(device, nbytes, dtypes.uint8)
