"""Launching: the program is loaded from the driver's binary, arguments are set, the queue does the
rest."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from weft.plugin import CompiledProgram, CompileError, DeviceError, Dims, dtypes, let_through
from weft_opencl.allocator import Memory, failed
from weft_opencl.compiler import load
from weft_opencl.driver import OpenCLDevice, bindings
from weft_opencl.renderer import entry_point, is_spread

ALONE = (1, 1, 1)


class KernelRunner:
    """One loaded kernel.

    :param device: whose queue it is launched on.
    :param program: a kernel and what the driver made of it.
    :raises CompileError: if the driver does not take its binary back.
    """

    def __init__(self, device: OpenCLDevice, program: CompiledProgram) -> None:
        import numpy

        self.cl = bindings()
        self.device = device
        self.name = program.name
        linear = program.program
        self.spread = is_spread(linear)
        self.kinds = [
            numpy.int64 if u.dtype is dtypes.int64 else numpy.int32 for u in linear.variables
        ]
        try:
            self._loaded = load(device, program)
            self.kernel = self.another()
        except (self.cl.Error, RuntimeError) as error:
            let_through(error)
            raise CompileError(
                "the OpenCL driver does not take this binary",
                asked=f"kernel {program.name}",
                because=str(error),
                source=program.source,
                log=str(error),
                try_="clear the kernel cache (it may be damaged) and compile again",
            ) from error
        self.kernel.set_scalar_arg_dtypes([None] * len(linear.globals) + self.kinds)
        # A kernel keeps its arguments until it is launched: two threads must not mix theirs.
        self._lock = Lock()

    def another(self) -> Any:
        """The same kernel with arguments of its own."""
        return self.cl.Kernel(self._loaded, entry_point(self.name))

    def sizes(self, global_size: Dims | None, local_size: Dims | None) -> tuple[Dims, Dims | None]:
        """(work items, those of a group) of a launch; the driver forms the groups if None."""
        groups = global_size or ALONE
        items = local_size or (None if self.spread else ALONE)
        total = groups if items is None else tuple(g * n for g, n in zip(groups, items))
        return total, items

    def __call__(
        self,
        handles: Sequence[Memory],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Put it in the queue. Seconds by the device's clock if `wait`.

        :raises OutOfMemory: if the driver has no memory for what it allocates late.
        :raises DeviceError: if it refuses the launch.
        """
        total, items = self.sizes(global_size, local_size)
        try:
            with self._lock:
                self.kernel.set_args(*(handle.buffer for handle in handles), *values)
                event = self.cl.enqueue_nd_range_kernel(
                    self.device.queue, self.kernel, total, items
                )
            if not wait:
                return None
            event.wait()
        except self.cl.Error as error:
            raise failed(error, f"kernel {self.name} over {total} by {items}") from error
        if event.command_execution_status < 0:
            raise DeviceError(f"kernel {self.name} failed on {self.device.id}")
        return (event.profile.end - event.profile.start) * 1e-9
