"""Execution statistics: counters of kernels, copies, operations, bytes and memory.

from weft.engine import stats
stats.kernels, stats.bytes, stats.ops, stats.seconds, stats.memory, stats.peak_memory
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from weft.device import usage


class Stats:
    """Totals since the last reset.

    kernels: compiled programs launched; copies: copies made; host_calls: functions of the host
    called; ops: arithmetic operations; bytes: memory touched, each buffer of a kernel once;
    seconds: time in kernels, counted where they were waited for. planned_bytes: the most memory
    that the intermediates of one schedule had together; unplanned_bytes: what the same
    intermediates would take without sharing it.
    """

    def __init__(self) -> None:
        self.timing = False  # True: wait for every kernel, so that `seconds` leaves nothing out
        self.reset()

    def reset(self) -> None:
        """Reset all totals to zero, and the peak memory to the memory in use."""
        self.kernels = 0
        self.copies = 0
        self.host_calls = 0
        self.ops = 0
        self.bytes = 0
        self.seconds = 0.0
        self.planned_bytes = 0
        self.unplanned_bytes = 0
        usage.reset_peak()

    def count_intermediates(self, planned: int, unplanned: int) -> None:
        """Count the bytes of the intermediates of one schedule, with and without reuse."""
        if planned > self.planned_bytes:
            self.planned_bytes, self.unplanned_bytes = planned, unplanned

    @contextmanager
    def paused(self) -> Generator[None]:
        """A with-block in which nothing is counted."""
        names = ("kernels", "copies", "host_calls", "ops", "bytes", "seconds", "planned_bytes",
                 "unplanned_bytes")  # fmt: skip
        kept = {name: getattr(self, name) for name in names}
        try:
            yield
        finally:
            vars(self).update(kept)

    @property
    def memory(self) -> int:
        """Bytes of resident memory in use now, on all devices."""
        return usage.resident

    @property
    def peak_memory(self) -> int:
        """The peak of the bytes in use since the last reset."""
        return usage.peak

    def __repr__(self) -> str:
        return (
            f"<stats kernels={self.kernels} copies={self.copies} ops={self.ops} "
            f"bytes={self.bytes} seconds={self.seconds:.4f}>"
        )


stats = Stats()
