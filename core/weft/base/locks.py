"""Fork-safe locks: locks that are free in a forked child.

A child of `os.fork` has one thread, the one that forked. A lock that another thread held would
never be released; here all locks are free in the child. The guarded data is as that thread left it:
code that uses such a lock keeps an interrupted update harmless, or makes the fork wait for it
(`lock_around_forks`).
"""

from __future__ import annotations

import os
import threading
from typing import Any

from weft.base.weak import WeakMembers

_made: WeakMembers[Any] = WeakMembers()


def lock() -> threading.Lock:
    """Like `threading.Lock()`."""
    made = threading.Lock()
    _made.add(made)
    return made


def reentrant_lock() -> threading.RLock:
    """Like `threading.RLock()`."""
    made = threading.RLock()
    _made.add(made)
    return made


def lock_around_forks() -> threading.RLock:
    """Like `threading.RLock()`; a fork waits until no other thread has it.

    For objects whose state a forked child could not repair, such as a library in C.
    """
    made = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=made.acquire, after_in_parent=made.release, after_in_child=made.release
        )
    return made


def _free_all() -> None:
    for one in list(_made):
        one._at_fork_reinit()  # what the standard library does with its own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)
