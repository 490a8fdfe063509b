"""Launch graph: replay many launches, each with a kernel object that keeps its arguments.

A replay is then one call of the driver for each launch. (Recording them once for all, as the
extension ``cl_khr_command_buffer`` does, would fix their arguments, which differ between replays.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from weft.plugin import DeviceError, Dims, Launch
from weft_opencl.allocator import Memory, failed
from weft_opencl.driver import OpenCLDevice, bindings
from weft_opencl.runner import KernelRunner


class LaunchGraph:
    """Launches bound together.

    :param device: whose queue they are launched on.
    :param launches: all of kernels of this device.
    """

    def __init__(self, device: OpenCLDevice, launches: Sequence[Launch]) -> None:
        self._cl = bindings()
        self._queue = device.queue
        self._name = str(device.id)
        self._kernels: list[Any] = []
        self._sizes: list[tuple[Dims, Dims | None]] = []
        self._kinds: list[Sequence[Any]] = []
        # A kernel does not keep what it is given alive.
        self._held: list[list[Any]] = []
        self._values: list[tuple[int, ...]] = []
        self._lock = Lock()
        for number, launch in enumerate(launches):
            runner = launch.runner
            assert isinstance(runner, KernelRunner)  # `of` checks it
            self._kernels.append(runner.another())
            self._sizes.append(runner.sizes(launch.global_size, launch.local_size))
            self._kinds.append(runner.kinds)
            self._held.append([None] * len(launch.handles))
            self._values.append(())
            self._set(number, launch.handles, launch.values)

    @classmethod
    def of(cls, device: OpenCLDevice, launches: Sequence[Launch]) -> LaunchGraph | None:
        """A graph of these launches; None if some are not of this device."""
        for launch in launches:
            if not isinstance(launch.runner, KernelRunner) or launch.runner.device is not device:
                return None
        return cls(device, launches)

    def _set(self, number: int, handles: Sequence[Memory | None], values: Sequence[int]) -> None:
        kernel, held = self._kernels[number], self._held[number]
        for index, handle in enumerate(handles):
            # Handles that are not known yet are given before the first replay.
            if handle is not None and held[index] is not handle:
                kernel.set_arg(index, handle.buffer)
                held[index] = handle
        given = tuple(values)
        if given and given != self._values[number]:
            for index, (kind, value) in enumerate(zip(self._kinds[number], given), len(held)):
                kernel.set_arg(index, kind(value))
            self._values[number] = given

    def setter(self, places: Sequence[tuple[int, int]]) -> Callable[[Memory], None]:
        """A function that sets a handle in these places: numbers of a launch and an argument."""
        spots = [(self._kernels[number].set_arg, self._held[number], i) for number, i in places]

        def set_handle(handle: Memory) -> None:
            for set_arg, held, index in spots:
                if held[index] is not handle:
                    set_arg(index, handle.buffer)
                    held[index] = handle

        return set_handle

    def launch(self) -> None:
        """Replay with the current arguments. Raises as a launch does."""
        enqueue, queue = self._cl.enqueue_nd_range_kernel, self._queue
        try:
            for kernel, (total, items) in zip(self._kernels, self._sizes):
                enqueue(queue, kernel, total, items)
        except self._cl.Error as error:
            raise failed(error, f"{len(self._kernels)} launches on {self._name}") from error

    def __call__(
        self, handles: Sequence[Sequence[Memory]], values: Sequence[Sequence[int]], *, wait: bool
    ) -> float | None:
        """Replay with other handles and values; seconds by the device's clock if `wait`."""
        with self._lock:
            for number, own in enumerate(handles):
                self._set(number, own, values[number] if number < len(values) else ())
            if not wait:
                self.launch()
                return None
            mark = self._cl.enqueue_marker
            try:
                first = mark(self._queue)
                self.launch()
                last = mark(self._queue)
                last.wait()
            except self._cl.Error as error:
                raise failed(error, f"{len(self._kernels)} launches on {self._name}") from error
        if last.command_execution_status < 0:
            raise DeviceError(f"launches failed on {self._name}")
        return float(last.profile.end - first.profile.end) * 1e-9
