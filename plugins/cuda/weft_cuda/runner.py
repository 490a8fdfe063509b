"""Launching one kernel: parameters are written in place, then one call of the driver."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from math import prod

from weft.plugin import CompiledProgram, DeviceError, Dims, dtypes
from weft_cuda.allocator import Memory
from weft_cuda.driver import Context, Grid, Parameters
from weft_cuda.shared import dynamic_bytes


class KernelRunner:
    """One loaded kernel.

    :param context: of the GPU it is loaded on.
    :param program: a kernel and what the compiler made of it.
    :raises DeviceError: if the driver refuses to load it.
    """

    def __init__(self, context: Context, program: CompiledProgram) -> None:
        linear = program.program
        self.name = program.name
        self.context = context
        self.pointers = len(linear.globals)
        self.values = "".join("q" if u.dtype is dtypes.int64 else "i" for u in linear.variables)
        self.shared = dynamic_bytes(linear)
        self.function = context.load(program.binary, program.name)
        if self.shared:
            context.allow_shared(self.function, self.shared)
        self._parameters = self.parameters()
        self._lock = threading.Lock()
        self._events: tuple[object, object] | None = None

    def parameters(self) -> Parameters:
        """A fresh set of parameters for this kernel."""
        return Parameters(self.pointers, self.values)

    def occupancy(self, local_size: Dims | None) -> float | None:
        """Share of the threads that a multiprocessor can run at a time which blocks of this size
        fill; None if the driver's package cannot tell."""
        threads = prod(three(local_size))
        blocks = self.context.blocks(self.function, threads, self.shared)
        return None if blocks is None else blocks * threads / self.context.chip.processor_threads

    def __call__(
        self,
        handles: Sequence[Memory],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Put it into the stream. Seconds on the GPU if `wait`, which waits."""
        grid, block = three(global_size), three(local_size)
        with self._lock:
            self._parameters.fill([handle.address for handle in handles], values)
            if not wait:
                self.context.launch(self.function, grid, block, self._parameters, self.shared)
                return None
            if self._events is None:
                self._events = self.context.event(), self.context.event()
            start, stop = self._events
            self.context.record(start)
            self.context.launch(self.function, grid, block, self._parameters, self.shared)
            self.context.record(stop)
            self.context.wait(stop)
            return self.context.seconds(start, stop)


def three(size: Dims | None) -> Grid:
    """Sizes per dimension; 1 where nothing is said.

    :raises DeviceError: if there are more than three.
    """
    if not size:
        return 1, 1, 1
    if len(size) > 3:
        raise DeviceError("a grid has three dimensions", asked=f"a launch of {size}")
    return (*size, *(1,) * (3 - len(size)))  # type: ignore[return-value]
