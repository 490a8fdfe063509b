"""CPU-time measurement: time a function on a machine that other processes use too.

While a thread waits for a processor, wall time passes. Where the system counts that waiting (Linux:
/proc/thread-self/schedstat, its second number) it is subtracted, unless other threads of this
process worked meanwhile. This is for work on the processor of this thread, not for work on a
device.

in: a function    out: seconds, and its result
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter, process_time, thread_time
from typing import TypeVar

from weft.base.interrupts import let_through

T = TypeVar("T")
_FILE = "/proc/thread-self/schedstat"
_COUNTED = os.path.exists(_FILE)
_LITTLE = 2e-5  # seconds of other threads that are not work: a clock that is looked at, say


def wait_time() -> float:
    """The seconds that this thread has waited for a processor; 0 where the system does not count
    them."""
    if not _COUNTED:
        return 0.0
    try:
        with open(_FILE, "rb", buffering=0) as file:
            return int(file.read(64).split()[1]) * 1e-9
    except (OSError, ValueError, IndexError) as error:
        let_through(error)
        return 0.0


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The seconds of a call, without the time of waiting for a processor, and its result.

    The counters are read outside the timed interval, which may be as short as a microsecond. If the
    thread waited, it may have waited between a reading and the interval. The interval then includes
    the readings, so that the result is never negative.
    """
    began = perf_counter()
    others, before = _other_threads_time(), wait_time()
    start = perf_counter()
    result = work()
    end = perf_counter()
    lost, others = wait_time() - before, _other_threads_time() - others
    if lost <= 0 or others > max(_LITTLE, 0.02 * (end - start)):
        return end - start, result
    return max(perf_counter() - began - lost, 0.0), result


def _other_threads_time() -> float:
    """The seconds that other threads of this process have computed."""
    return process_time() - thread_time()
