"""Private mappings: memory of this process alone, mapped directly from the system.

Python's mappings are shared with forked children: they would write into the tensors and into the
variables of loaded code of each other. Python's mappings get no huge pages either.

Source: Linux manual, mmap(2), MAP_PRIVATE.
"""

from __future__ import annotations

import mmap


def private(nbytes: int) -> mmap.mmap:
    """So many bytes of zeros on pages of their own; a forked child gets a copy of them.

    :raises OSError, OverflowError, ValueError: if there are not so many.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, nbytes)  # a system without fork
    return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
