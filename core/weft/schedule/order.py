"""The KERNEL/ASSIGN graph becomes a list: breadth first by in-degree.

Besides the edges of the graph there is one for every reader of a version that a later ASSIGN
overwrites: the reader comes first. What is left over when nothing is free is a cycle, and is named.

in:  spec.kernel_graph      out: list[ScheduleItem] and the values of the variables
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from weft.base.errors import ScheduleError
from weft.device import binding
from weft.device.buffer import Buffer
from weft.schedule.item import ScheduleItem
from weft.schedule.kernels import storage_under
from weft.schedule.uses import is_stored
from weft.uop import Ops, UOp


def kernel_writes(sink: UOp) -> list[UOp]:
    """The ASSIGN(memory, KERNEL) nodes below `sink`, in the order of the graph."""
    return [u for u in sink.toposort() if u.op is Ops.ASSIGN and is_stored(u)]


def create_schedule_with_vars(sink: UOp) -> tuple[list[ScheduleItem], dict[UOp, int]]:
    """The items that compute what is below `sink`, and the value of each variable.

    Raises ScheduleError for a graph with pending work that is not in kernels, for cycles, and where
    one variable is bound to two values.
    """
    writes = kernel_writes(sink)
    items = [_item(write) for write in in_order(writes)]
    return items, gather_values(writes)


def in_order(writes: list[UOp]) -> list[UOp]:
    """`writes`, each after everything whose value it needs and after all readers of what it
    overwrites. Raises ScheduleError where there is no such order."""
    order, stuck = _sorted(writes)
    if stuck:
        _report_cycle(stuck)
    return order


def waiting_for_each_other(writes: list[UOp]) -> list[UOp]:
    """Those of `writes` that no order satisfies; none, nearly always."""
    return _sorted(writes)[1]


def _sorted(writes: list[UOp]) -> tuple[list[UOp], list[UOp]]:
    """An order of `writes` for as far as there is one, and what waits for each other."""
    known = set(writes)
    followers: dict[UOp, list[UOp]] = {write: [] for write in writes}
    waiting: dict[UOp, int] = dict.fromkeys(writes, 0)
    for before, after in _edges(writes, known):
        followers[before].append(after)
        waiting[after] += 1
    ready = deque(write for write in writes if waiting[write] == 0)
    order: list[UOp] = []
    while ready:
        write = ready.popleft()
        order.append(write)
        for follower in followers[write]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    stuck = {write for write in writes if waiting[write]}
    while leaves := [w for w in stuck if stuck.isdisjoint(followers[w])]:
        stuck.difference_update(leaves)  # they only come after what is stuck
    return order, [write for write in writes if write in stuck]


def _edges(writes: list[UOp], known: set[UOp]) -> Iterable[tuple[UOp, UOp]]:
    """(before, after), each pair once."""
    readers: dict[UOp, list[UOp]] = {}
    for write in writes:
        for source in write.src[1].src:
            if source is not write.src[0]:
                readers.setdefault(source, []).append(write)
    found: dict[tuple[UOp, UOp], None] = {}
    for write in writes:
        version = write.src[0]
        for source in (version, *write.src[1].src):
            if source in known:
                found[source, write] = None
        for reader in readers.get(version, ()):
            if reader is not write:
                found[reader, write] = None
    return found


def _report_cycle(left: list[UOp]) -> None:
    lines = "\n".join(f"  {w.src[1].arg!r} writes {storage_under(w).arg} elements" for w in left)
    raise ScheduleError(
        f"{len(left)} kernels wait for each other",
        asked=f"an order for\n{lines}",
        because="each needs another's result, or reads memory that another overwrites",
        try_="call .contiguous() on the value that is read before it is overwritten",
    )


def _item(write: UOp) -> ScheduleItem:
    kernel = write.src[1]
    ast = kernel.arg.ast
    memory = [
        binding.buffer_of(storage_under(source))
        for source in kernel.src
        if source.op is not Ops.BIND
    ]
    if ast.op is Ops.BUFFER_VIEW:
        _bind_view(write, ast, memory[1])
        memory[0] = binding.buffer_of(write.src[0])
    elif ast.op is Ops.COPY and ast.arg is not None:
        window = ast.arg
        start = window.offset * ast.dtype.itemsize
        memory[0] = memory[0].view(window.size, ast.dtype, start)
    return ScheduleItem(ast, tuple(memory), kernel.arg.metadata)


def _bind_view(write: UOp, ast: UOp, base: Buffer) -> None:
    target = storage_under(write)
    if not binding.is_bound(target) or not binding.buffer_of(target).is_allocated:
        offset = ast.arg.offset * ast.dtype.itemsize
        binding.bind(target, base.view(ast.arg.size, ast.dtype, offset))


def gather_values(writes: list[UOp]) -> dict[UOp, int]:
    """The value of every variable that a kernel is bound to."""
    values: dict[UOp, int] = {}
    for write in writes:
        for source in write.src[1].src:
            if source.op is not Ops.BIND:
                continue
            variable, value = source.unbind()
            if values.setdefault(variable, value) != value:
                raise ScheduleError(
                    f"variable {variable.arg.name!r} has two values in one schedule",
                    asked=f"{variable.arg.name} = {values[variable]} and {value}",
                    because="one schedule runs with one value for each variable",
                    try_="realize the tensors one after the other",
                )
    return values
