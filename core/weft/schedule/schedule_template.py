"""Schedule template: a schedule without buffers, made once per structure and bound at each run.

All memory is numbered: first the BUFFERs of the graph, then the new ones. Which new ones tensors
hold afterwards depends on the live tensors and is given when the template is bound. Those get a
BUFFER node of their own; the others are temporaries and may share memory (see `memory_planning`).

in:  spec.kernel_graph
out: `ScheduleTemplate`; `bind_to` gives the items, and the values that replace the results

Source: CUDA programming guide, CUDA graphs (definition, instantiation and parameter update are
separate steps).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, ImageDType
from weft.device import Buffer, binding
from weft.schedule.item import ScheduleItem
from weft.schedule.item_order import bound_values, kernel_writes, sorted_writes
from weft.schedule.kernels import root_buffer
from weft.schedule.memory_planning import Layout, Lifetime, plan_memory
from weft.schedule.movement_lists import moves_between
from weft.schedule.structural_key import Structure
from weft.uop import GroupOp, Ops, UOp

_MOST_PATTERNS = 64


class Step(NamedTuple):
    """One thing to run: a kernel's AST (or COPY, COLLECTIVE, HOST_CALL, BUFFER_VIEW), and the
    numbers of its memory."""

    ast: UOp
    memory: tuple[int, ...]
    metadata: tuple[Any, ...]


class NewMemory(NamedTuple):
    """Memory that the schedule allocates. window: (number of its base, first byte) of a view, or
    None."""

    device: str
    size: int
    dtype: DType
    window: tuple[int, int] | None = None


class Result(NamedTuple):
    """The replacement of a node: `value`, over placeholders for memory.

    memory: which of it. moves: where `value` is movement of that memory, from the memory up; None
    where it is anything else.
    """

    value: UOp
    memory: tuple[int, ...]
    moves: tuple[UOp, ...] | None


@dataclass(eq=False, slots=True)
class BoundSchedule:
    """A schedule with its memory: the items to run, and the replacements of nodes of the graph.

    unneeded: by number of the item, memory that no tensor holds and no later item uses; memory in
    an arena is not listed. memory: by its number; BUFFER nodes for that of the graph.
    """

    items: list[ScheduleItem]
    values: dict[UOp, int]
    becomes: dict[UOp, UOp]
    layout: Layout
    unneeded: dict[int, list[Buffer]]
    memory: list[Buffer | UOp]


class _Liveness(NamedTuple):
    """For one set of live tensors: the results that they hold, and the places of the other
    memory."""

    results: tuple[int, ...]
    kept: frozenset[int]
    layout: Layout
    last: tuple[tuple[int, int], ...] = ()  # (step, memory), without a layout


@dataclass(eq=False)
class ScheduleTemplate:
    """A schedule without buffers.

    given: how many BUFFERs the graph has. steps: in order. fresh: the new memory. results: by the
    place of a node, what it becomes. values: of variables that the structure does not name.
    """

    given: int
    steps: tuple[Step, ...]
    fresh: tuple[NewMemory, ...]
    results: dict[int, Result]
    values: dict[UOp, int]
    prepared: Any = None
    """What the engine keeps of a template that it has run."""
    _held: dict[Any, _Liveness] = field(default_factory=dict[Any, _Liveness])

    def bind_to(
        self,
        structure: Structure,
        touched: frozenset[int],
        plan: bool = True,
        with_items: bool = True,
    ) -> BoundSchedule:
        """The schedule over the memory of `structure`.

        touched: the places at which the graphs of live tensors enter the structure. plan: whether
        memory that no tensor will hold shares arenas. with_items: whether items are made.
        """
        held = self._held.get((touched, plan))
        if held is None:
            if len(self._held) >= _MOST_PATTERNS:
                self._held.clear()
            held = self._held[touched, plan] = self._liveness(structure, touched, plan)
        nodes = self._buffer_nodes(structure, held)
        memory = self._buffers(nodes, held.layout)
        items = [
            ScheduleItem.of(step.ast, [_buffer(memory[n]) for n in step.memory], step.metadata)
            for step in (self.steps if with_items else ())
        ]
        order = list(structure.places)
        becomes = {
            order[place]: _bound_result(self.results[place], nodes, structure.values)
            for place in held.results
        }
        unneeded: dict[int, list[Buffer]] = {}
        for step, number in held.last:
            unneeded.setdefault(step, []).append(_buffer(memory[number]))
        values = self.values | structure.values
        return BoundSchedule(items, values, becomes, held.layout, unneeded, memory)

    # ---- who holds what -------------------------------------------------------------------------

    def _liveness(self, structure: Structure, touched: frozenset[int], plan: bool) -> _Liveness:
        """The results that live tensors hold, and the layout of the other memory."""
        results = self._held_results(structure.sources, touched)
        kept: set[int] = set()
        for place in results:
            for number in self.results[place].memory:
                kept.update(self._bases(number))
        found, needs = tuple(sorted(results)), self._lifetimes(kept)
        if plan:
            return _Liveness(found, frozenset(kept), plan_memory(needs))
        bases = {fresh.window[0] for fresh in self.fresh if fresh.window is not None}
        last = ((n.last, n.number) for n in needs if n.number not in bases)
        ends = tuple((step, number) for step, number in last if step < len(self.steps))
        return _Liveness(found, frozenset(kept), Layout(), ends)

    def _held_results(self, sources: Sequence[tuple[int, ...]], touched: Iterable[int]) -> set[int]:
        """The results that are reachable from `touched` without passing another result."""
        seen: set[int] = set()
        found: set[int] = set()
        stack = list(touched)
        while stack:
            place = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            if place in self.results:
                found.add(place)
            else:
                stack.extend(sources[place])
        return found

    def _bases(self, number: int) -> list[int]:
        """The memory `number` and the memory that it is a view of; the owner of the bytes comes
        last."""
        found = [number]
        while number >= self.given and (window := self.fresh[number - self.given].window):
            number = window[0]
            found.append(number)
        return found

    def _lifetimes(self, kept: set[int]) -> list[Lifetime]:
        """The lifetimes of memory that no tensor holds. A view counts for the owner of its bytes.
        Memory of a copy between devices, which may be asynchronous, is in use to the end."""
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for time, step in enumerate(self.steps):
            end = len(self.steps) if step.ast.op is Ops.COPY else time
            for number in step.memory:
                owner = self._bases(number)[-1]
                if owner >= self.given and owner not in kept:
                    first.setdefault(owner, time)
                    last[owner] = max(end, last.get(owner, end))
        needs: list[Lifetime] = []
        for number, end in last.items():
            fresh = self.fresh[number - self.given]
            if isinstance(fresh.dtype, ImageDType):
                continue  # no part of an arena, which is flat
            nbytes = fresh.size * fresh.dtype.itemsize
            needs.append(Lifetime(number, fresh.device, nbytes, first[number], end))
        return needs

    # ---- filling in -----------------------------------------------------------------------------

    def _buffer_nodes(self, structure: Structure, held: _Liveness) -> list[UOp | None]:
        """The BUFFER node of every memory that has one."""
        nodes: list[UOp | None] = list(structure.buffers)
        for number, fresh in enumerate(self.fresh, self.given):
            kept = number in held.kept
            nodes.append(UOp.new_buffer(fresh.device, fresh.size, fresh.dtype) if kept else None)
        return nodes

    def _buffers(self, nodes: Sequence[UOp | None], layout: Layout) -> list[Buffer | UOp]:
        """The buffers of all memory; for given memory the nodes only, since not all are used."""
        memory: list[Any] = list(nodes[: self.given])
        arenas = layout.allocate()
        for number, fresh in enumerate(self.fresh, self.given):
            node = nodes[number]
            if fresh.window is not None:
                base, start = fresh.window
                buffer = _buffer(memory[base]).view(fresh.size, fresh.dtype, start)
                if node is not None:
                    binding.bind(node, buffer)
                    if (whole := nodes[base]) is not None:
                        binding.share(node, whole)
            elif node is not None:
                buffer = binding.buffer_of(node)
            elif (spot := layout.spots.get(number)) is not None:
                buffer = arenas[spot.arena].view(fresh.size, fresh.dtype, spot.start)
            else:
                buffer = Buffer(fresh.device, fresh.size, fresh.dtype)
            memory.append(buffer)
        return memory


def _buffer(memory: Any) -> Buffer:
    return memory if memory.__class__ is Buffer else binding.buffer_of(memory)


def _bound_result(result: Result, nodes: Sequence[UOp | None], values: Mapping[UOp, int]) -> UOp:
    """A result over the memory, and with the variables, of this run."""
    if not values and result.moves is not None:
        node: Any = nodes[result.memory[0]]
        for move in result.moves:
            node = move.over((node,))
        return node
    held: dict[int, Any] = {number: nodes[number] for number in result.memory}
    there = {placeholder(number, node): node for number, node in held.items()}
    return _with_memory(result.value, there, values)


def _with_memory(value: UOp, there: Mapping[UOp, Any], values: Mapping[UOp, int]) -> UOp:
    """`value` over other memory, with every variable bound to its current value."""
    done: dict[UOp, UOp] = {}
    for node in value.toposort(gate=lambda u: u not in there):
        if (found := there.get(node)) is not None:
            done[node] = found
        elif node.op is Ops.BIND:
            done[node] = _bound(node, values)
        else:
            arg = _with_values(node.arg, values) if node.op in GroupOp.Movement else node.arg
            changed = node.over(tuple([done[source] for source in node.src]))
            done[node] = changed if arg is node.arg else changed.replace(arg=arg)
    return done[value]


def _with_values(arg: Any, values: Mapping[UOp, int]) -> Any:
    """The argument of a movement with its variables bound to current values."""
    if isinstance(arg, UOp):
        bound = [node for node in arg.toposort() if node.op is Ops.BIND]
        return arg.substitute({node: _bound(node, values) for node in bound})
    entries = arg
    if isinstance(arg, tuple):
        items = tuple([_with_values(entry, values) for entry in entries])
        return entries if all(new is old for new, old in zip(items, entries)) else items
    return arg


def _bound(node: UOp, values: Mapping[UOp, int]) -> UOp:
    variable = node.src[0]
    return variable.bind(values[variable]) if variable in values else node


# ---- making one ----------------------------------------------------------------------------------


def placeholder(number: int, like: UOp) -> UOp:
    """The BUFFER node that represents a memory in results. It is never bound, so that it keeps
    nothing alive."""
    unique = UOp(Ops.UNIQUE, arg=("memory", number))
    return UOp(Ops.BUFFER, like.dtype, (like.src[0], unique), like.arg)


def make_template(structure: Structure, becomes: Mapping[UOp, UOp]) -> ScheduleTemplate:
    """The template of a structure, given what `kernelize_map` returned for its graph.

    Raises ScheduleError where the kernels wait for each other.
    """
    writes = kernel_writes(structure.sink.substitute(becomes))
    kernels = dict.fromkeys(write.src[1] for write in sorted_writes(writes))
    numbers = {node: number for number, node in enumerate(structure.buffers)}
    given = len(numbers)
    windows: dict[int, tuple[int, int]] = {}
    steps: list[Step] = []
    for kernel in kernels:
        memory = tuple(
            numbers.setdefault(root_buffer(source), len(numbers))
            for source in kernel.src
            if source.op is not Ops.BIND
        )
        ast = kernel.arg.ast
        if ast.op is Ops.BUFFER_VIEW:
            windows[memory[0]] = (memory[1], ast.arg.offset * ast.dtype.itemsize)
        steps.append(Step(ast, memory, kernel.arg.metadata))
    fresh = tuple(
        NewMemory(node.src[0].arg, node.arg, node.dtype, windows.get(number))
        for node, number in numbers.items()
        if number >= given
    )
    settled = {write: root_buffer(write) for write in writes}
    placeholders = {node: placeholder(number, node) for node, number in numbers.items()}
    known = {placed: numbers[node] for node, placed in placeholders.items()}
    results = {
        structure.places[node]: _result(value.substitute(settled).substitute(placeholders), known)
        for node, value in becomes.items()
        if node in structure.places
    }
    return ScheduleTemplate(given, tuple(steps), fresh, results, bound_values(writes))


def _result(value: UOp, known: Mapping[UOp, int]) -> Result:
    below = value.base
    if below in known:
        return Result(value, (known[below],), tuple(moves_between(value, below)))
    found = [known[node] for node in value.toposort() if node in known]
    return Result(value, tuple(found), None)
