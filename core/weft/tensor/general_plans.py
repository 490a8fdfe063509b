"""General launch plans: compute a small tensor again with other numbers, without scheduling.
Also: constant lifting, lambda lifting of constants.

A loop that multiplies by a learning rate or indexes with a counter records graphs that differ in
numbers alone. The second of them is scheduled with bound variables in place of the numbers that
differ from the first: floats as the bits of an integer, and the starts of windows of memory. The
plan that this schedule leaves computes all later ones with their numbers as values of the
variables.

A general graph equals the recorded one under these values, so its kernels compute the same. The
conditions are those of `launch_plans`.

in:  a tensor with pending work that has no launch plan
out: the same tensor over new memory with its value

Source: T. Johnsson, "Lambda lifting: transforming programs to recursive equations" (FPCA 1985).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.schedule import BoundSchedule, ScheduleTemplate
from weft.schedule.structural_key import Structure, is_plain
from weft.tensor import launch_plans
from weft.tensor.launch_plans import LaunchPlan
from weft.uop import GroupOp, Ops, UOp

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

_MOST_NODES = 48
_MOST_KINDS = 1 << 10
_MOST_PLANS = 8
_ENDS = frozenset({Ops.CONST, Ops.VCONST, Ops.DEVICE})
_BITS = {dtypes.float32: ("<f", "<i", dtypes.int), dtypes.float64: ("<d", "<q", dtypes.int64)}
_OF_FLOATS = GroupOp.ALU - {Ops.POW}
# of integers those whose result is simple for any operand
_OF_INTEGERS = _OF_FLOATS - {Ops.IDIV, Ops.MOD, Ops.SHL, Ops.SHR, Ops.THREEFRY}


class _NoPlan(Exception):
    """The graph has an operation that has no launch plan."""


@dataclass(frozen=True, slots=True)
class _Lifted:
    """A variable in place of a number.

    place: of the number among those of the graph. node: the number, in terms of the variable.
    """

    place: int
    variable: UOp

    def bound(self, number: int) -> UOp:
        """The variable with a value."""
        return self.variable.bind(number)


@dataclass(slots=True)
class _General:
    """A plan for all numbers at some places. numbers: those at the other places."""

    numbers: tuple[int, ...]
    lifted: tuple[_Lifted, ...]
    plan: LaunchPlan | None = None

    def values(self, numbers: Sequence[int]) -> dict[UOp, int] | None:
        """The values of the variables for these numbers; None if it is not general enough."""
        found = {each.variable: numbers[each.place] for each in self.lifted}
        if len(found) < len(numbers):
            free = {each.place for each in self.lifted}
            for place, (own, other) in enumerate(zip(self.numbers, numbers)):
                if own != other and place not in free:
                    return None
        return found


@dataclass(slots=True)
class _Kind:
    """Graphs that differ in numbers alone: those of the first one, and the general plans."""

    first: tuple[int, ...]
    plans: list[_General] = field(default_factory=list[_General])


@dataclass(slots=True)
class _Making:
    """The general graph that is being scheduled."""

    node: UOp
    general: _General


_kinds: dict[Any, _Kind] = {}
_making: list[_Making] = []


def launch(tensor: TensorBase, compute: Callable[[Sequence[TensorBase]], None]) -> bool:
    """Compute a pending tensor by a general plan, or schedule its general graph by `compute`.
    False: neither applies now."""
    if not settings.KERNEL_ARGUMENTS or not settings.SCHEDULE_CACHE or settings.DEBUG >= 2:
        return False
    if not launch_plans.may_launch(tensor):
        return False
    graph = _Graph()
    try:
        row = graph.row(tensor._uop)
    except _NoPlan:
        return False
    if not graph.numbers or graph.may_index or len(graph.leaves) > launch_plans.MOST_LEAVES:
        return False
    numbers, leaves = tuple(graph.numbers), tuple(graph.leaves)
    key = launch_plans.context(), row, launch_plans.pattern_of(leaves)
    kind = _kinds.get(key)
    if kind is None:
        if len(_kinds) >= _MOST_KINDS:
            _kinds.clear()
        _kinds[key] = _Kind(numbers)
        return False
    # what was computed by its own kernel first stays so: equal calls give equal bits
    if numbers == kind.first or not launch_plans.is_alone(tensor):
        return False
    for general in kind.plans:
        values = general.values(numbers)
        if values is not None:
            if general.plan is None:  # its graph has none
                return False
            launch_plans.run(tensor, general.plan, leaves, values)
            return True
    return _schedule(tensor, kind, graph, numbers, compute)


def _schedule(
    tensor: TensorBase,
    kind: _Kind,
    graph: _Graph,
    numbers: tuple[int, ...],
    compute: Callable[[Sequence[TensorBase]], None],
) -> bool:
    """Compute a tensor by its general graph, which leaves a plan."""
    known = [kind.first, *[general.numbers for general in kind.plans]]
    free = [p for p, n in enumerate(numbers) if any(other[p] != n for other in known)]
    if not free or len(kind.plans) >= _MOST_PLANS:
        return False
    lifted = tuple([_Lifted(p, graph.variables[p](f"_lifted{p}")) for p in free])
    general = _General(numbers, lifted)
    writer = _Writer({each.place: each.bound(numbers[each.place]) for each in lifted})
    node = tensor._uop
    tensor._uop = writer.rebuilt(node)
    _making.append(_Making(tensor._uop, general))
    try:
        compute([tensor])
    finally:
        _making.pop()
        kind.plans.insert(0, general)
    return True


def note_plan(
    tensor: TensorBase,
    node: UOp,
    structure: Structure,
    template: ScheduleTemplate,
    bound: BoundSchedule,
) -> None:
    """Keep the plan of the general graph that was just computed."""
    if not _making or _making[-1].node is not node:
        return
    general = _making[-1].general
    graph = _Graph()
    graph.collect_leaves(node)
    leaves = tuple(graph.leaves)
    if list(dict.fromkeys(leaves)) != structure.buffers:
        return
    variables = {each.variable for each in general.lifted}
    if variables.issuperset(structure.values):
        general.plan = launch_plans.make_plan(
            tensor, structure, template, bound, launch_plans.pattern_of(leaves)
        )


def clear_plans() -> None:
    """Forget all plans."""
    _kinds.clear()


# ---- numbers of a graph --------------------------------------------------------------------------


def _bits(constant: UOp) -> int:
    """A number as an integer: itself, or the bits of a float."""
    if constant.dtype is dtypes.int32:
        return int(constant.arg)
    as_float, as_int, _ = _BITS[constant.dtype]
    bits: int = struct.unpack(as_int, struct.pack(as_float, constant.arg))[0]
    return bits


def _variable_of(constant: UOp) -> Callable[[str], UOp]:
    """What makes the variable for a number."""
    kind = dtypes.int if constant.dtype is dtypes.int32 else _BITS[constant.dtype][2]
    high = (1 << (8 * kind.itemsize - 1)) - 1
    return lambda name: UOp.variable(name, -high - 1, high, kind)


def _start_variable(highest: int) -> Callable[[str], UOp]:
    """What makes the variable for the start of a window."""
    return lambda name: UOp.variable(name, 0, highest)


def _is_lifted(constant: UOp, user: UOp) -> bool:
    """Whether a constant may be a variable: a number that elements are computed with."""
    if constant.op is not Ops.CONST or constant.src:
        return False
    if not any(_reads_memory(source) for source in user.src):
        return False  # it is folded with constants, whose shape a variable would lose
    if constant.dtype is dtypes.int32:
        return user.op in _OF_INTEGERS
    return constant.dtype in _BITS and user.op in _OF_FLOATS


def _reads_memory(node: UOp) -> bool:
    """Whether a value depends on a buffer. Looks at each node once: graphs share nodes."""
    seen, pending = {node}, [node]
    while pending:
        current = pending.pop()
        if current.op is Ops.BUFFER:
            return True
        fresh = [source for source in current.src if source not in seen]
        seen.update(fresh)
        pending += fresh
    return False


def _is_window(node: UOp) -> bool:
    """Whether a SHRINK takes a window of memory of known sizes."""
    below = node.src[0]
    while below.op in GroupOp.Movement and below.op is not Ops.PAD:
        below = below.src[0]
    if below.op is not Ops.BUFFER:
        return False
    return all(a.__class__ is int and b.__class__ is int for a, b in node.arg)


class _Graph:
    """Collects the numbers and the leaves of a graph, in the order of its tree."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.variables: list[Callable[[str], UOp]] = []
        self.leaves: list[UOp] = []
        self._count = 0
        self._has_integers = self._has_counters = False

    @property
    def may_index(self) -> bool:
        """Whether an integer may be part of an index, which is compared with counters."""
        return self._has_integers and self._has_counters

    def row(self, node: UOp, user: UOp | None = None) -> Any:
        """What is left of a tree without its numbers. :raises _NoPlan: for other operations."""
        self._count += 1
        op = node.op
        if self._count > _MOST_NODES:
            raise _NoPlan
        if op is Ops.BUFFER:
            number = launch_plans.number_of_buffer(node)
            if number is None:
                raise _NoPlan
            self.leaves.append(node)
            return number
        if op in _ENDS:
            if user is not None and _is_lifted(node, user):
                self.numbers.append(_bits(node))
                self.variables.append(_variable_of(node))
                self._has_integers = self._has_integers or node.dtype is dtypes.int32
                return node.dtype
            return node
        arg: Any = node.arg
        if op not in launch_plans.COMPUTED or not (arg is None or is_plain(arg)):
            raise _NoPlan
        self._has_counters = self._has_counters or op is Ops.IOTA
        if op is Ops.SHRINK and _is_window(node):
            windows: Any = arg
            arg = tuple([stop - start for start, stop in windows])
            for size, (start, _), whole in zip(arg, windows, node.src[0].shape):
                if size < whole:
                    self.numbers.append(start)
                    self.variables.append(_start_variable(whole - size))
        return (op, node.dtype, arg, *[self.row(source, node) for source in node.src])

    def collect_leaves(self, node: UOp) -> None:
        """Collect the leaves alone."""
        if node.op is Ops.BUFFER:
            self.leaves.append(node)
        elif node.op is not Ops.BIND and node.op not in _ENDS:
            for source in node.src:
                self.collect_leaves(source)


class _Writer:
    """Replaces numbers of a graph, in the order of `_Graph`."""

    def __init__(self, nodes: Mapping[int, UOp]) -> None:
        self._nodes = nodes
        self._place = -1

    def rebuilt(self, node: UOp, user: UOp | None = None) -> UOp:
        """The tree with bound variables in place of numbers."""
        op = node.op
        if op is Ops.BUFFER:
            return node
        if op in _ENDS:
            if user is None or not _is_lifted(node, user):
                return node
            self._place += 1
            lifted = self._nodes.get(self._place)
            return node if lifted is None else lifted.bitcast(node.dtype)
        arg: Any = node.arg
        if op is Ops.SHRINK and _is_window(node):
            arg = tuple([self._window(pair, whole) for pair, whole in zip(arg, node.src[0].shape)])
        src = tuple([self.rebuilt(source, node) for source in node.src])
        made = UOp(op, node.dtype, src, arg)
        if made.meta is None and node.meta is not None:
            launch_plans.set_meta(made, node.meta)
        return made

    def _window(self, pair: tuple[int, int], whole: int) -> tuple[Any, Any]:
        start, stop = pair
        if stop - start == whole:
            return pair
        self._place += 1
        lifted = self._nodes.get(self._place)
        return pair if lifted is None else (lifted, lifted + (stop - start))
