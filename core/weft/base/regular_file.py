"""Regular-file check: whether a path can be read or replaced as a file.

A pipe has no size and blocks its reader. A device (`/dev/null`) that is replaced by a file is lost.
Both are refused before they are opened.

in:  a path      out: nothing, or an error of the operating system's classes
"""

from __future__ import annotations

import errno
import os
import stat

NO_FILE = "it is a pipe, a socket or a device, and no regular file"


def check_regular(path: str | os.PathLike[str], exists: bool = True) -> None:
    """Refuse what is no regular file.

    :param exists: whether it has to be there.
    :raises IsADirectoryError: for a folder.
    :raises FileNotFoundError: if nothing is there, with `exists`.
    :raises OSError: for a pipe, a socket or a device, for a name that no file can have, and for
        what the operating system raises.
    """
    name = os.fspath(path)
    if "\0" in name:
        raise OSError(errno.EINVAL, "no file has a name with a zero in it", name)
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        if exists:
            raise
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, NO_FILE, name)
