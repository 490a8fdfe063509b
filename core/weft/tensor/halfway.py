"""What stands in memory where a schedule failed on the way: it must not be computed once more.

A value that was computed into memory of its own may be computed again; a write into memory that was
there before may not: `x += 1` would add twice. So where such a write was carried out, everything
that is complete is put under the live tensors, as after a schedule that ended, and only the rest is
still pending. What was to be computed of the old content, and was not, is lost: the error says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.device import binding
from weft.device.buffer import Buffer
from weft.schedule import ScheduleItem
from weft.schedule.kernels import storage_under
from weft.tensor.live import put_back, waiting_tensors
from weft.uop import Ops, UOp


def put_back_complete(
    error: BaseException,
    becomes: Mapping[UOp, UOp],
    writes: Sequence[UOp],
    items: Sequence[ScheduleItem],
    done: int,
) -> None:
    """Put back what the first `done` items completed, if any of `writes` was among it.

    becomes, writes: as for `put_back`, had all of `items` been carried out. Of memory that is
    written several times, or lies on several devices, nothing is complete until all of it is.
    """
    written, missing = (
        {buffer.owner for item in part for buffer in item.outputs}
        for part in (items[:done], items[done:])
    )
    carried_out = [
        write
        for write in writes
        if not written.isdisjoint(memory := _memory(storage_under(write)))
        and missing.isdisjoint(memory)
    ]
    if not carried_out:
        return
    below = {write.src[0].base for write in carried_out}
    complete = {write: _settled(write) for write in carried_out if write not in below}
    for node, value in becomes.items():
        if missing.isdisjoint(_memory(value)):
            complete[node] = value
    if _is_read({storage_under(write) for write in carried_out}, complete):
        error.add_note(
            "memory was written before this failed: tensors that were to be computed of its old "
            "content would now be computed of the new one"
        )
    put_back(complete, carried_out)


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
