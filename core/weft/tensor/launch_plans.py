"""Launch plans: compute a small tensor again without scheduling its graph.
Also: inline caching.

Programs compute the same operations on other memory again and again. Every node has a launch key: a
number that is equal for equal trees over any memory, and the BUFFERs at their leaves. It is made
from the keys of the sources, so it costs one lookup for each new node. The first schedule of a tree
leaves a plan under this key: its kernels, the memory of each, and the movement over the result.

A plan applies only where no other pending tensor reads a node of the graph, and where no gradient
can flow through it. Graphs with writes, shards, variables or copies have none, and graphs on
devices of other processes.

in:  a tensor with pending work
out: the same tensor over new memory with its value

Source: L. P. Deutsch, A. M. Schiffman, "Efficient implementation of the Smalltalk-80 system" (POPL
1984).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from weft.autograd import history
from weft.base import trace
from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, ImageDType
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.device import Buffer, OpenDevice, binding, registry
from weft.engine import HostCallStep, bound_program_for, stats
from weft.engine.capture import recording
from weft.engine.replay import needs_wait
from weft.engine.runners import KernelRunner, concrete, cost_of
from weft.schedule import BoundSchedule, Layout, NewMemory, ScheduleItem, ScheduleTemplate
from weft.schedule.structural_key import Structure, is_plain
from weft.tensor.failed_schedules import has_unfinished
from weft.tensor.leaf_identities import follow, follows_nodes
from weft.tensor.live_tensors import is_only_candidate, waiting_tensors
from weft.tensor.plan_conditions import is_apart, is_simple, set_values, value_with_windows
from weft.uop import GroupOp, Ops, UOp, memo_slot

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

MOST_LEAVES = 16
_MOST_DEPTH = 64
_MOST_NUMBERS = 1 << 14
_MOST_TABLES = 8
_ENDS = frozenset({Ops.CONST, Ops.VCONST, Ops.DEVICE})
COMPUTED = (GroupOp.ALU | GroupOp.Movement) | {
    Ops.CAST, Ops.BITCAST, Ops.REDUCE_AXIS, Ops.CONTIGUOUS, Ops.IOTA,
}  # fmt: skip

_PLANNED = COMPUTED | {Ops.HOST_CALL}

_set_key = memo_slot("_launch_key")
set_meta = memo_slot("meta")
_numbers: dict[Any, int] = {}
_next = itertools.count()
_tables: dict[Any, dict[Any, LaunchPlan]] = {}
_last: tuple[Any, Any, dict[Any, LaunchPlan]] = (None, None, {})  # the context and its table

LaunchKey = tuple[int, tuple[UOp, ...], tuple[int, ...]]
"""The number of a tree, the BUFFERs at its leaves, and which of these are the same."""

_ONE_LEAF: tuple[int, ...] = (0,)
_TWO_LEAVES, _TWICE = (0, 1), (0, 0)


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How a tree is computed over memory that is given.

    Memory is numbered: the distinct BUFFERs of the tree in order, then the new memory.

    :ivar steps: kernels and host calls, the values of their arguments, and the memory of each by
        its parameters. kernels: how many of them are kernels.
    :ivar fresh: the new memory. result: the number of what the tensor holds then.
    :ivar place: the DEVICE node of the result.
    :ivar layout: the arenas of intermediates.
    :ivar moves: movement nodes over the result, the innermost first.
    :ivar devices: those that launch the kernels.
    :ivar ops, nbytes: for the statistics.
    :ivar direct: a faster form of the same, if there is one.
    """

    steps: tuple[tuple[KernelRunner | HostCallStep, Mapping[UOp, int], tuple[int, ...]], ...]
    kernels: int
    fresh: tuple[NewMemory, ...]
    result: int
    place: UOp
    layout: Layout
    moves: tuple[UOp, ...]
    devices: tuple[OpenDevice, ...]
    ops: int
    nbytes: int
    direct: _Direct | None


def launch(tensor: TensorBase) -> bool:
    """Compute a pending tensor by its plan. False: there is none, or none applies now."""
    if not may_launch(tensor):
        return False
    try:
        number, leaves, pattern = tensor._uop._launch_key  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        key = _launch_key(tensor._uop, 0)
        if key is None:
            return False
        number, leaves, pattern = key
    plan = _table().get((number, pattern))
    if plan is None or not is_alone(tensor):
        return False
    run(tensor, plan, leaves)
    return True


def may_launch(tensor: TensorBase) -> bool:
    """Whether a tensor may be computed by a plan, if it has one."""
    return is_simple(tensor) and recording() is None and not trace.enabled() and not stats.timing


def is_alone(tensor: TensorBase) -> bool:
    """Whether no other work has to be done before or together with that of a tensor."""
    if has_unfinished():
        return False
    return is_only_candidate(tensor) or is_apart(tensor, waiting_tensors())


def run(
    tensor: TensorBase,
    plan: LaunchPlan,
    leaves: tuple[UOp, ...],
    values: Mapping[UOp, int] = MappingProxyType({}),
) -> None:
    """Compute a tensor over these leaves by a plan. values: of the variables of its kernels."""
    direct = plan.direct
    if direct is None:
        _set_value(tensor, plan, _run(plan, tuple(dict.fromkeys(leaves)), values))
    else:
        _set_value(tensor, plan, direct.run(leaves, values))
    stats.kernels += plan.kernels
    stats.host_calls += len(plan.steps) - plan.kernels
    stats.ops += plan.ops
    stats.bytes += plan.nbytes


def note_plan(
    tensor: TensorBase,
    node: UOp,
    structure: Structure,
    template: ScheduleTemplate,
    bound: BoundSchedule,
) -> None:
    """Keep the plan of a tensor that was just computed, if it has one.

    node: the graph that it had, of which no other pending tensor reads a node.
    """
    if not is_simple(tensor) or settings.DEBUG >= 2 or not settings.SCHEDULE_CACHE:
        return
    key = _launch_key(node, 0)
    plan = None
    if key is not None and not structure.values:
        plan = make_plan(tensor, structure, template, bound, key[2])
    if key is not None and plan is not None:
        number, leaves, pattern = key
        if list(dict.fromkeys(leaves)) == structure.buffers:
            _table()[number, pattern] = plan


def clear_plans() -> None:
    """Forget all plans."""
    global _last
    _tables.clear()
    _last = (None, None, {})
    _numbers.clear()


# ---- keys ----------------------------------------------------------------------------------------


def _launch_key(node: UOp, depth: int) -> LaunchKey | None:
    """The launch key of a tree; None for trees without plans."""
    op = node.op
    leaves: tuple[UOp, ...] = ()
    if op is Ops.BUFFER:
        number = number_of_buffer(node)
        return None if number is None else (number, (node,), _ONE_LEAF)
    try:
        return node._launch_key  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        pass
    if op in _ENDS:
        number = _number(node)
    elif op in _PLANNED and depth < _MOST_DEPTH and (node.arg is None or is_plain(node.arg)):
        row: list[Any] = [op, node.dtype, node.arg]
        for source in node.src:
            if source.op is Ops.BUFFER:
                below = number_of_buffer(source)
                if below is None:
                    return None
                row.append(below)
                leaves += (source,)
                continue
            key = _launch_key(source, depth + 1)
            if key is None:
                return None
            row.append(key[0])
            leaves += key[1]
        if len(leaves) > MOST_LEAVES:
            return None
        number = _number(tuple(row))
    else:
        return None
    found = number, leaves, pattern_of(leaves)
    _set_key(node, found)
    return found


def number_of_buffer(node: UOp) -> int | None:
    """The number of a BUFFER, equal for memory of equal size, dtype and device. It is kept in the
    slot of launch keys: a whole key would hold the node itself."""
    try:
        return node._launch_key  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        pass
    device = node.src[0].arg
    number = None
    if device.__class__ is str:
        number = _number((Ops.BUFFER, node.dtype, node.arg, device))
    _set_key(node, number)
    return number


def _number(row: Any) -> int:
    """The number of a row: equal for equal rows, and never given again."""
    number = _numbers.get(row)
    if number is None:
        if len(_numbers) >= _MOST_NUMBERS:
            clear_plans()
        number = _numbers[row] = next(_next)
    return number


def pattern_of(leaves: tuple[UOp, ...]) -> tuple[int, ...]:
    """Which leaves are the same BUFFER: for each the position of its first occurrence."""
    count = len(leaves)
    if count == 2:
        return _TWICE if leaves[0] is leaves[1] else _TWO_LEAVES
    return _ONE_LEAF if count < 2 else tuple([leaves.index(leaf) for leaf in leaves])


def context() -> tuple[Any, Any]:
    """What plans depend on besides graphs: the settings and the open devices."""
    return settings.stamp(), registry.epoch()


def _table() -> dict[Any, LaunchPlan]:
    """The plans under the current settings and open devices."""
    global _last
    stamp, epoch = context()
    last = _last
    if last[0] is stamp and last[1] is epoch:
        return last[2]
    table = _tables.get((stamp, epoch))
    if table is None:
        if len(_tables) >= _MOST_TABLES:
            _tables.clear()
        table = _tables[stamp, epoch] = {}
    _last = stamp, epoch, table
    return table


# ---- running -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Direct:
    """One kernel over memory of its own: the usual case.

    handles: for each handle that the runner takes, the number of the leaf; -1 for the new memory.
    sizes: further arguments of the runner. variables: of the kernel, where some have no value yet.
    own: the values of the others.
    """

    kernel: KernelRunner
    handles: tuple[int, ...]
    sizes: dict[str, Any]
    device: OpenDevice
    synchronize: Callable[[], None] | None
    size: int
    dtype: DType
    variables: tuple[UOp, ...]
    own: Mapping[UOp, int]

    def run(self, leaves: Sequence[UOp], values: Mapping[UOp, int]) -> Buffer:
        """Launch the kernel on the memory of these BUFFERs; returns the new memory."""
        kernel, device = self.kernel, self.device
        made = Buffer.fresh(device, self.size, self.dtype)
        handles = [
            made._handle if number < 0 else binding.buffer_of(leaves[number]).handle
            for number in self.handles
        ]
        sizes: Mapping[str, Any] = self.sizes
        if self.variables:
            own = self.own
            numbers = [values[v] if v in values else own[v] for v in self.variables]
            sizes = {**sizes, "values": numbers}
        try:
            kernel.runner(handles, **sizes)
        except Exception as error:
            let_through(error)
            device.failed(f"kernel {kernel.name}", error)
        if self.synchronize is not None:
            self.synchronize()
        return made


def _run(plan: LaunchPlan, given: Sequence[UOp], values: Mapping[UOp, int]) -> Buffer:
    """Launch the kernels of a plan on the memory of these BUFFERs; returns that of the result."""
    memory = list(map(binding.buffer_of, given))
    arenas: Sequence[Buffer] = ()
    if plan.layout.arenas:
        arenas = plan.layout.allocate()
        stats.count_intermediates(plan.layout.planned, plan.layout.unplanned)
    for number, fresh in enumerate(plan.fresh, len(memory)):
        spot = plan.layout.spots.get(number)
        if spot is None:
            memory.append(Buffer.like(fresh.device, fresh.size, fresh.dtype))
        else:
            memory.append(arenas[spot.arena].view(fresh.size, fresh.dtype, spot.start))
    for kernel, own, numbers in plan.steps:
        kernel([memory[number] for number in numbers], {**own, **values}, False)
    for device in plan.devices:
        device.synchronize()
    return memory[plan.result]


def _set_value(tensor: TensorBase, plan: LaunchPlan, buffer: Buffer) -> None:
    """Give a tensor the memory that holds its value."""
    made = UOp(Ops.BUFFER, buffer.dtype, (plan.place, UOp.unique()), buffer.size)
    binding.bind_anew(made, buffer)
    call = value_with_windows(tensor._uop)
    if call is not None:
        set_values(tensor, call, made)
        return
    for move in plan.moves:
        made = move.over((made,))
    if follows_nodes() or history.follows_nodes():
        becomes = {tensor._uop: made}
        followed = [*follow(becomes), *history.replace_nodes(becomes)]
        tensor._uop = made
        del followed
    else:
        tensor._uop = made


# ---- making --------------------------------------------------------------------------------------


def make_plan(
    tensor: TensorBase,
    structure: Structure,
    template: ScheduleTemplate,
    bound: BoundSchedule,
    pattern: Sequence[int],
) -> LaunchPlan | None:
    """The plan of a schedule that was run; None if it has one that is not supported."""
    values = structure.values
    if template.values.keys() - values.keys():
        return None
    if any(fresh.window is not None for fresh in template.fresh):
        return None
    if any(
        item.ast.op is not Ops.SINK and item.ast.op is not Ops.HOST_CALL for item in bound.items
    ):
        return None
    places = {item.bufs[0].device for item in bound.items}
    if not all(registry.capabilities(place).memory.addressable for place in places):
        return None  # another process runs its kernels
    moves: list[UOp] = []
    node = tensor._uop
    while node.op in GroupOp.Movement:
        moves.append(node)
        node = node.src[0]
    result = _result(node, template, bound)
    if result is None or result < template.given:
        return None
    programs = [_program(item) for item in bound.items]
    kernels = [(each, own) for each, own in programs if isinstance(each, KernelRunner)]
    costs = [cost_of(kernel, {**values, **own}) for kernel, own in kernels]
    ops, nbytes = sum(cost[0] for cost in costs), sum(cost[1] for cost in costs)
    steps = tuple([(*program, step.memory) for program, step in zip(programs, template.steps)])
    devices = tuple(dict.fromkeys(program.device for program, _ in programs))
    fresh, ordered = template.fresh, tuple(moves[::-1])
    if values and not all(is_plain(move.arg) for move in moves):
        return None
    direct = _direct(steps, fresh, result, bound.layout, pattern)
    return LaunchPlan(
        steps,
        len(kernels),
        fresh,
        result,
        node.src[0],
        bound.layout,
        ordered,
        devices,
        ops,
        nbytes,
        direct,
    )


def _program(item: ScheduleItem) -> tuple[KernelRunner | HostCallStep, Mapping[UOp, int]]:
    """The kernel or host call of an item, and the values of its arguments."""
    device = item.bufs[0].device
    if item.ast.op is Ops.HOST_CALL:
        return HostCallStep(item.ast, registry.open(device)), {}
    return bound_program_for(item.ast, device)


def _direct(
    steps: Sequence[tuple[KernelRunner | HostCallStep, Mapping[UOp, int], tuple[int, ...]]],
    fresh: Sequence[NewMemory],
    result: int,
    layout: Layout,
    pattern: Sequence[int],
) -> _Direct | None:
    """The plan of one kernel over memory of its own; None if it is none."""
    leaf_of = list(dict.fromkeys(pattern))  # by number of the memory the place of a leaf
    if len(steps) != 1 or len(fresh) != 1 or layout.arenas:
        return None
    ((kernel, values, numbers),) = steps
    if isinstance(kernel, HostCallStep):
        return None
    (new,) = fresh
    if isinstance(new.dtype, ImageDType):
        return None
    handles = tuple(
        [-1 if numbers[slot] == result else leaf_of[numbers[slot]] for slot in kernel.slots]
    )
    program = kernel.p.program
    is_open = any(variable not in values for variable in kernel.variables)
    extents = [*(program.global_size or ()), *(program.local_size or ())]
    if is_open and any(isinstance(extent, UOp) for extent in extents):
        return None
    sizes = {
        "global_size": concrete(program.global_size, values),
        "local_size": concrete(program.local_size, values),
        "values": () if is_open else [values[variable] for variable in kernel.variables],
        "wait": False,
    }
    device = kernel.device
    wait = device.synchronize if needs_wait(device.device) else None
    variables = kernel.variables if is_open else ()
    return _Direct(kernel, handles, sizes, device, wait, new.size, new.dtype, variables, values)


def _result(node: UOp, template: ScheduleTemplate, bound: BoundSchedule) -> int | None:
    """The number of the memory that a BUFFER holds after a schedule."""
    if node.op is not Ops.BUFFER or not binding.is_bound(node):
        return None
    buffer = binding.buffer_of(node)
    for step, item in zip(template.steps, bound.items):
        for number, used in zip(step.memory, item.bufs):
            if used is buffer:
                return number
    return None
