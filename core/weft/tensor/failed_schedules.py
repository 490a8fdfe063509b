"""Recovery from failed schedules: kernels that have run already must not run again.

A value that was computed into memory of its own may be computed again; a write into memory that was
there before may not: `x += 1` would add twice. So where such a write was carried out, everything
that is complete is put under the live tensors, as after a schedule that ended, and only the rest is
still pending.

That is not possible where memory is written several times, or lies on several devices, and part of
that was carried out; nor where a tensor waits that is to be computed of what was overwritten. Then
what is left of the schedule is kept as it is, and carried out before anything else is done with one
of these tensors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from weft.base.weak import WeakKeys, WeakMembers
from weft.device import Buffer, binding
from weft.engine import ExecItem, run_schedule
from weft.schedule import ScheduleItem
from weft.schedule.kernels import root_buffer
from weft.tensor.live_tensors import put_back, waiting_tensors
from weft.uop import Ops, UOp


class Rest:
    """What is left of a schedule that has begun: items in order, values of variables, and, as for
    `put_back`, what nodes become and which writes are carried out when the items have been run.

    It lasts as long as somebody holds one of these nodes.
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
        """Run what is left. Where that fails, what is left then is kept."""
        done: list[ExecItem] = []
        try:
            run_schedule(self._items, self._values, done=done)
        finally:
            del self._items[: len(done)]
        put_back(dict(self._becomes.items()), list(self._writes))
        for node in [node for node, rest in _rests.items() if rest is self]:
            del _rests[node]


_rests: WeakKeys[UOp, Rest] = WeakKeys()


def is_any_left() -> bool:
    """Whether any schedule has been left halfway."""
    return len(_rests) > 0


def finish(nodes: Collection[UOp]) -> None:
    """Finish the schedules that compute any of these nodes; all of them, where one is a write: they
    may have to read what it overwrites."""
    writes = any(node.op is Ops.ASSIGN for node in nodes)
    for rest in {r for node, r in list(_rests.items()) if writes or node in nodes}:
        rest.finish()


def put_back_complete(
    becomes: Mapping[UOp, UOp],
    writes: Sequence[UOp],
    items: Sequence[ScheduleItem],
    values: Mapping[UOp, int],
    done: int,
) -> None:
    """Put back what the first `done` items completed, if any of `writes` was among it; or keep what
    is left of them.

    becomes, writes: as for `put_back`, had all of `items` been carried out.
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
        put_back(complete, begun)
        return
    rest = Rest(items[done:], values, becomes, writes)
    for node in (*becomes, *writes):
        _rests[node] = rest


def _memory(value: UOp) -> set[Buffer]:
    """What owns the memory that a value is looked at in."""
    nodes = (u for u in value.toposort() if u.op is Ops.BUFFER and u.device.__class__ is str)
    return {binding.buffer_of(node).owner for node in nodes}


def _settled(node: UOp) -> UOp:
    """What a write is written into, without the writes before it."""
    if node.op is Ops.ASSIGN:
        return _settled(node.src[0])
    return node if node.base is node else node.over((_settled(node.src[0]), *node.src[1:]))


def _is_read(storage: set[UOp], complete: Mapping[UOp, UOp]) -> bool:
    """Whether a tensor that waits reads this memory as it was, other than by what is complete."""
    waiting = UOp.sink(*(tensor._uop for tensor in waiting_tensors()))
    return not storage.isdisjoint(waiting.toposort(gate=lambda node: node not in complete))
