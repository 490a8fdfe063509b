"""Launch list: the kernels of a schedule template with constant arguments, ready to be launched.
Also: command list.

A schedule that runs again has the same kernels, launch sizes and values. Only the memory differs.
The list keeps everything else, so that a run makes no schedule items and looks up no programs.

in:  a template whose steps are kernels without variables, and the memory of one run
out: the kernels have run

Source: Direct3D 12 and Vulkan specifications (command lists are recorded once and submitted often).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.interrupts import let_through
from weft.device import Buffer, OpenDevice, binding
from weft.engine.process_group import is_addressable
from weft.engine.programs import bound_program_for
from weft.engine.runners import KernelRunner, concrete, cost_of
from weft.engine.stats import stats
from weft.schedule import ScheduleTemplate
from weft.schedule.structural_key import Structure
from weft.uop import Ops, UOp

_Launch = tuple[KernelRunner, tuple[int, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class LaunchList:
    """Kernels in order.

    :ivar launches: each kernel, the numbers of the memory that it takes, and its other arguments.
    :ivar devices: those that launch the kernels.
    :ivar ops, nbytes: for the statistics.
    """

    launches: tuple[_Launch, ...]
    devices: tuple[OpenDevice, ...]
    ops: int
    nbytes: int

    def run(self, memory: Sequence[Buffer | UOp]) -> None:
        """Launch all kernels on this memory, and wait until they have finished.

        :raises DeviceError: if a kernel fails.
        """
        handles: list[Any] = [None] * len(memory)
        for kernel, numbers, arguments in self.launches:
            taken: list[Any] = []
            for number in numbers:
                handle = handles[number]
                if handle is None:
                    buffer = memory[number]
                    if buffer.__class__ is not Buffer:
                        buffer = binding.buffer_of(buffer)  # type: ignore[arg-type]
                    handle = handles[number] = buffer.handle  # type: ignore[union-attr]
                taken.append(handle)
            try:
                kernel.runner(taken, **arguments)
            except Exception as error:
                let_through(error)
                kernel.device.failed(f"kernel {kernel.name}", error)
        stats.kernels += len(self.launches)
        stats.ops += self.ops
        stats.bytes += self.nbytes
        for device in self.devices:
            device.synchronize()


def launch_list(template: ScheduleTemplate, structure: Structure) -> LaunchList | None:
    """The launch list of a template whose kernels are compiled; None where it has other steps, or
    kernels with variables."""
    if structure.values or template.values:
        return None
    launches: list[_Launch] = []
    ops = nbytes = 0
    for step in template.steps:
        if step.ast.op is not Ops.SINK:
            return None
        device = _device(step.memory[0], template, structure)
        if not is_addressable(device):
            return None  # other processes run the schedule too, and compare it
        kernel, values = bound_program_for(step.ast, device)
        if any(variable not in values for variable in kernel.variables):
            return None
        program = kernel.p.program
        arguments: dict[str, Any] = {
            "global_size": concrete(program.global_size, values),
            "local_size": concrete(program.local_size, values),
            "values": [values[variable] for variable in kernel.variables],
            "wait": False,
        }
        launches.append((kernel, tuple([step.memory[slot] for slot in kernel.slots]), arguments))
        cost = cost_of(kernel, values)
        ops, nbytes = ops + cost[0], nbytes + cost[1]
    devices = tuple(dict.fromkeys(kernel.device for kernel, _, _ in launches))
    return LaunchList(tuple(launches), devices, ops, nbytes)


def _device(number: int, template: ScheduleTemplate, structure: Structure) -> str:
    """The name of the device of a memory."""
    if number < template.given:
        name: str = structure.buffers[number].src[0].arg
        return name
    return template.fresh[number - template.given].device
