"""Program: a computation as kernels, memory and launches, without graphs.
Also: ahead-of-time compiled program, executable.

in:  the steps of one recorded run      out: `Program`; `Executable` runs it on other memory
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.base.dtype import DType
from weft.device import Buffer, CompiledProgram, registry
from weft.engine import ExecItem, HostCallStep
from weft.engine.capture import Recording
from weft.engine.recorded_steps import CONSTANT, INPUT, OUTPUT, Recorded, Unreplayable
from weft.engine.replay import Replay
from weft.engine.runners import CopyRunner, KernelRunner
from weft.uop import UOp

_NO_VALUES: Mapping[UOp, int] = {}


@dataclass(frozen=True)
class Memory:
    """A memory of a program. Each replay passes in inputs, and allocates outputs.

    :ivar kind: "input", "output", "intermediate" or "constant".
    :ivar place: its number among inputs or outputs, else -1.
    :ivar size: the number of its elements.
    """

    kind: str
    place: int
    device: str
    size: int
    dtype: DType

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return self.size * self.dtype.itemsize

    def filled(self, content: Any) -> Buffer:
        """Return a buffer with this content."""
        return Buffer.like(self.device, self.size, self.dtype).copy_in(content)


@dataclass(frozen=True)
class Argument:
    """An argument of a launch: the number of a memory, and the window of it that is used.

    :ivar window: elements, dtype and first byte; None for all of the memory.
    """

    memory: int
    window: tuple[int, DType, int] | None = None


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel, or a copy of the second argument to the first.

    :ivar kernel: the number of the kernel; None for a copy.
    :ivar values: the values of variables.
    """

    kernel: int | None
    arguments: tuple[Argument, ...]
    values: Mapping[UOp, int] = field(default_factory=dict)


@dataclass(eq=False)
class Program:
    """Kernels, memory and launches in order.

    :ivar kernels: compiled, each once. :ivar runners: the loaded ones; None: they are not loaded.
    :ivar constants: the content of each constant memory, by number.
    :ivar variables: whose values each run passes in.
    :ivar state: the number of trailing inputs that are state: a run may overwrite them, and most
        runs get the memory that the one before got.
    """

    kernels: Sequence[CompiledProgram]
    memories: Sequence[Memory]
    launches: Sequence[Launch]
    constants: Mapping[int, Buffer]
    runners: Sequence[KernelRunner] | None = None
    variables: Sequence[UOp] = ()
    state: int = 0

    def numbered(self, kind: str) -> list[int]:
        """The numbers of the memories of a kind, in the order of their places."""
        found = [n for n, memory in enumerate(self.memories) if memory.kind == kind]
        return sorted(found, key=lambda number: self.memories[number].place)


def program_of(
    record: Recording,
    inputs: Sequence[Buffer],
    outputs: Sequence[Buffer],
    variables: Sequence[UOp] = (),
    state: int = 0,
) -> Program:
    """Return the program of a recorded run.

    :param inputs: the buffers that were passed in. :param outputs: the buffers of the results.
    :param variables: whose values each run passes in.
    :param state: the number of trailing inputs that runs may overwrite.
    :raises Unreplayable: if the run overwrites other memory that is no part of it, or returns
        memory that it has not computed.
    """
    recorded = Recorded(record.steps, inputs, loose=len(inputs), outputs=outputs, dynamic=variables)
    if not record.read.isdisjoint(variables):
        raise Unreplayable("it reads the value of a variable")
    if record.draws:
        raise Unreplayable("it draws random numbers")
    fixed = len(inputs) - state
    if any(place < fixed for place in recorded.written) or recorded.writes_constant():
        raise Unreplayable("it overwrites memory that is no part of it")
    return _Builder(recorded, inputs).program(variables, state)


class _Builder:
    """Numbers the memories and the kernels of recorded steps."""

    def __init__(self, recorded: Recorded, inputs: Sequence[Buffer]) -> None:
        self._recorded = recorded
        self._memories: list[Memory] = []
        self._numbers: dict[int, int] = {}
        self._constants: dict[int, Buffer] = {}
        self._runners: dict[KernelRunner, int] = {}
        for place, buffer in enumerate(inputs):  # also those that no kernel reads
            self._numbers[id(buffer)] = place
            self._memories.append(Memory(INPUT, place, buffer.device, buffer.size, buffer.dtype))

    def program(self, variables: Sequence[UOp], state: int) -> Program:
        launches = [
            Launch(
                self._kernel(step.item),
                tuple(self._argument(each) for each in step.arguments),
                dict(step.item.values),
            )
            for step in self._recorded.steps
        ]
        runners = list(self._runners)
        kernels = [runner.p for runner in runners]
        return Program(
            kernels, self._memories, launches, self._constants, runners, tuple(variables), state
        )

    def _kernel(self, item: ExecItem) -> int | None:
        if isinstance(item.prg, CopyRunner):
            return None
        if not isinstance(item.prg, KernelRunner):
            if isinstance(item.prg, HostCallStep):
                raise Unreplayable(
                    f"{item.prg.name!r} is a function of the host (LAPACK); with WEFT_HOST_CALLS=0 "
                    "it is computed by kernels"
                )
            raise Unreplayable(f"it has a step {item.prg.name!r}")
        return self._runners.setdefault(item.prg, len(self._runners))

    def _argument(self, argument: Any) -> Argument:
        memory = argument.memory
        buffer = memory.buffer
        number = self._numbers.get(id(buffer))
        if number is None:
            number = self._numbers[id(buffer)] = len(self._memories)
            self._memories.append(
                Memory(memory.kind, memory.place, buffer.device, buffer.size, buffer.dtype)
            )
            if memory.kind is CONSTANT:
                self._constants[number] = buffer
        return Argument(number, argument.window)


class Executable:
    """A program that runs. Its intermediates are one memory plan, which all runs share: it runs in
    one thread at a time.

    :raises CompileError: if a kernel cannot be loaded.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._inputs = program.numbered(INPUT)
        self._outputs = program.numbered(OUTPUT)
        buffers = [
            program.constants.get(number) or Buffer(each.device, each.size, each.dtype)
            for number, each in enumerate(program.memories)
        ]
        runners = program.runners or self._loaded(program)
        copy = CopyRunner()
        items = [
            ExecItem(
                copy if launch.kernel is None else runners[launch.kernel],
                tuple(_over(buffers[each.memory], each.window) for each in launch.arguments),
                (),
                dict(launch.values),
            )
            for launch in program.launches
        ]
        self._replay = Replay(
            items,
            [buffers[number] for number in self._inputs],
            loose=len(self._inputs) - program.state,
            outputs=[buffers[number] for number in self._outputs],
            dynamic=program.variables,
        )
        self._replay.prepare()

    @staticmethod
    def _loaded(program: Program) -> list[KernelRunner]:
        """Load the kernels, each on the device of its first launch."""
        devices: dict[int, str] = {}
        for launch in program.launches:
            if launch.kernel is not None:
                memory = program.memories[launch.arguments[0].memory]
                devices.setdefault(launch.kernel, memory.device)
        runners = []
        for number, kernel in enumerate(program.kernels):
            device = registry.open(devices[number])
            runners.append(KernelRunner(kernel, device, device.runner(kernel)))
        return runners

    @property
    def is_valid(self) -> bool:
        """Whether its devices are still open."""
        return self._replay.is_valid

    def __call__(
        self, inputs: Sequence[Buffer], values: Mapping[UOp, int] = _NO_VALUES
    ) -> Sequence[Buffer]:
        """Run on these inputs, with these values of the variables. The outputs are new buffers."""
        return self._replay.run(inputs, values)


def _over(buffer: Buffer, window: tuple[int, DType, int] | None) -> Buffer:
    return buffer if window is None else buffer.view(*window)
