"""Latency-hiding scheduling: exchange values between devices while other kernels run.
Also: communication scheduling.

A collective starts as soon as its inputs are there. Kernels that need its result come after all
others that can run. Small collectives wait for others, and run together once they have
`BUCKET_BYTES`, or when nothing else can run.

in:  kernels, as they become ready      out: the kernel that is next

Source: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB
2020 (buckets); the pass LatencyHidingScheduler of XLA.
"""

from __future__ import annotations

from collections import deque

from weft.schedule.kernels import root_buffer
from weft.uop import Ops, UOp

BUCKET_BYTES = 1 << 20
"""Bytes of collectives that run together."""


def is_collective(kernel: UOp) -> bool:
    """Whether a KERNEL is an exchange among devices."""
    op: Ops = kernel.arg.ast.op
    return op is Ops.COLLECTIVE


def is_view(kernel: UOp) -> bool:
    """Whether a KERNEL is a view of memory, which takes no work."""
    op: Ops = kernel.arg.ast.op
    return op is Ops.BUFFER_VIEW


class ReadyKernels:
    """The kernels whose predecessors have run, each kind in the order in which it is added.

    The order of the collectives does not depend on kernels that one process has and others do not:
    such a kernel delays the collectives, and changes nothing else.
    """

    def __init__(self) -> None:
        self._kernels: deque[UOp] = deque()
        self._users: deque[UOp] = deque()
        self._collectives: deque[UOp] = deque()
        self._bytes = 0
        self._flushing = False

    def __bool__(self) -> bool:
        return bool(self._kernels or self._users or self._collectives)

    def add(self, kernel: UOp, uses_exchange: bool = False) -> None:
        """Add a kernel. uses_exchange: whether it reads what a collective writes."""
        if is_collective(kernel):
            self._collectives.append(kernel)
            memory = root_buffer(kernel.src[0])
            self._bytes += memory.arg * memory.dtype.itemsize
        else:
            (self._users if uses_exchange else self._kernels).append(kernel)

    def pop(self) -> UOp:
        """Remove the next kernel, and return it."""
        full = self._bytes >= BUCKET_BYTES or not self._kernels
        self._flushing = bool(self._collectives) and (self._flushing or full)
        if not self._flushing:
            return (self._kernels or self._users).popleft()
        kernel = self._collectives.popleft()
        memory = root_buffer(kernel.src[0])
        self._bytes -= memory.arg * memory.dtype.itemsize
        return kernel
