"""How tensors meet scheduler and engine, and how results are put back under live tensors."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from weft.base import trace
from weft.device import binding, registry
from weft.engine import run_schedule
from weft.schedule import ScheduleItem, create_schedule_with_vars, kernel_writes, kernelize_map
from weft.schedule.assigns import kept, pending_writes
from weft.schedule.kernels import storage_under
from weft.tensor.live import live_tensors
from weft.uop import GroupOp, Ops, UOp

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

# graphs that end here have nothing pending
_SETTLED = frozenset({Ops.BUFFER, Ops.CONST})
_THROUGH = GroupOp.Movement | GroupOp.Identity
_copies = itertools.count()


def kernelize_tensors(tensors: Sequence[TensorBase]) -> None:
    """Group what is pending below `tensors` into kernels, run nothing.

    Every live tensor that shares a computed node is put over the kernel that computes it.
    """
    protected = protect_readers(tensors)
    put_back(kernelize_map(_sink([*tensors, *protected])))


def schedule_tensors(
    tensors: Sequence[TensorBase],
) -> tuple[list[ScheduleItem], dict[UOp, int]]:
    """The items that compute `tensors` and the values of their variables.

    The tensors stand for the memory that the items will fill: run them before reading it.
    """
    kernelize_tensors(tensors)
    sink = _with_readers(_sink(tensors))
    items, values = create_schedule_with_vars(sink)
    put_back(_settled(kernel_writes(sink)))
    return items, values


def realize_tensors(tensors: Sequence[TensorBase]) -> None:
    """Compute `tensors`. If anything fails, every tensor still is what it was."""
    pending = [t for t in tensors if t._uop.base.op not in _SETTLED]
    if not pending:
        return
    with trace.span("realize"):
        protected = protect_readers(pending)
        sink = _sink([*pending, *protected])
        becomes = kernelize_map(sink)
        final = _with_readers(sink.substitute(becomes))
        items, values = create_schedule_with_vars(final)
        run_schedule(items, values)
        settled = _settled(kernel_writes(final))
        put_back({n: v.substitute(settled) for n, v in becomes.items()} | settled)


def _sink(tensors: Sequence[TensorBase]) -> UOp:
    return UOp.sink(*dict.fromkeys(t._uop for t in tensors))


def _with_readers(sink: UOp) -> UOp:
    """`sink` and the kernels that wait elsewhere for memory that the kernels below it overwrite.

    `kernelize` leaves them behind: their values are those of before the write, so they run with it.
    """
    known = set(kernel_writes(sink))
    overwritten = {write.src[0] for write in known}
    if not any(_holds_something(version) for version in overwritten):
        return sink
    waiting = [t._uop for t in live_tensors() if t._uop.base.op not in _SETTLED]
    left = kernel_writes(UOp(Ops.SINK, src=tuple(dict.fromkeys(waiting))))
    while True:
        left = [write for write in left if write not in known]
        found = [write for write in left if not overwritten.isdisjoint(write.src[1].src[1:])]
        if not found:
            return sink
        sink = UOp.sink(*sink.src, *found)
        known = set(kernel_writes(sink))
        overwritten = {write.src[0] for write in known}


def _holds_something(version: UOp) -> bool:
    return version.op is Ops.ASSIGN or binding.is_bound(version)


def _settled(writes: Sequence[UOp]) -> dict[UOp, UOp]:
    """What a write stands for once it has been carried out: the memory."""
    return {write: storage_under(write) for write in writes}


def put_back(becomes: Mapping[UOp, UOp]) -> None:
    """Replace nodes in the graphs of all live tensors."""
    if not becomes:
        return
    waiting = [t for t in live_tensors() if t._uop.base.op not in _SETTLED]
    if not waiting:
        return
    graphs = list(dict.fromkeys(t._uop for t in waiting))
    changed = UOp(Ops.SINK, src=tuple(graphs)).substitute(becomes).src
    new = dict(zip(graphs, changed))
    for tensor in waiting:
        tensor._uop = new[tensor._uop]


def protect_readers(tensors: Sequence[TensorBase]) -> list[TensorBase]:
    """Writing never changes another tensor's value: see to those that still read the old one.

    A live tensor with work pending on memory that is about to be overwritten is computed in the
    same schedule, before the write; one that is a mere view of it gets a copy. Returns them.
    """
    protected: dict[int, TensorBase] = {}
    copies: dict[UOp, UOp] = {}
    writes = pending_writes(_sink(tensors))
    while writes:
        computed: dict[UOp, None] = {}
        for tensor in _readers(writes):
            tensor._uop = _protected(tensor._uop, writes, copies, computed)
            protected[id(tensor)] = tensor
        put_back(_stored_once(computed))
        # what is computed along with the others may write as well
        before = writes
        writes = pending_writes(_sink([*tensors, *protected.values()]))
        if writes.keys() <= before.keys():
            break
    return list(protected.values())


def _readers(writes: Mapping[UOp, list[UOp]]) -> list[TensorBase]:
    """The live tensors that need a version of memory which is about to be overwritten."""
    writers = {writer for found in writes.values() for writer in found}
    live = live_tensors()
    reads: dict[UOp, bool] = {}
    for node in UOp(Ops.SINK, src=tuple(dict.fromkeys(t._uop for t in live))).toposort():
        if node in writes:
            reads[node] = True
        elif node in writers:
            reads[node] = False
        else:
            reads[node] = any(reads[source] for source in node.src)
    return [tensor for tensor in live if reads[tensor._uop]]


def _protected(
    node: UOp,
    writes: Mapping[UOp, list[UOp]],
    copies: dict[UOp, UOp],
    computed: dict[UOp, None],
) -> UOp:
    """`node` over a copy of the memory that it views; what is to be computed goes to `computed`."""
    if registry.capabilities(node.device).memory.persistent:
        return node  # what outlives the process is shared with others by nature
    below = node
    while below.op in _THROUGH:
        below = below.src[0]
    if below in writes:
        if below not in copies:
            copies[below] = kept(below)
        return node.substitute({below: copies[below]})
    base = node.base
    if base.op is Ops.ASSIGN or (base.op is Ops.CONTIGUOUS and base.arg is not None):
        return node
    computed[base] = None
    return node


def _stored_once(computed: Mapping[UOp, None]) -> dict[UOp, UOp]:
    """Where each of these values will stand, for all who read it: none is computed twice."""
    done: dict[UOp, UOp] = {}
    for node in UOp(Ops.SINK, src=tuple(computed)).toposort():
        rebuilt = node.over(tuple([done.get(source, source) for source in node.src]))
        if node in computed:
            value = rebuilt.src[0] if node.op is Ops.CONTIGUOUS else rebuilt
            rebuilt = UOp(Ops.CONTIGUOUS, node.dtype, (value,), ("kept", next(_copies)))
        done[node] = rebuilt
    return {node: done[node] for node in computed}
