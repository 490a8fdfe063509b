"""Replay: run recorded steps on other memory without inspecting any graph.
Also: command graph, command buffer.

The intermediates of all steps share one memory plan, and are kept between replays. Argument lists
are made once; a replay changes the positions of inputs and outputs in them. Adjacent kernels are
submitted together where the device can (`weft_graph`).

in:  list[ExecItem] that ran      out: `Replay`, which runs

Source: CUDA programming guide, CUDA graphs (stream capture, parameter update).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NoReturn

from weft.base import trace
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.device import (
    Buffer,
    Device,
    GraphRunner,
    Launch,
    OpenDevice,
    SettableGraph,
    ValueGraph,
    registry,
    transfer,
)
from weft.engine.argument_slots import ArgumentSlots
from weft.engine.exchange_buckets import with_buckets
from weft.engine.execute import run_steps
from weft.engine.host_functions import HostCallStep
from weft.engine.lower_items import ExecItem
from weft.engine.overlapped_exchanges import ExchangesGoing, awaited_at, overlapped
from weft.engine.recorded_steps import (
    CONSTANT,
    INPUT,
    INTERMEDIATE,
    OUTPUT,
    Memory,
    Recorded,
    Step,
    lifetimes,
)
from weft.engine.recorded_steps import variables as _variables
from weft.engine.runners import CollectiveStep, KernelRunner, concrete, cost_of
from weft.engine.stats import stats
from weft.schedule import Layout, plan_memory
from weft.uop import UOp

_debug = settings.getter("DEBUG")


class Replay(Recorded):
    """Recorded steps that run on other memory. Call `forget` after the last comparison of the
    record, then `prepare`, then `run` any number of times."""

    _ready = False
    _forgotten = False
    _epoch: object = None

    # ---- getting ready --------------------------------------------------------------------------

    def forget(self) -> None:
        """Release the memory of the recorded run, except constants: buffers without memory replace
        it. `recorded` is empty then."""
        if self._forgotten:
            return
        self._names = sorted({b.device for step in self.recorded for b in step.item.bufs})
        self._owners = [(o.device, o.size, o.dtype) for o in (b.owner for b in self._outputs)]
        self._windows = [
            None if b.base is None else (b.size, b.dtype, b.offset) for b in self._outputs
        ]
        blank = [Buffer(b.device, b.size, b.dtype) for b in self._given]
        for memory in self._memories.values():
            if memory.kind is INPUT:
                memory.buffer = blank[memory.place]
            elif memory.kind is not CONSTANT:
                memory.buffer = Buffer(*_like(memory.buffer))
        for step in self.steps:
            step.item.bufs = ()
        self._memories = {id(m): m for m in self._memories.values()}
        self._given = blank
        self._outputs = list[Buffer]()
        self.recorded = list[Step]()
        self._forgotten = True

    def prepare(self) -> None:
        """Plan the intermediates and make the argument lists; the recorded memory is released."""
        if self._ready:
            return
        self.forget()
        self._join_exchanges()
        self._awaited = awaited_at(self.steps)
        self._layout = self._plan()
        arenas = self._layout.allocate()
        self._devices = [registry.open(name) for name in self._names]
        self._wait = [d.device.synchronize for d in self._devices if needs_wait(d.device)]
        self._input_slots = [ArgumentSlots() for _ in self._given]
        self._output_slots = [ArgumentSlots() for _ in self._owners]
        fixed: dict[int, Buffer] = {}
        for number, memory in enumerate(self._intermediates()):
            spot = self._layout.spots.get(number)
            buffer = memory.buffer
            fixed[id(memory)] = (
                Buffer(buffer.device, buffer.size, buffer.dtype)
                if spot is None
                else arenas[spot.arena].view(buffer.size, buffer.dtype, spot.start)
            )
        self._fixed = fixed
        self._lists = [self._arguments_of(step, fixed) for step in self.steps]
        self._overlapped = overlapped(self.steps, self._lists)
        self._values: dict[UOp, int] = {}
        self._launches = self._make_launches()
        self._has_values = bool(self._with_values or self._value_setters)
        self._bind_slots()
        self._count()
        self._ready = True

    def _bind_slots(self) -> None:
        """Arrange the argument slots by how often their memory changes. Places count the inputs,
        then the outputs."""
        slots = [
            (n, s) for n, s in enumerate([*self._input_slots, *self._output_slots]) if s.is_needed
        ]
        state = range(self._loose, len(self._input_slots))
        changing = [(n, s) for n, s in slots if n not in state]
        self._setters = [(n, s.only_setter) for n, s in changing if s.only_setter is not None]
        self._updates = [(n, s.updater()) for n, s in changing if s.only_setter is None]
        kept = [n for n, _ in slots if n in state]
        self._state_in = _item_getter(kept)
        self._state_updates = [self._input_slots[n].updater() for n in kept]
        self._last: tuple[Any, ...] = (None,) * len(kept)
        self._any_window = any(window is not None for window in self._windows)

    def _join_exchanges(self) -> None:
        """Join adjacent all-reduces, and leave out what other processes run."""
        steps = with_buckets(self.steps) if settings.MEMORY_PLANNER else self.steps
        self.steps = [step for step in steps if step.item.is_local]
        kept = [m for m in self._memories.values() if m.kind is not INTERMEDIATE]
        used = [argument.memory for step in self.steps for argument in step.arguments]
        self._memories = {id(m): m for m in (*kept, *used)}

    def _intermediates(self) -> list[Memory]:
        return [m for m in self._memories.values() if m.kind is INTERMEDIATE]

    def _plan(self) -> Layout:
        if not settings.MEMORY_PLANNER:
            return Layout()
        return plan_memory(lifetimes(self.steps, self._intermediates(), self._awaited))

    def _arguments_of(self, step: Step, fixed: Mapping[int, Buffer]) -> list[Any]:
        """The arguments of one step: handles in the order of the slots, or the buffers of a copy.
        Positions that change are noted."""
        prg = step.item.prg
        is_kernel = isinstance(prg, KernelRunner)
        slots = prg.slots if isinstance(prg, KernelRunner) else range(len(step.arguments))
        made: list[Any] = [None] * len(slots)
        for index, slot in enumerate(slots):
            argument = step.arguments[slot]
            memory = argument.memory
            if memory.kind is INPUT or memory.kind is OUTPUT:
                patch = (self._input_slots if memory.kind is INPUT else self._output_slots)[
                    memory.place
                ]
                if is_kernel and argument.window is None:
                    patch.handles.append((made, index))
                else:
                    patch.others.append((made, index, argument, not is_kernel))
            else:
                buffer = argument.of(fixed.get(id(memory), memory.buffer))
                made[index] = buffer.handle if is_kernel else buffer
        return made

    def _make_launches(self) -> list[Callable[[], Any]]:
        launches: list[Callable[[], Any]] = []
        self._with_values: list[tuple[int, int]] = []
        self._value_setters: list[tuple[UOp, Callable[[int], None]]] = []
        row: list[int] = []
        going = ExchangesGoing(self._overlapped, self._awaited)
        for number, step in enumerate(self.steps):
            fits = self._fits_a_row(number)
            waits = going.waits_before(number)
            if row and not (
                fits and not waits and self._device_of(row[0]) is self._device_of(number)
            ):
                self._launch_row(row, launches)
                launches += going.polls()
                row = []
            launches += waits
            if fits:
                row.append(number)
            elif isinstance(step.item.prg, KernelRunner):
                self._launch_alone(number, launches)
            elif number in self._overlapped:
                launches.append(going.start(number))
            else:
                launches.append(_exchange(step.item.prg, self._lists[number]))
        self._launch_row(row, launches)
        return launches + going.waits_before(len(self.steps))

    def _changing(self, number: int) -> list[UOp]:
        """The variables of a kernel whose values change; those of others are as recorded."""
        return [v for v in self._program(number).variables if v in self._dynamic]

    def _fits_a_row(self, number: int) -> bool:
        """Whether a step may be one of several in a submission."""
        prg = self.steps[number].item.prg
        if not isinstance(prg, KernelRunner):
            return False
        if self._dynamic.isdisjoint(_variables(self.steps[number].item)):
            return True
        p = prg.p.program
        sizes = (*(p.global_size or ()), *(p.local_size or ()))
        return prg.device.compute.graph_values and not any(isinstance(s, UOp) for s in sizes)

    def _device_of(self, number: int) -> OpenDevice:
        return self.steps[number].item.prg.device  # type: ignore[union-attr]

    def _launch_row(self, row: list[int], launches: list[Callable[[], Any]]) -> None:
        """Adjacent kernels: one submission if the device binds launches, else one by one."""
        bound = [self._bound(number) for number in row]
        graph = self._graph_of(row, bound)
        if isinstance(graph, SettableGraph):
            lists = [self._lists[number] for number in row]
            self._move_to(graph, lists, self._device_of(row[0]))
            if isinstance(graph, ValueGraph):
                self._add_value_setters(graph, row)
            launches.append(graph.launch)
        elif graph is not None:
            lists = [self._lists[number] for number in row]
            values_of = [launch.values for launch in bound]
            launches.append(partial(graph, lists, values_of, wait=False))
        else:
            for number in row:
                self._launch_alone(number, launches)

    def _graph_of(self, row: Sequence[int], bound: Sequence[Launch]) -> GraphRunner | None:
        """A submission of adjacent kernels; None where they are launched one by one."""
        if settings.JIT >= 2 or not row:
            return None
        device = self._device_of(row[0])
        if len(row) < device.compute.graph_from:
            return None
        graph = device.graph(bound)
        settable = isinstance(graph, ValueGraph) or not any(map(self._changing, row))
        return graph if settable else None

    def _bound(self, number: int) -> Launch:
        """A launch with the current arguments."""
        program, p = self._program(number), self._program(number).p.program
        values = self.steps[number].item.values
        sizes = concrete(p.global_size, values), concrete(p.local_size, values)
        numbers = tuple([values[v] for v in program.variables])
        return Launch(program.runner, tuple(self._lists[number]), *sizes, numbers)

    def _add_value_setters(self, graph: ValueGraph, row: Sequence[int]) -> None:
        """Register what sets each variable in a submission of these kernels."""
        places: dict[UOp, list[tuple[int, int]]] = {}
        for launch, number in enumerate(row):
            for index, variable in enumerate(self._program(number).variables):
                if variable in self._dynamic:
                    places.setdefault(variable, []).append((launch, index))
        for variable, found in places.items():
            self._value_setters.append((variable, graph.value_setter(found)))

    def _launch_alone(self, number: int, launches: list[Callable[[], Any]]) -> None:
        """A launch of its own, which is made again when its values change."""
        if self._changing(number):
            self._with_values.append((len(launches), number))
            launches.append(lambda: None)
        else:
            launches.append(self._launch(number, self.steps[number].item.values))

    def _move_to(
        self, graph: SettableGraph, lists: Sequence[list[Any]], device: OpenDevice
    ) -> None:
        """Register the setters of a graph of launches with these arguments."""
        launches_of = {id(own): number for number, own in enumerate(lists)}
        with device.call("binding launches together"):
            for patch in (*self._input_slots, *self._output_slots):
                patch.move_to(graph, launches_of)

    def _program(self, number: int) -> Any:
        return self.steps[number].item.prg  # type: ignore[union-attr]

    def _launch(self, number: int, values: Mapping[UOp, int]) -> Callable[[], Any]:
        program = self._program(number)
        p = program.p.program
        return partial(
            program.runner, self._lists[number],
            global_size=concrete(p.global_size, values), local_size=concrete(p.local_size, values),
            values=[values[v] for v in program.variables], wait=False,
        )  # fmt: skip

    def _count(self) -> None:
        self._kernels = self._copies = self._host_calls = self._ops = self._bytes = 0
        for step in self.steps:
            item = step.item
            if isinstance(item.prg, KernelRunner):
                self._kernels += 1
                ops, nbytes = cost_of(item.prg, item.values)
                self._ops += ops
                self._bytes += nbytes
            elif isinstance(item.prg, HostCallStep):
                self._host_calls += 1
            else:
                self._copies += 1
                target = step.arguments[0]
                self._bytes += target.of(target.memory.buffer).nbytes

    # ---- running --------------------------------------------------------------------------------

    def is_whole(self, output: int) -> bool:
        """Whether an output is all of its memory, not a window of it."""
        return self._windows[output] is None

    @property
    def is_valid(self) -> bool:
        """Whether its devices are still the ones that it was made on."""
        epoch = registry.epoch()
        if epoch is self._epoch:
            return True
        if self._ready:
            for device in self._devices:
                if registry.open(device.name) is not device:
                    return False
            self._epoch = epoch
        return True

    def is_of(self, epoch: object) -> bool:
        """Whether its devices were seen to be those it was made on in this epoch."""
        return self._epoch is epoch

    def run(
        self,
        given: Sequence[Buffer],
        values: Mapping[UOp, int],
        reused: Sequence[Buffer | None] | None = None,
    ) -> Sequence[Buffer]:
        """Run the steps on `given`, with these values of the variables; returns the outputs.

        reused: by output the buffer of an earlier run that this run writes to, see `is_whole`;
        None: allocate one.
        """
        outputs: Sequence[Any] = ()
        try:
            if reused is None or None in reused:
                reused = self._output_buffers(reused)
            outputs = reused
            buffers = [*given, *outputs]
            for place, set_handle in self._setters:
                buffer = buffers[place]
                handle = buffer._handle
                set_handle(buffer.handle if handle is None else handle)
            for place, update in self._updates:
                update(buffers[place])
            if self._state_updates:
                state = self._state_in(given)
                if state != self._last:  # buffers equal themselves alone
                    self._set_state(state)
            if self._has_values and values != self._values:
                self._set_values(values)
            if self._any_window:
                pairs = zip(outputs, self._windows)
                outputs = [each if how is None else each.view(*how) for each, how in pairs]
        except Exception as error:
            let_through(error)
            self._failed(error)
        if stats.timing or _debug() >= 2 or trace.enabled("run"):
            self._run_traced(given, outputs, values)
            return outputs
        left = iter(self._launches)
        launch: Any = None
        try:
            for launch in left:
                launch()
        except Exception as error:
            let_through(error)
            self._retry([launch, *left], error)
        try:
            for wait in self._wait:
                wait()
        except Exception as error:
            let_through(error)
            self._failed(error)
        if self._kernels:
            stats.kernels += self._kernels
            stats.ops += self._ops
        stats.copies += self._copies
        stats.host_calls += self._host_calls
        stats.bytes += self._bytes
        return outputs

    def _set_state(self, state: tuple[Buffer, ...]) -> None:
        """Change the arguments over those buffers of the state that are others than before."""
        for update, old, buffer in zip(self._state_updates, self._last, state):
            if old is not buffer:
                update(buffer)
        self._last = state

    def _retry(self, left: Sequence[Callable[[], Any]], error: Exception) -> None:
        """Retry a launch that failed, the first of these, and the launches after it, where earlier
        launches have overwritten inputs."""
        if not self.written or len(left) == len(self._launches):
            self._failed(error)
        try:
            for launch in left:
                launch()
        except Exception as again:
            let_through(again)
            again.add_note("some of the memory that this writes was written before it failed")
            self._failed(again)
        warnings.warn(f"a launch was tried a second time, since it failed: {error}", stacklevel=2)

    def _failed(self, error: Exception) -> NoReturn:
        device, *others = self._devices
        among = "".join(f", {other.name}" for other in others)
        device.failed(f"replaying {len(self.steps)} steps{among and ' with' + among[1:]}", error)

    def _output_buffers(self, reused: Sequence[Buffer | None] | None) -> list[Buffer]:
        """The memory of each output: the reused buffer, else a new one."""
        if reused is None:
            return [Buffer.like(*owner) for owner in self._owners]
        pairs = zip(reused, self._owners)
        return [Buffer.like(*owner) if old is None else old for old, owner in pairs]

    def _set_values(self, values: Mapping[UOp, int]) -> None:
        for variable, set_value in self._value_setters:
            set_value(values[variable])
        for place, number in self._with_values:
            fixed = self.steps[number].item.values
            self._launches[place] = self._launch(number, {**fixed, **values})
        self._values = dict(values)

    def _run_traced(
        self, given: Sequence[Buffer], outputs: Sequence[Buffer], values: Mapping[UOp, int]
    ) -> None:
        """Run step by step inside trace spans."""
        items: list[ExecItem] = []
        for number, step in enumerate(self.steps):
            buffers: list[Buffer] = []
            for argument in step.arguments:
                memory = argument.memory
                if memory.kind is INPUT:
                    buffer = given[memory.place]
                elif memory.kind is OUTPUT:
                    buffer = outputs[memory.place].owner
                else:
                    buffer = self._fixed.get(id(memory), memory.buffer)
                buffers.append(argument.of(buffer))
            item = step.item
            known = {**item.values, **values}
            prg = self._overlapped.get(number, item.prg)
            items.append(ExecItem(prg, tuple(buffers), item.metadata, known))
        run_steps(items)


def _like(buffer: Buffer) -> tuple[str, int, Any]:
    return buffer.device, buffer.size, buffer.dtype


def needs_wait(device: Device) -> bool:
    """Whether waiting for a device does more than a call without effect."""
    return getattr(device.synchronize, "__func__", None) is not Device.synchronize


def _item_getter(places: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """A function that takes several items of a list in one call."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda items: tuple([items[place] for place in places])


def _exchange(prg: Any, buffers: list[Buffer]) -> Callable[[], Any]:
    """The call of a step without a kernel."""
    if isinstance(prg, CollectiveStep | HostCallStep):
        return partial(prg, buffers, {}, False)
    return partial(_copy, buffers)


def _copy(buffers: list[Buffer]) -> None:
    transfer.copy(buffers[0], buffers[1])
