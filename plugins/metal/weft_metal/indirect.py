"""Indirect command buffer: encode many launches once, and execute them again and again.

A replay costs one command buffer for any number of launches. Launches with new memory or values are
encoded again, after earlier executions have finished. Commands of an indirect command buffer run
concurrently unless a barrier orders them; here each command has a barrier.

A command neither keeps its buffers alive nor makes them resident. This module holds the buffers,
and passes them to the encoder at every execution. On GPUs before `PIPELINES_STAY` it passes the
pipelines too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.plugin import Launch
from weft_metal.allocator import Slice
from weft_metal.capabilities import ARGUMENTS, since
from weft_metal.gpu import Gpu
from weft_metal.runner import PipelineRunner

MOST = 1 << 14
"""Commands of one indirect command buffer, and of one execution."""
PIPELINES_STAY = "apple9"
VALUES_ALIGNMENT = 256
"""Bytes; where a `constant` argument may begin on every GPU."""


class IndirectGraph:
    """A settable graph, made by `of`.

    :param commands: the framework's indirect command buffer, for all launches.
    """

    def __init__(self, device: Gpu, launches: Sequence[Launch], commands: Any) -> None:
        self.device = device
        self.commands = commands
        runners = [launch.runner for launch in launches]
        self.runners = [one for one in runners if isinstance(one, PipelineRunner)]
        self.sizes = [
            runner.sizes(launch.global_size, launch.local_size)
            for runner, launch in zip(self.runners, launches)
        ]
        self.handles: list[list[Slice | None]] = [list(launch.handles) for launch in launches]
        self.values = [tuple(launch.values) for launch in launches]
        self._constants, self._starts = self._values_buffer()
        self._stale = set(range(len(launches)))
        self._resources: list[Any] = []

    @classmethod
    def of(cls, device: Gpu, launches: Sequence[Launch]) -> IndirectGraph | None:
        """A graph of these launches; None where the GPU has no indirect command buffers, or where
        some launch is not of this GPU.

        :raises CapabilityError: if a group is larger than its kernel's registers allow.
        """
        own = all(
            isinstance(one.runner, PipelineRunner) and one.runner.device is device
            for one in launches
        )
        framework = device.framework
        if not own or len(launches) > MOST:
            return None
        if not hasattr(framework, "MTLIndirectCommandBufferDescriptor"):
            return None
        descriptor = framework.MTLIndirectCommandBufferDescriptor.alloc().init()
        descriptor.setCommandTypes_(framework.MTLIndirectCommandTypeConcurrentDispatch)
        descriptor.setInheritBuffers_(False)
        descriptor.setInheritPipelineState_(False)
        descriptor.setMaxKernelBufferBindCount_(ARGUMENTS)
        make = device.driver.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_
        commands = make(descriptor, len(launches), framework.MTLResourceStorageModeShared)
        return None if commands is None else cls(device, launches, commands)

    # ---- replaying ------------------------------------------------------------------------------

    def __call__(
        self, handles: Sequence[Sequence[Slice]], values: Sequence[Sequence[int]], *, wait: bool
    ) -> float | None:
        """Replay with these handles and values; seconds on the GPU if ``wait``."""
        for number, (known, given) in enumerate(zip(self.handles, handles)):
            if len(known) != len(given) or any(one is not now for one, now in zip(known, given)):
                self.handles[number] = list(given)
                self._stale.add(number)
        for number, numbers in enumerate(values):
            if numbers and tuple(numbers) != self.values[number]:
                self.values[number] = tuple(numbers)
                self._stale.add(number)
        return self._execute(wait)

    def setter(self, places: Sequence[tuple[int, int]]) -> Callable[[Slice], None]:
        """A function that sets a handle in these places: numbers of a launch and an argument."""
        numbers = {number for number, _ in places}
        number, place = places[0]

        def set_handle(handle: Slice) -> None:
            if self.handles[number][place] is handle:
                return
            for one, argument in places:
                self.handles[one][argument] = handle
            self._stale |= numbers

        return set_handle

    def launch(self) -> None:
        """Replay with the current handles and values."""
        self._execute(wait=False)

    def _execute(self, wait: bool) -> float | None:
        if self._stale:
            self._encode_stale()
        return self.device.run(self._record, wait, keep=(self, tuple(self._resources)))

    def _record(self, encoder: Any) -> None:
        framework = self.device.framework
        usage = framework.MTLResourceUsageRead | framework.MTLResourceUsageWrite
        for buffer in self._resources:
            encoder.useResource_usage_(buffer, usage)
        if not since(self.device.arch, PIPELINES_STAY):
            size = framework.MTLSizeMake
            for pipeline in {id(one.pipeline): one.pipeline for one in self.runners}.values():
                encoder.setComputePipelineState_(pipeline)
                encoder.dispatchThreadgroups_threadsPerThreadgroup_(size(0, 0, 0), size(1, 1, 1))
        whole = framework.NSMakeRange(0, len(self.runners))
        encoder.executeCommandsInBuffer_withRange_(self.commands, whole)

    # ---- encoding -------------------------------------------------------------------------------

    def _encode_stale(self) -> None:
        if self._resources:
            self.device.synchronize()  # what is being executed must not change
        for number in sorted(self._stale):
            self._encode(number)
        self._stale.clear()
        used = {id(h.buffer): h.buffer for own in self.handles for h in own if h is not None}
        if self._constants is not None:
            used[id(self._constants)] = self._constants
        self._resources = list(used.values())

    def _encode(self, number: int) -> None:
        command = self.commands.indirectComputeCommandAtIndex_(number)
        runner, handles, values = self.runners[number], self.handles[number], self.values[number]
        command.setComputePipelineState_(runner.pipeline)
        for place, handle in enumerate(handles):
            assert handle is not None  # a replay sets all of them
            command.setKernelBuffer_offset_atIndex_(handle.buffer, handle.offset, place)
        if values:
            packed, start = runner.packed(values), self._starts[number]
            memory = self._constants.contents().as_buffer(self._constants.length())
            memory[start : start + len(packed)] = packed
            command.setKernelBuffer_offset_atIndex_(self._constants, start, len(handles))
        command.concurrentDispatchThreadgroups_threadsPerThreadgroup_(*self.sizes[number])
        command.setBarrier()

    def _values_buffer(self) -> tuple[Any, list[int]]:
        """A buffer for the variables of all launches, and where each one's begin in it."""
        starts, nbytes = [], 0
        for runner in self.runners:
            starts.append(nbytes)
            nbytes += VALUES_ALIGNMENT * -(-runner.values_nbytes // VALUES_ALIGNMENT)
        if not nbytes:
            return None, starts
        device = self.device
        make = device.driver.newBufferWithLength_options_
        return make(nbytes, device.framework.MTLResourceStorageModeShared), starts
