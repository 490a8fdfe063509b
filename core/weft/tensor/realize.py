"""How tensors meet scheduler and engine, and how results are put back under live tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from weft.autograd import history, is_checkpoint
from weft.base import trace
from weft.base.locks import reentrant_lock
from weft.base.settings import settings
from weft.engine import ExecItem, run_schedule
from weft.engine.capture import recording
from weft.schedule import ScheduleItem, create_schedule_with_vars, kernel_writes, kernelize_map
from weft.schedule.cache import template_for
from weft.schedule.kernel_ast import TwoValues
from weft.schedule.kernels import root_buffer
from weft.schedule.structural_key import Structure, structure_of, traversal
from weft.tensor import checked
from weft.tensor.failed_schedules import finish, is_any_left, put_back_complete
from weft.tensor.live_tensors import SETTLED, is_settled, put_back, waiting_tensors
from weft.tensor.pending_readers import holds_value, protect_readers, protected_graph, sink_of
from weft.uop import GroupOp, Ops, UOp

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

_SHOWN = GroupOp.Movement | GroupOp.Identity | {Ops.CONTIGUOUS}

_read_check = settings.getter("CHECK")

turn = reentrant_lock()
"""Who schedules reads and changes the graphs of all live tensors, and what its kernels overwrite
nobody else may read meanwhile: threads take turns, the kernels included."""


def kernelize_tensors(tensors: Sequence[TensorBase]) -> None:
    """Group what is pending below `tensors` into kernels, run nothing.

    Every live tensor that shares a computed node is put over the kernel that computes it.
    """
    with turn:
        _finish_begun(tensors)
        protected = protect_readers(tensors)
        becomes = kernelize_map(sink_of([*tensors, *protected]))
        put_back(becomes)
        # a kernel that waits may not share its memory's old value with graphs that are kept
        for write in kernel_writes(UOp(Ops.SINK, src=tuple(becomes.values()))):
            if holds_value(write.src[0]):
                history.bump_version(root_buffer(write))


def schedule_tensors(
    tensors: Sequence[TensorBase],
) -> tuple[list[ScheduleItem], dict[UOp, int]]:
    """The items that compute `tensors` and the values of their variables.

    The tensors stand for the memory that the items will fill: run them before reading it.
    """
    with turn:
        return _scheduled(tensors)


def _scheduled(tensors: Sequence[TensorBase]) -> tuple[list[ScheduleItem], dict[UOp, int]]:
    _finish_begun(tensors)
    _, whole, order = protected_graph(tensors)
    structure = structure_of(whole, order)
    if structure is not None:
        touched = _touched(structure, waiting_tensors())
        filled = template_for(structure).bind_to(structure, touched, plan=False)
        put_back(filled.becomes, _writes(structure))
        return filled.items, filled.values
    put_back(kernelize_map(whole))
    sink = _with_readers(sink_of(tensors))
    writes = kernel_writes(sink)
    written = [write for write in writes if holds_value(write.src[0])]
    items, values = create_schedule_with_vars(sink)
    put_back(_settled(writes), written)
    return items, values


def realize_tensors(tensors: Sequence[TensorBase]) -> None:
    """Compute `tensors`. If anything fails, every tensor still is what it was, or what a write that
    was carried out has made of it, and may be computed later as if nothing had failed."""
    if any(not is_settled(t._uop) for t in tensors):
        with turn:
            if _read_check() and recording() is None:
                checked.run(tensors, _realize)
            _realize(tensors)


def _realize(tensors: Sequence[TensorBase]) -> None:
    _finish_begun(tensors)
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
            for reader in protected:  # of memory that is overwritten, at an earlier position
                _realize([reader])
            _realize(pending)


def _compute(pending: Sequence[TensorBase], sink: UOp, order: Mapping[UOp, None]) -> None:
    structure = structure_of(sink, order)
    if structure is None:
        _realize_kernels(sink)
        return
    is_recorded = recording() is not None
    plan = bool(settings.MEMORY_PLANNER) and not is_recorded  # a replay plans for all steps
    waiting = waiting_tensors()
    touched = _touched(structure, waiting)
    if not is_recorded:
        touched |= _needed_again(structure, pending, waiting)
    filled = template_for(structure).bind_to(structure, touched, plan)
    writes = _writes(structure)
    done: list[ExecItem] | None = [] if writes else None
    try:
        run_schedule(filled.items, filled.values, filled.layout, filled.unneeded, done)
        put_back(filled.becomes, writes)
    except BaseException:
        if done:
            items, values = filled.items, filled.values
            put_back_complete(filled.becomes, writes, items, values, len(done))
        raise


def _realize_kernels(sink: UOp) -> None:
    """The same for a graph in which kernels wait already: nothing of it is kept for later."""
    becomes = kernelize_map(sink)
    final = _with_readers(sink.substitute(becomes))
    writes = kernel_writes(final)
    written = [write for write in writes if holds_value(write.src[0])]
    items, values = create_schedule_with_vars(final)
    settled = _settled(writes)
    done: list[ExecItem] = []
    final_becomes = {n: v.substitute(settled) for n, v in becomes.items()} | settled
    try:
        run_schedule(items, values, done=done)
        put_back(final_becomes, written)
    except BaseException:
        put_back_complete(final_becomes, written, items, values, len(done))
        raise


def _finish_begun(tensors: Sequence[TensorBase]) -> None:
    """What was left of schedules that failed comes first."""
    if is_any_left():
        finish(traversal(sink_of(tensors)))


def _writes(structure: Structure) -> list[UOp]:
    return [node for node in structure.places if node.op is Ops.ASSIGN]


def _touched(structure: Structure, waiting: Sequence[TensorBase]) -> frozenset[int]:
    """Where the graphs of the tensors that wait enter a graph that is about to be computed."""
    places = structure.places
    stack = [t._uop for t in waiting]
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


def _needed_again(
    structure: Structure, tensors: Sequence[TensorBase], waiting: Sequence[TensorBase]
) -> frozenset[int]:
    """The places of all that is computed for `tensors`, if gradients are to flow from every one of
    them: they are looked at before `backward`, which needs once more what they are computed of.

    Not what stands in a checkpoint, which is there to be computed again.
    """
    derived = {_value_of(t) for t in waiting if t._requires_grad and not t.is_leaf}
    stack = [_value_of(tensor) for tensor in tensors] if derived else []
    if not stack or not derived.issuperset(stack) or _writes(structure):
        return frozenset()
    found: dict[UOp, None] = {}
    while stack:
        node = stack.pop()
        if node not in found and node in structure.places:
            found[node] = None
            stack.extend(node.src[1:] if is_checkpoint(node) else node.src)
    return frozenset(structure.places[node] for node in found)


def _value_of(tensor: TensorBase) -> UOp:
    """The node that a tensor shows, under all that moves, stores or detaches it."""
    node = tensor._uop
    while node.op in _SHOWN:
        node = node.src[0]
    return node


def _with_readers(sink: UOp) -> UOp:
    """`sink` and the kernels that wait elsewhere for memory that the kernels below it overwrite.

    `kernelize` leaves them behind: their values are those of before the write, so they run with it.
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
    """What a write stands for once it has been carried out: the memory."""
    return {write: root_buffer(write) for write in writes}
