"""Thread pool: the threads of this process that share the iterations of one kernel.
Also: fork-join parallelism, work sharing, work stealing.

A kernel that can be divided (see `thread_loop`) is called with the number of a part and the
number of parts. The launching thread takes parts like every worker: first its own share, then those
of other threads, until none is left. A worker that wakes up late finds no part and costs nothing.
On Linux a worker that ran on the processor of the launching thread is kept off it before the next
wake: the system often leaves it there, and a kernel of a millisecond ran on one processor.
The results depend neither on the thread of a part nor on the number of parts.

The pool serves one launch at a time. A launch from a second thread of Python, or from inside a
kernel, runs in its own thread alone. After a fork the child makes its own pool when it needs one.
At the end of the interpreter the workers are joined.

`WEFT_CPU_THREADS` is the number of threads that compute, the launching one included. Its default is
the number of processors that the process may use.

Source: OpenMP API specification, parallel construct and work sharing; R. Blumofe, C. Leiserson,
"Scheduling multithreaded computations by work stealing" (FOCS 1994).
"""

from __future__ import annotations

import atexit
import ctypes
import os
from functools import cache

from weft.plugin import ArgumentError, DiskCache
from weft_cpu_clang import cpu_quota
from weft_cpu_clang.binary import load
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.pool_source import MOST, source
from weft_cpu_clang.toolchain import Toolchain

VARIABLE = "WEFT_CPU_THREADS"
_cache = DiskCache("cpu_threads", 2)


def available() -> int:
    """How many threads this process can run at once: its processors, its share of their time."""
    return min(cpu_quota.available(), MOST)


def wanted() -> int:
    """What `WEFT_CPU_THREADS` says. :raises ArgumentError: where it is no number of threads."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return available()
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= MOST:
        raise ArgumentError(
            f"{VARIABLE} must be a number of threads",
            asked=f"{VARIABLE}={text!r}",
            because=f"from 1 to {MOST} threads can share a kernel",
            try_=f"{VARIABLE}={available()}, what this process can use",
        )
    return int(text)


class ThreadPool:
    """The pool of this process. Threads are made by the first launch that has parts for them.

    :param count: how many threads compute, the launching one included.
    :param system: of `pool_source`, whose threads it uses; None: those of this system.
    :ivar count: likewise.
    :ivar address: of the function that runs the parts of a kernel: its address, its arguments as
        words, how many parts.
    :ivar attend: address of what says that launches of so many parts follow, or (0) have ended.
    """

    def __init__(self, toolchain: Toolchain, count: int, system: str | None = None) -> None:
        self.count = count
        compiler, text = ClangCompiler(toolchain), source(system)
        key = f"{compiler.fingerprint}\n{text}"
        code = _cache.get(key)
        if code is None:
            code = compiler.compile(text, "weft_spread")
            _cache.put(key, code)
        self._loaded = load(code, "weft_spread")
        self.address = self._loaded.address("weft_spread")
        self.attend = self._loaded.address("weft_attend")
        self.spread = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
            self.address
        )
        self._set = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self._loaded.address("weft_threads"))
        self.stop = ctypes.CFUNCTYPE(None)(self._loaded.address("weft_stop"))
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.stop)

    def _begin(self) -> None:
        self._set(self.count - 1)


@cache
def pool(toolchain: Toolchain, count: int) -> ThreadPool | None:
    """The one pool of this process; None where one thread computes.

    :raises CompileError: if the compiler fails.
    """
    return ThreadPool(toolchain, count) if count > 1 else None
