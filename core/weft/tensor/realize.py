"""Realization: schedule pending tensors, run the kernels, update the graphs of live tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from weft.autograd import history, is_checkpoint
from weft.base import trace
from weft.base.locks import reentrant_lock
from weft.base.settings import settings
from weft.engine import ExecItem, run_again, run_schedule
from weft.engine.capture import recording
from weft.schedule import (
    ScheduleItem,
    TwoValues,
    create_schedule_with_vars,
    kernel_writes,
    kernelize_map,
    root_buffer,
)
from weft.schedule.cache import template_for
from weft.schedule.structural_key import Structure, structure_of, traversal
from weft.tensor import checked, general_plans, launch_plans
from weft.tensor.failed_schedules import finish_schedules, has_unfinished, replace_completed
from weft.tensor.live_tensors import (
    SETTLED,
    is_recomputed,
    is_settled,
    memory_of,
    replace_in_graphs,
    waiting_tensors,
)
from weft.tensor.pending_readers import holds_value, protect_readers, protected_graph, sink_of
from weft.tensor.plan_conditions import is_apart
from weft.uop import GroupOp, Ops, UOp

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

_SHOWN = GroupOp.Movement | GroupOp.Identity | {Ops.CONTIGUOUS}

_COMPUTED = GroupOp.ALU | {Ops.CAST, Ops.REDUCE_AXIS}  # quickly known to be pending

_read_check = settings.getter("CHECK")

schedule_lock = reentrant_lock()
"""Held while a schedule is made and run: it reads and changes the graphs of all live tensors, and
its kernels overwrite memory that other threads may read."""


def kernelize_tensors(tensors: Sequence[TensorBase]) -> None:
    """Fuse the pending graphs of `tensors` into kernels, without running them.

    Every live tensor that shares a node of them is rebased on the kernel that computes it.
    """
    with schedule_lock:
        _finish_failed_schedules(tensors)
        protected = protect_readers(tensors)
        becomes = kernelize_map(sink_of([*tensors, *protected]))
        replace_in_graphs(becomes)
        # saved graphs may not share the old value of memory that a pending kernel overwrites
        for write in kernel_writes(UOp(Ops.SINK, src=tuple(becomes.values()))):
            if holds_value(write.src[0]):
                history.bump_version(root_buffer(write))


def schedule_tensors(
    tensors: Sequence[TensorBase],
) -> tuple[list[ScheduleItem], dict[UOp, int]]:
    """The items that compute `tensors` and the values of their variables.

    The tensors get the memory that the items will fill: run the items before reading it.
    """
    with schedule_lock:
        return _scheduled(tensors)


def _scheduled(tensors: Sequence[TensorBase]) -> tuple[list[ScheduleItem], dict[UOp, int]]:
    _finish_failed_schedules(tensors)
    _, whole, order = protected_graph(tensors)
    structure = structure_of(whole, order)
    if structure is not None:
        touched = _shared_values(structure, waiting_tensors(), tensors)
        filled = template_for(structure).bind_to(structure, touched, plan=False)
        replace_in_graphs(filled.becomes, _writes(structure))
        return filled.items, filled.values
    replace_in_graphs(kernelize_map(whole))
    sink = _with_pending_readers(sink_of(tensors))
    writes = kernel_writes(sink)
    written = [write for write in writes if holds_value(write.src[0])]
    items, values = create_schedule_with_vars(sink)
    replace_in_graphs(_settled(writes), written)
    return items, values


def realize_tensors(tensors: Sequence[TensorBase]) -> None:
    """Compute `tensors`. After a failure every tensor has the value that it had, or the value after
    a write that was executed, and may be computed again."""
    for tensor in tensors:
        node = tensor._uop
        if node.op in _COMPUTED or not is_settled(node):
            break
    else:
        return
    with schedule_lock:
        if _read_check() and recording() is None:
            checked.run(tensors, _realize)
        elif len(tensors) == 1 and (
            launch_plans.launch(tensors[0]) or general_plans.launch(tensors[0], _realize)
        ):
            return
        _realize(tensors)


def _realize(tensors: Sequence[TensorBase]) -> None:
    _finish_failed_schedules(tensors)
    pending = [t for t in tensors if not is_settled(t._uop)]
    if not pending:
        return  # another thread has computed them
    recorder = recording()
    with trace.span("realize"):
        protected, sink, order = protected_graph(pending)
        if recorder is not None:
            recorder.protected.extend(protected)
        try:
            _compute(pending, sink, order)
        except TwoValues:
            if not protected:
                raise
            for reader in protected:  # it reads the version before an earlier write
                _realize([reader])
            _realize(pending)


def _compute(pending: Sequence[TensorBase], sink: UOp, order: Mapping[UOp, None]) -> None:
    structure = structure_of(sink, order)
    if structure is None:
        _realize_kernels(sink)
        return
    is_recorded = recording() is not None
    plan = (
        bool(settings.MEMORY_PLANNER) and not is_recorded
    )  # a replay plans the memory of all steps
    waiting = waiting_tensors()
    touched = _shared_values(structure, waiting, pending)
    if not is_recorded:
        touched |= _saved_for_backward(structure, pending, waiting)
    template = template_for(structure)
    writes = _writes(structure)
    if not writes and len(pending) > 1:  # of one tensor, a launch plan is made below
        bind = partial(template.bind_to, structure, touched, plan, with_items=False)
        if (ran := run_again(template, structure, bind)) is not None:
            replace_in_graphs(ran.becomes)
            return
    filled = template.bind_to(structure, touched, plan)
    first, node = pending[0], pending[0]._uop
    may_repeat = not writes and not is_recorded and len(pending) == 1
    may_repeat = may_repeat and is_apart(first, waiting)
    done: list[ExecItem] | None = [] if writes else None
    try:
        run_schedule(filled.items, filled.values, filled.layout, filled.unneeded, done)
        replace_in_graphs(filled.becomes, writes)
    except BaseException:
        if done:
            items, values = filled.items, filled.values
            replace_completed(filled.becomes, writes, items, values, len(done))
        raise
    if may_repeat:
        launch_plans.note_plan(first, node, structure, template, filled)
        general_plans.note_plan(first, node, structure, template, filled)


def _realize_kernels(sink: UOp) -> None:
    """Compute a graph with pending kernels: its schedule is not cached."""
    becomes = kernelize_map(sink)
    final = _with_pending_readers(sink.substitute(becomes))
    writes = kernel_writes(final)
    written = [write for write in writes if holds_value(write.src[0])]
    items, values = create_schedule_with_vars(final)
    settled = _settled(writes)
    done: list[ExecItem] = []
    final_becomes = {n: v.substitute(settled) for n, v in becomes.items()} | settled
    try:
        run_schedule(items, values, done=done)
        replace_in_graphs(final_becomes, written)
    except BaseException:
        replace_completed(final_becomes, written, items, values, len(done))
        raise


def _finish_failed_schedules(tensors: Sequence[TensorBase]) -> None:
    """Finish schedules that failed earlier and compute any of these tensors."""
    if has_unfinished():
        finish_schedules(traversal(sink_of(tensors)))


def _writes(structure: Structure) -> list[UOp]:
    return [node for node in structure.places if node.op is Ops.ASSIGN]


def _shared_values(
    structure: Structure, waiting: Sequence[TensorBase], requested: Sequence[TensorBase]
) -> frozenset[int]:
    """The places of nodes in a graph to compute that pending tensors use.

    Of a tensor that its readers recompute, only the memory below it, unless it is requested.
    """
    places = structure.places
    wanted = {t._uop for t in requested}
    stack: list[UOp] = []
    for node in (t._uop for t in waiting):
        recomputed = is_recomputed(node) and node not in wanted
        stack += memory_of(node) if recomputed else [node]
    seen: set[UOp] = set()
    touched: set[int] = set()
    while stack:
        node = stack.pop()
        if node in seen or node.op in SETTLED:
            continue
        seen.add(node)
        place = places.get(node)
        if place is None:
            stack.extend(node.src)
        else:
            touched.add(place)
    return frozenset(touched)


def _saved_for_backward(
    structure: Structure, tensors: Sequence[TensorBase], waiting: Sequence[TensorBase]
) -> frozenset[int]:
    """Saved tensors: the places of all intermediates, if every one of `tensors` requires gradients:
    `backward` needs the intermediates again.

    Values in a checkpoint are not saved: they are computed again.
    """
    derived = {_shown_value(t) for t in waiting if t._requires_grad and not t.is_leaf}
    stack = [_shown_value(tensor) for tensor in tensors] if derived else []
    if not stack or not derived.issuperset(stack) or _writes(structure):
        return frozenset()
    found: dict[UOp, None] = {}
    while stack:
        node = stack.pop()
        if node not in found and node in structure.places:
            found[node] = None
            stack.extend(node.src[1:] if is_checkpoint(node) else node.src)
    return frozenset(structure.places[node] for node in found)


def _shown_value(tensor: TensorBase) -> UOp:
    """The node of a tensor below movement, identity and CONTIGUOUS ops."""
    node = tensor._uop
    while node.op in _SHOWN:
        node = node.src[0]
    return node


def _with_pending_readers(sink: UOp) -> UOp:
    """Add pending kernels elsewhere that read memory which the kernels below `sink` overwrite.

    `kernelize` leaves such kernels: they read the version before the write, so they run with it.
    """
    known = set(kernel_writes(sink))
    overwritten = {write.src[0] for write in known}
    if not any(holds_value(version) for version in overwritten):
        return sink
    waiting = [t._uop for t in waiting_tensors()]
    left = kernel_writes(UOp(Ops.SINK, src=tuple(dict.fromkeys(waiting))))
    while True:
        left = [write for write in left if write not in known]
        found = [write for write in left if not overwritten.isdisjoint(write.src[1].src[1:])]
        if not found:
            return sink
        sink = UOp.sink(*sink.src, *found)
        known = set(kernel_writes(sink))
        overwritten = {write.src[0] for write in known}


def _settled(writes: Sequence[UOp]) -> dict[UOp, UOp]:
    """By write the memory that replaces it after execution."""
    return {write: root_buffer(write) for write in writes}
