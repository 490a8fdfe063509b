"""Recovery from failed schedules: kernels that have run must not run again.

A value in memory of its own may be computed again. A write to existing memory may not: `x += 1`
would add twice. So after such a write all complete values replace their graphs in live tensors, as
after a successful schedule, and only the others are pending.

That is not possible if memory is written several times, or on several devices, and only a part of
the writes was executed; or if a pending tensor reads the old version. Then the remaining schedule
items are kept, and run before any of these tensors is used again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from weft.base.weak import WeakKeys, WeakMembers
from weft.device import Buffer, binding
from weft.engine import ExecItem, run_schedule
from weft.schedule import ScheduleItem, root_buffer
from weft.tensor.live_tensors import replace_in_graphs, waiting_tensors
from weft.uop import Ops, UOp


class UnfinishedSchedule:
    """The remaining items of a failed schedule, values of variables, and, as for
    `replace_in_graphs`, what nodes become, and which writes the items execute.

    It lives as long as one of these nodes is referenced.
    """

    def __init__(
        self,
        items: Sequence[ScheduleItem],
        values: Mapping[UOp, int],
        becomes: Mapping[UOp, UOp],
        writes: Sequence[UOp],
    ) -> None:
        self._items = list(items)
        self._values = dict(values)
        self._becomes = WeakKeys(becomes)
        self._writes = WeakMembers(writes)

    def finish(self) -> None:
        """Run the remaining items. After a failure those that remain then are kept."""
        done: list[ExecItem] = []
        try:
            run_schedule(self._items, self._values, done=done)
        finally:
            del self._items[: len(done)]
        replace_in_graphs(dict(self._becomes.items()), list(self._writes))
        for node in [node for node, unfinished in _unfinished.items() if unfinished is self]:
            del _unfinished[node]


_unfinished: WeakKeys[UOp, UnfinishedSchedule] = WeakKeys()


def has_unfinished() -> bool:
    """Whether any schedule is unfinished."""
    return len(_unfinished) > 0


def finish_schedules(nodes: Collection[UOp]) -> None:
    """Finish the schedules that compute any of these nodes. If one node is a write, finish all of
    them: they may read the memory that it overwrites."""
    writes = any(node.op is Ops.ASSIGN for node in nodes)
    for unfinished in {r for node, r in list(_unfinished.items()) if writes or node in nodes}:
        unfinished.finish()


def replace_completed(
    becomes: Mapping[UOp, UOp],
    writes: Sequence[UOp],
    items: Sequence[ScheduleItem],
    values: Mapping[UOp, int],
    done: int,
) -> None:
    """Replace what the first `done` items completed, if they executed any of `writes`; or keep the
    remaining items.

    becomes, writes: as for `replace_in_graphs`, as if all of `items` had run.
    """
    written, missing = (
        {buffer.owner for item in part for buffer in item.outputs}
        for part in (items[:done], items[done:])
    )
    begun = [write for write in writes if not written.isdisjoint(_memory(root_buffer(write)))]
    if not begun:
        return
    below = {write.src[0].base for write in begun}
    complete = {write: _settled(write) for write in begun if write not in below}
    for node, value in becomes.items():
        if missing.isdisjoint(_memory(value)):
            complete[node] = value
    memory = {root_buffer(write) for write in begun}
    if all(missing.isdisjoint(_memory(each)) for each in memory) and not _is_read(memory, complete):
        replace_in_graphs(complete, begun)
        return
    unfinished = UnfinishedSchedule(items[done:], values, becomes, writes)
    for node in (*becomes, *writes):
        _unfinished[node] = unfinished


def _memory(value: UOp) -> set[Buffer]:
    """The buffers that own the memory of a value."""
    nodes = (u for u in value.toposort() if u.op is Ops.BUFFER and u.device.__class__ is str)
    return {binding.buffer_of(node).owner for node in nodes}


def _settled(node: UOp) -> UOp:
    """The target of a write, below all writes before it."""
    if node.op is Ops.ASSIGN:
        return _settled(node.src[0])
    return node if node.base is node else node.over((_settled(node.src[0]), *node.src[1:]))


def _is_read(storage: set[UOp], complete: Mapping[UOp, UOp]) -> bool:
    """Whether a pending tensor reads the old version of this memory, not by complete nodes."""
    waiting = UOp.sink(*(tensor._uop for tensor in waiting_tensors()))
    return not storage.isdisjoint(waiting.toposort(gate=lambda node: node not in complete))
