"""Locks that a forked child can take, whoever held them in its parent.

A child of `os.fork` has one thread, the one that forked. A lock that another one held would never
be given back; here all are free in the child. What they guard is as that thread left it: whoever
uses such a lock changes things so that a step that was not finished does no harm, or has the fork
wait for it (`lock_around_forks`).
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

    For what has state that a child could not mend, such as a library in C.
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
