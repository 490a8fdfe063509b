"""Stack size: run a launch in a thread whose stack holds the local arrays of its kernel.

Kernels keep packed operands and rows on the stack (`SCRATCH_BYTES` and `ROW_BYTES` at most). The
first thread of a process has 8 MiB by default, and so have Python's other threads;
`threading.stack_size`, `ulimit -s` and some C libraries (128 KiB with musl) give less. A launch
from a thread with a stack that is too small is done by a new thread, which takes some 50 us.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from weft.plugin import let_through
from weft_cpu_clang.capabilities import ROW_BYTES, SCRATCH_BYTES

NEEDED = SCRATCH_BYTES + ROW_BYTES + (1 << 20)
"""Bytes that a thread's stack should have: the arrays, and what is under way on it already."""
LENT = 16 << 20
"""Bytes of the stack of a thread that launches for another. Only what is touched is used."""

_one_at_a_time = threading.Lock()


def _free() -> None:
    """A forked child has none of the threads that may hold it."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)


class _OfThread(threading.local):
    stack_is_large = False


this_thread = _OfThread()
"""`this_thread.stack_is_large`: whether this thread is known to have enough stack."""


def stack_bytes() -> int | None:
    """The size of this thread's stack; None where the system does not say."""
    ask = {"win32": _stack_of_windows, "darwin": _stack_of_macos}.get(sys.platform, _stack_of_posix)
    try:
        return ask()
    except (AttributeError, OSError, TypeError) as error:
        let_through(error)
        return None


def _stack_of_posix() -> int | None:
    attributes = (ctypes.c_longlong * 64)()
    start, size = ctypes.c_void_p(), ctypes.c_size_t()
    library = ctypes.CDLL(None)
    library.pthread_self.restype = ctypes.c_void_p
    if library.pthread_getattr_np(ctypes.c_void_p(library.pthread_self()), attributes):
        return None
    library.pthread_attr_getstack(attributes, ctypes.byref(start), ctypes.byref(size))
    library.pthread_attr_destroy(attributes)
    return size.value


def _stack_of_macos() -> int:
    library = ctypes.CDLL(None)
    library.pthread_self.restype = ctypes.c_void_p
    library.pthread_get_stacksize_np.restype = ctypes.c_size_t
    size: int = library.pthread_get_stacksize_np(ctypes.c_void_p(library.pthread_self()))
    return size


def _stack_of_windows() -> int:
    low, high = ctypes.c_size_t(), ctypes.c_size_t()
    library = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    library.GetCurrentThreadStackLimits(ctypes.byref(low), ctypes.byref(high))
    return high.value - low.value


def has_enough_stack() -> bool:
    """Whether this thread can launch any kernel; the system is asked once for each thread."""
    if not this_thread.stack_is_large:
        size = stack_bytes()
        this_thread.stack_is_large = size is None or size >= NEEDED
    return this_thread.stack_is_large


def elsewhere(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` gives, called by a thread whose stack is large enough.

    :raises RuntimeError: where the system has no more threads.
    """
    done: list[Any] = []
    failed: list[BaseException] = []

    def work() -> None:
        this_thread.stack_is_large = True
        try:
            done.append(function(*arguments))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, name="weft-launch", daemon=True)
    with _one_at_a_time:
        before = threading.stack_size(LENT)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
