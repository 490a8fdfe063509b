"""Schedule template: a schedule without buffers, made once per structure and bound at each run.

All memory is numbered: first the BUFFERs of the graph, then the new ones. Which new ones tensors
hold afterwards depends on the live tensors and is given when the template is bound. Those get a
BUFFER node of their own; the others are temporaries and may share memory (see `memory_planning`).

in:  spec.kernel_graph
out: `Recipe`; `fill` gives the items, and the values that replace the results

Source: CUDA programming guide, CUDA graphs (definition, instantiation and parameter update are
separate steps).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.base.dtype import DType, ImageDType
from weft.device import binding
from weft.device.buffer import Buffer
from weft.schedule.item import ScheduleItem
from weft.schedule.item_order import gather_values, in_order, kernel_writes
from weft.schedule.kernels import storage_under
from weft.schedule.memory_planning import Layout, Need, lay_out
from weft.schedule.structural_key import Structure
from weft.uop import GroupOp, Ops, UOp

_MOST_PATTERNS = 64


class Step(NamedTuple):
    """One thing to run: a kernel's AST (or COPY, or BUFFER_VIEW) on memory, by slot."""

    ast: UOp
    memory: tuple[int, ...]
    metadata: tuple[Any, ...]


class Fresh(NamedTuple):
    """New memory. window: (number of the memory that it is a window of, first byte), or None."""

    device: str
    size: int
    dtype: DType
    window: tuple[int, int] | None = None


class Result(NamedTuple):
    """What a node becomes: `value`, over stand-ins for memory.

    memory: which of it. moves: where `value` is movement of that memory, from the memory up; None
    where it is anything else.
    """

    value: UOp
    memory: tuple[int, ...]
    moves: tuple[UOp, ...] | None


@dataclass(eq=False, slots=True)
class Filled:
    """A recipe over the memory of one run: what to run, and what nodes of the graph become then.

    unneeded: by place in the items, memory that nobody holds and nothing touches after that item;
    what shares its room is not among it.
    """

    items: list[ScheduleItem]
    values: dict[UOp, int]
    becomes: dict[UOp, UOp]
    layout: Layout
    unneeded: dict[int, list[Buffer]]


class _Held(NamedTuple):
    """For one pattern of live tensors: the results that they hold, and where the rest stands."""

    results: tuple[int, ...]
    kept: frozenset[int]
    layout: Layout
    last: tuple[tuple[int, int], ...] = ()  # (step, memory), without a layout


@dataclass(eq=False)
class Recipe:
    """What to run for a structure.

    given: how many BUFFERs the graph has. steps: in order. fresh: the new memory. results: by the
    place of a node, what it becomes. values: of variables that the structure does not name.
    """

    given: int
    steps: tuple[Step, ...]
    fresh: tuple[Fresh, ...]
    results: dict[int, Result]
    values: dict[UOp, int]
    _held: dict[Any, _Held] = field(default_factory=dict)

    def fill(self, structure: Structure, touched: frozenset[int], plan: bool = True) -> Filled:
        """This recipe over the memory of `structure`.

        touched: the places at which the graphs of live tensors enter the structure. plan: whether
        memory that nobody will hold shares its room.
        """
        held = self._held.get((touched, plan))
        if held is None:
            if len(self._held) >= _MOST_PATTERNS:
                self._held.clear()
            held = self._held[touched, plan] = self._hold(structure, touched, plan)
        nodes = self._nodes(structure, held)
        memory = self._memory(nodes, held.layout)
        items = [_item(step, memory) for step in self.steps]
        order = list(structure.places)
        becomes = {
            order[place]: _filled(self.results[place], nodes, structure.values)
            for place in held.results
        }
        unneeded: dict[int, list[Buffer]] = {}
        for step, number in held.last:
            unneeded.setdefault(step, []).append(_buffer(memory[number]))
        values = self.values | structure.values
        return Filled(items, values, becomes, held.layout, unneeded)

    # ---- who holds what -------------------------------------------------------------------------

    def _hold(self, structure: Structure, touched: frozenset[int], plan: bool) -> _Held:
        results = self._reached(structure.sources, touched)
        kept: set[int] = set()
        for place in results:
            for number in self.results[place].memory:
                kept.update(self._below(number))
        found, needs = tuple(sorted(results)), self._needs(kept)
        if plan:
            return _Held(found, frozenset(kept), lay_out(needs))
        bases = {fresh.window[0] for fresh in self.fresh if fresh.window is not None}
        last = ((n.last, n.number) for n in needs if n.number not in bases)
        ends = tuple((step, number) for step, number in last if step < len(self.steps))
        return _Held(found, frozenset(kept), Layout(), ends)

    def _reached(self, sources: Sequence[tuple[int, ...]], touched: Iterable[int]) -> set[int]:
        """The results that can be seen from `touched`, not looking below results."""
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

    def _below(self, number: int) -> list[int]:
        """The memory `number`, and that of which it is a window; what owns the bytes comes last."""
        found = [number]
        while number >= self.given and (window := self.fresh[number - self.given].window):
            number = window[0]
            found.append(number)
        return found

    def _needs(self, kept: set[int]) -> list[Need]:
        """When the memory that nobody holds is in use. A window counts for what owns its bytes;
        what is copied to or from another device may be in use for longer than its step."""
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for time, step in enumerate(self.steps):
            end = len(self.steps) if step.ast.op is Ops.COPY else time
            for number in step.memory:
                owner = self._below(number)[-1]
                if owner >= self.given and owner not in kept:
                    first.setdefault(owner, time)
                    last[owner] = max(end, last.get(owner, end))
        needs = []
        for number, end in last.items():
            fresh = self.fresh[number - self.given]
            if isinstance(fresh.dtype, ImageDType):
                continue  # no part of an arena, which is flat
            nbytes = fresh.size * fresh.dtype.itemsize
            needs.append(Need(number, fresh.device, nbytes, first[number], end))
        return needs

    # ---- filling in -----------------------------------------------------------------------------

    def _nodes(self, structure: Structure, held: _Held) -> list[UOp | None]:
        """The BUFFER node of every memory that has one."""
        nodes: list[UOp | None] = list(structure.buffers)
        for number, fresh in enumerate(self.fresh, self.given):
            kept = number in held.kept
            nodes.append(UOp.new_buffer(fresh.device, fresh.size, fresh.dtype) if kept else None)
        return nodes

    def _memory(self, nodes: Sequence[UOp | None], layout: Layout) -> list[Buffer | UOp]:
        """The buffers of all memory; of what was given only the nodes, not all need one."""
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


def _item(step: Step, memory: Sequence[Any]) -> ScheduleItem:
    buffers = [_buffer(memory[number]) for number in step.memory]
    ast = step.ast
    if ast.op is Ops.COPY and (window := ast.arg) is not None:
        start = window.offset * ast.dtype.itemsize
        buffers[0] = buffers[0].view(window.size, ast.dtype, start)
    return ScheduleItem(ast, tuple(buffers), step.metadata)


def _filled(result: Result, nodes: Sequence[UOp | None], values: Mapping[UOp, int]) -> UOp:
    """A result over the memory, and with the variables, of this run."""
    if not values and result.moves is not None:
        node: Any = nodes[result.memory[0]]
        for move in result.moves:
            node = move.over((node,))
        return node
    there = {stand_in(number, nodes[number]): nodes[number] for number in result.memory}
    return _rebuilt(result.value, there, values)


def _rebuilt(value: UOp, there: Mapping[UOp, Any], values: Mapping[UOp, int]) -> UOp:
    """`value` over other memory, every variable bound to what it is now."""
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
    """The argument of a movement, its variables bound anew."""
    if isinstance(arg, UOp):
        bound = [node for node in arg.toposort() if node.op is Ops.BIND]
        return arg.substitute({node: _bound(node, values) for node in bound})
    if isinstance(arg, tuple):
        items = tuple([_with_values(item, values) for item in arg])
        return arg if all(new is old for new, old in zip(items, arg)) else items
    return arg


def _bound(node: UOp, values: Mapping[UOp, int]) -> UOp:
    variable = node.src[0]
    return variable.bind(values[variable]) if variable in values else node


# ---- making one ----------------------------------------------------------------------------------


def stand_in(number: int, like: UOp) -> UOp:
    """The node that stands for a memory in results: never bound, so that nothing is kept alive."""
    unique = UOp(Ops.UNIQUE, arg=("memory", number))
    return UOp(Ops.BUFFER, like.dtype, (like.src[0], unique), like.arg)


def recipe_for(structure: Structure, becomes: Mapping[UOp, UOp]) -> Recipe:
    """The recipe for a structure, given what `kernelize_map` made of its graph.

    Raises ScheduleError where the kernels wait for each other.
    """
    writes = kernel_writes(structure.sink.substitute(becomes))
    kernels = dict.fromkeys(write.src[1] for write in in_order(writes))
    numbers = {node: number for number, node in enumerate(structure.buffers)}
    given = len(numbers)
    windows: dict[int, tuple[int, int]] = {}
    steps = []
    for kernel in kernels:
        memory = tuple(
            numbers.setdefault(storage_under(source), len(numbers))
            for source in kernel.src
            if source.op is not Ops.BIND
        )
        ast = kernel.arg.ast
        if ast.op is Ops.BUFFER_VIEW:
            windows[memory[0]] = (memory[1], ast.arg.offset * ast.dtype.itemsize)
        steps.append(Step(ast, memory, kernel.arg.metadata))
    fresh = tuple(
        Fresh(node.src[0].arg, node.arg, node.dtype, windows.get(number))
        for node, number in numbers.items()
        if number >= given
    )
    settled = {write: storage_under(write) for write in writes}
    stands = {node: stand_in(number, node) for node, number in numbers.items()}
    known = {stand: numbers[node] for node, stand in stands.items()}
    results = {
        structure.places[node]: _result(value.substitute(settled).substitute(stands), known)
        for node, value in becomes.items()
        if node in structure.places
    }
    return Recipe(given, tuple(steps), fresh, results, gather_values(writes))


def _result(value: UOp, known: Mapping[UOp, int]) -> Result:
    moves = []
    below = value
    while below.op in GroupOp.Movement:
        moves.append(below)
        below = below.src[0]
    if below in known:
        return Result(value, (known[below],), tuple(reversed(moves)))
    found = [known[node] for node in value.toposort() if node in known]
    return Result(value, tuple(found), None)
