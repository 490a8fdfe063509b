"""Memory of this process alone, straight from the system.

What Python maps by default is shared with forked children: they would write into each other's
tensors, and into the variables of code that is loaded. It is not given huge pages either.
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
