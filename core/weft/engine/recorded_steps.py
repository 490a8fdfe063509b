"""Recorded steps: analyse the memory of recorded steps and its role in a replay.

Every memory is one of these:

input         passed in at every replay: arguments, and state that a function reads or writes
output        allocated at every replay, unless an earlier output is reused
intermediate  used during a replay only
constant      the same at every replay: numbers from Python, and values computed from them alone

Dead steps are eliminated. Steps with constant results are folded: they are not replayed.

in:  list[ExecItem] that ran      out: `Recorded`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import ImageDType
from weft.device import Buffer, registry
from weft.engine.host_functions import HostCallStep
from weft.engine.lower_items import ExecItem
from weft.engine.process_group import is_addressable
from weft.engine.runners import CollectiveStep, KernelRunner, RemoteKernel, ViewRunner
from weft.schedule import Lifetime
from weft.uop import UOp

INPUT, OUTPUT, INTERMEDIATE, CONSTANT = "input", "output", "intermediate", "constant"


class Unreplayable(Exception):
    """Recorded steps cannot run on other memory; the message says why."""


@dataclass(eq=False, slots=True)
class Memory:
    """A buffer that owns memory. kind: see above. place: its number among the inputs or outputs."""

    kind: str
    buffer: Buffer
    place: int = -1
    writes: int = 0
    reads: int = 0


@dataclass(eq=False, slots=True)
class Argument:
    """An argument of a step: all of a memory, or its `window` (elements, dtype, byte offset)."""

    memory: Memory
    window: tuple[int, Any, int] | None

    def of(self, buffer: Buffer) -> Buffer:
        """This argument over `buffer`."""
        return buffer if self.window is None else buffer.view(*self.window)


@dataclass(eq=False, slots=True)
class Step:
    """A step and the memory of its arguments. `written` and `read` are numbers of arguments."""

    item: ExecItem
    arguments: list[Argument]
    written: tuple[int, ...]
    read: tuple[int, ...]


class Recorded:
    """Recorded steps over memory that changes.

    :param items: what ran, in order, each intermediate in memory of its own.
    :param given: the buffers of the inputs.
    :param loose: the number of leading inputs that are not referenced between replays.
    :param known: the ids of all other buffers that existed before.
    :param volatile: the ids of buffers whose content changes between replays.
    :param outputs: buffers that are new at every replay.
    :param dynamic: variables whose values are passed in.
    :raises Unreplayable: if memory overlaps in a way that other memory may not.
    """

    def __init__(
        self,
        items: Iterable[ExecItem],
        given: Sequence[Buffer],
        loose: int = 0,
        known: Iterable[int] = (),
        volatile: Iterable[int] = (),
        outputs: Sequence[Buffer] = (),
        dynamic: Iterable[UOp] = (),
    ) -> None:
        self._given = list(given)
        self._loose = loose
        self._outputs = list(outputs)
        self._memories: dict[int, Memory] = {}
        self._dynamic = frozenset(dynamic)
        self._given_of_base: dict[int, list[Buffer]] = {}
        for place, buffer in enumerate(self._given):
            self._memories[id(buffer)] = Memory(INPUT, buffer, place)
            self._given_of_base.setdefault(id(buffer.base), []).append(buffer)
        everything = [self._step(item) for item in items if not isinstance(item.prg, ViewRunner)]
        self._classify(everything, frozenset(known))
        everything = self._without_dead_steps(everything)
        self.recorded = everything
        changing = frozenset(known) | frozenset(volatile)
        self.steps = self._without_constants(everything, changing)

    # ---- steps ----------------------------------------------------------------------------------

    def _step(self, item: ExecItem) -> Step:
        return Step(item, [self._argument(buffer) for buffer in item.bufs], *item.places)

    def _argument(self, buffer: Buffer) -> Argument:
        found = self._memories.get(id(buffer))
        if found is not None:
            return Argument(found, None)
        own = buffer.owner
        found = self._memories.get(id(own))
        if found is None:
            windows = self._given_of_base.get(id(own), [])
            for candidate in windows:
                start = buffer.offset - candidate.offset
                if 0 <= start <= candidate.nbytes - buffer.nbytes:
                    found = self._memories[id(candidate)]
                    return Argument(found, (buffer.size, buffer.dtype, start))
            if windows:
                raise Unreplayable("an input is a window of other memory that it uses")
            found = self._memories[id(own)] = Memory(INTERMEDIATE, own)
        whole = buffer is own
        return Argument(found, None if whole else (buffer.size, buffer.dtype, buffer.offset))

    def _classify(self, steps: list[Step], known: frozenset[int]) -> None:
        """The kind of each memory: memory that is read before it is written existed before."""
        for step in steps:
            for place in step.read:
                memory = step.arguments[place].memory
                memory.reads += 1
                if memory.kind is INTERMEDIATE and not memory.writes:
                    memory.kind = CONSTANT
            for place in step.written:
                step.arguments[place].memory.writes += 1
        for key, memory in self._memories.items():
            if memory.kind is INTERMEDIATE and key in known:
                memory.kind = CONSTANT
        for place, buffer in enumerate(self._outputs):
            own = buffer.owner
            memory = self._memories.get(id(own))
            if memory is None or memory.kind is not INTERMEDIATE:
                if memory is None or memory.kind is not OUTPUT:
                    raise Unreplayable("it returns memory that it has not computed")
                raise Unreplayable("two results are windows of one memory")
            memory.kind, memory.place = OUTPUT, place

    def _without_dead_steps(self, steps: list[Step]) -> list[Step]:
        """Dead step elimination: drop steps with unused results (copies for other tensors)."""
        left: list[Step] = []
        needed: set[int] = set()
        for step in reversed(steps):
            written = [step.arguments[place].memory for place in step.written]
            if not is_exchange(step) and all(
                m.kind is INTERMEDIATE and id(m) not in needed for m in written
            ):
                for memory in written:
                    memory.writes -= 1
                for place in step.read:
                    step.arguments[place].memory.reads -= 1
                continue
            needed.update(id(step.arguments[place].memory) for place in step.read)
            left.append(step)
        return left[::-1]

    def _without_constants(self, steps: list[Step], changing: frozenset[int]) -> list[Step]:
        """Constant folding: drop steps with equal results at every replay. changing: ids of buffers
        that others may write meanwhile; persistent memory counts too."""
        left: list[Step] = []
        for step in steps:
            read = [step.arguments[place].memory for place in step.read]
            written = [step.arguments[place].memory for place in step.written]
            constant = (
                all(_is_constant(m, changing) for m in read)
                and all(m.kind is INTERMEDIATE and m.writes == 1 for m in written)
                and self._dynamic.isdisjoint(variables(step.item))
                and not is_exchange(step)
            )
            if not constant:
                left.append(step)
                continue
            for memory in written:
                memory.kind, memory.writes = CONSTANT, 0
        return left

    @cached_property
    def written(self) -> list[int]:
        """The numbers of the inputs that are written."""
        return [m.place for m in self._memories.values() if m.kind is INPUT and m.writes]

    @property
    def read(self) -> set[int]:
        """The numbers of the inputs that are read."""
        return {m.place for m in self._memories.values() if m.kind is INPUT and m.reads}

    def writes_constant(self) -> bool:
        """Whether it writes memory that is neither input nor its own."""
        return any(m.kind is CONSTANT and m.writes for m in self._memories.values())

    def pattern(self) -> list[Any]:
        """The steps without the memory: equal for two recordings of the same computation."""
        numbers: dict[int, int] = {}
        lines: list[Any] = []
        for step in self.recorded:
            item = step.item
            what: Any = item.prg if isinstance(item.prg, KernelRunner) else "copy"
            if isinstance(item.prg, (CollectiveStep, HostCallStep, RemoteKernel)):
                what = item.prg.ast
            places = tuple(
                (numbers.setdefault(id(a.memory), len(numbers)), a.memory.kind, a.memory.place,
                 a.window)
                for a in step.arguments
            )  # fmt: skip
            fixed = tuple(
                sorted((v.arg.name, item.values[v]) for v in variables(item) - self._dynamic)
            )
            lines.append((what, places, fixed))
        return lines

    def numbers(self, volatile: Iterable[int] = ()) -> list[bytes]:
        """The bytes of constants from Python, in the order in which they are read."""
        skip = set(volatile)
        found: dict[int, Buffer] = {}
        for step in self.recorded:
            for place in step.read:
                memory = step.arguments[place].memory
                if memory.kind is CONSTANT and not memory.writes and id(memory.buffer) not in skip:
                    if isinstance(memory.buffer._memory, memoryview):
                        found.setdefault(id(memory.buffer), memory.buffer)
        return [bytes(buffer.copy_out()) for buffer in found.values()]

    def lines(self) -> list[str]:
        """The steps as text: one line per step, memory by kind and number."""
        numbers: dict[int, str] = {}
        counts: dict[str, int] = {}

        def named(argument: Argument) -> str:
            memory = argument.memory
            if id(memory) not in numbers:
                number = counts.get(memory.kind, 0) if memory.place < 0 else memory.place
                counts[memory.kind] = number + 1
                numbers[id(memory)] = f"{memory.kind} {number}"
            window = argument.window
            part = "" if window is None else f"[{window[0]} {window[1].name} from byte {window[2]}]"
            return numbers[id(memory)] + part

        found: list[str] = []
        for step in self.steps:
            written = ", ".join(named(step.arguments[place]) for place in step.written)
            read = ", ".join(named(step.arguments[place]) for place in step.read)
            found.append(f"{step.item.prg.name}: {read or 'nothing'} -> {written}")
        return found


def _is_constant(memory: Memory, changing: frozenset[int]) -> bool:
    if memory.kind is not CONSTANT or memory.writes or id(memory.buffer) in changing:
        return False
    return not registry.capabilities(memory.buffer.device).memory.persistent


def lifetimes(
    steps: Sequence[Step], intermediates: Sequence[Memory], ends: Mapping[int, int]
) -> list[Lifetime]:
    """When each intermediate is in use, by its number; images, which share no memory, left out.

    ends: by number of a step that goes on while others run, the step before which it has ended.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for time, step in enumerate(steps):
        end = time
        if step.item.prg.is_kernel is False:  # a copy may be asynchronous
            end = ends.get(time, len(steps))
        for argument in step.arguments:
            key = id(argument.memory)
            first.setdefault(key, time)
            last[key] = max(end, last.get(key, end))
    return [
        Lifetime(number, m.buffer.device, m.buffer.nbytes, first[id(m)], last[id(m)])
        for number, m in enumerate(intermediates)
        if id(m) in first and not isinstance(m.buffer.dtype, ImageDType)
    ]


def is_exchange(step: Step) -> bool:
    """Whether other processes take part in a step."""
    if isinstance(step.item.prg, CollectiveStep):
        return True
    return not all(is_addressable(argument.memory.buffer.device) for argument in step.arguments)


def variables(item: ExecItem) -> frozenset[UOp]:
    return frozenset(item.prg.variables if isinstance(item.prg, KernelRunner) else ())
