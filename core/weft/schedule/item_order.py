"""Topological sort: order the kernels of a graph breadth first by in-degree.

Collectives come as early as possible, and the kernels that need them late: see `exchange_order`.

The nodes to order are KERNELs. A KERNEL may write several buffers: each is an ASSIGN(memory,
KERNEL) of its own in the graph. Beside the edges of the graph there is one from every reader of a
version to the ASSIGN that overwrites it: the reader runs first. Nodes that are never free form a
cycle, which the error names.

in:  spec.kernel_graph
out: list[ScheduleItem] and the values of the variables

Source: Kahn, "Topological Sorting of Large Networks", Communications of the ACM 5, 1962.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from weft.base.errors import ScheduleError
from weft.device import Buffer, binding
from weft.schedule.exchange_order import ReadyKernels, is_collective, is_view, prefetch_edges
from weft.schedule.item import ScheduleItem, stored_slots
from weft.schedule.kernel_ast import bind_value
from weft.schedule.kernels import root_buffer
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import variable_and_value


def kernel_writes(sink: UOp) -> list[UOp]:
    """The ASSIGN(memory, KERNEL) nodes of all kernels below `sink`, in the order of the graph.

    A kernel writes all its outputs, also those that nothing below `sink` needs.
    """
    kernels = [u for u in sink.toposort() if u.op is Ops.KERNEL]
    return [write for kernel in kernels for write in writes_of(kernel)]


def writes_of(kernel: UOp) -> list[UOp]:
    """The ASSIGN nodes of one kernel: one for each buffer that it writes."""
    return [UOp(Ops.ASSIGN, to.dtype, (to, kernel)) for to in overwritten_by(kernel)]


def overwritten_by(kernel: UOp) -> list[UOp]:
    """The versions of memory that a kernel overwrites, in the order of its arguments."""
    return [kernel.src[slot] for slot in sorted(stored_slots(kernel.arg.ast))]


def create_schedule_with_vars(sink: UOp) -> tuple[list[ScheduleItem], dict[UOp, int]]:
    """The items that compute what is below `sink`, and the value of each variable.

    Raises ScheduleError for a graph with pending work that is not in kernels, for cycles, and where
    one variable is bound to two values.
    """
    writes = kernel_writes(sink)
    kernels = dict.fromkeys(write.src[1] for write in sorted_writes(writes))
    return [_item(kernel) for kernel in kernels], bound_values(writes)


def sorted_writes(writes: list[UOp]) -> list[UOp]:
    """`writes` in an order in which each follows the values that it needs and all readers of what
    it overwrites. Those of one kernel are adjacent. Raises ScheduleError if there is a cycle."""
    order, stuck = _topological_order(writes)
    if stuck:
        _report_cycle(stuck)
    asked: dict[UOp, list[UOp]] = {}
    for write in writes:
        asked.setdefault(write.src[1], []).append(write)
    return [write for kernel in order for write in asked[kernel]]


def cyclic_writes(writes: list[UOp]) -> list[UOp]:
    """The members of `writes` in cycles; usually none."""
    stuck = set(_topological_order(writes)[1])
    return [write for write in writes if write.src[1] in stuck]


def _topological_order(writes: list[UOp]) -> tuple[list[UOp], list[UOp]]:
    """The kernels of `writes` in order as far as possible, and those in cycles."""
    kernels = list(dict.fromkeys(write.src[1] for write in writes))
    followers: dict[UOp, list[UOp]] = {kernel: [] for kernel in kernels}
    for before, after in _edges(kernels):
        followers[before].append(after)
    order = _in_order(kernels, followers)
    if len(order) == len(kernels) and (more := prefetch_edges(order, followers)):
        for before, after in more:
            followers[before].append(after)
        order = _in_order(kernels, followers)
    stuck = set(kernels).difference(order)
    while leaves := [k for k in stuck if stuck.isdisjoint(followers[k])]:
        stuck.difference_update(leaves)  # they only come after what is stuck
    return order, [kernel for kernel in kernels if kernel in stuck]


def _in_order(kernels: Sequence[UOp], followers: Mapping[UOp, Sequence[UOp]]) -> list[UOp]:
    """The kernels, each after those that it follows, without those in cycles and after these."""
    waiting = Counter(follower for kernel in kernels for follower in followers[kernel])
    ready = ReadyKernels()
    users: set[UOp] = set()
    for kernel in kernels:
        if not waiting[kernel]:
            ready.add(kernel)
    order: list[UOp] = []
    while ready:
        kernel = ready.pop()
        order.append(kernel)
        if is_collective(kernel) or (kernel in users and is_view(kernel)):
            users.update(followers[kernel])
        for follower in followers[kernel]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.add(follower, follower in users)
    return order


def _edges(kernels: list[UOp]) -> Iterable[tuple[UOp, UOp]]:
    """(before, after), each pair once."""
    known = set(kernels)
    written = {kernel: dict.fromkeys(overwritten_by(kernel)) for kernel in kernels}
    readers: dict[UOp, list[UOp]] = {}
    for kernel in kernels:
        for source in kernel.src:
            if source not in written[kernel]:
                for version in _versions_read(source):
                    readers.setdefault(version, []).append(kernel)
    found: dict[tuple[UOp, UOp], None] = {}
    for kernel in kernels:
        for source in kernel.src:
            if source.op is Ops.ASSIGN and source.src[1] in known:
                found[source.src[1], kernel] = None
        for version in written[kernel]:
            for reader in readers.get(version, ()):
                if reader is not kernel:
                    found[reader, kernel] = None
    return found


def _versions_read(source: UOp) -> list[UOp]:
    """A version of memory and the versions that it is a view of."""
    found = [source]
    while source.op is Ops.ASSIGN and source.src[1].op is Ops.KERNEL:
        kernel = source.src[1]
        if not is_view(kernel):
            break
        source = kernel.src[1]
        found.append(source)
    return found


def _report_cycle(left: list[UOp]) -> None:
    sizes = ((k, [str(root_buffer(to).arg) for to in overwritten_by(k)]) for k in left)
    lines = "\n".join(f"  {k.arg!r} writes {', '.join(found)} elements" for k, found in sizes)
    raise ScheduleError(
        f"{len(left)} kernels wait for each other",
        asked=f"an order for\n{lines}",
        because="each needs another's result, or reads memory that another overwrites",
        try_="call .contiguous() on the value that is read before it is overwritten",
    )


def _item(kernel: UOp) -> ScheduleItem:
    ast = kernel.arg.ast
    memory = [
        binding.buffer_of(root_buffer(source)) for source in kernel.src if source.op is not Ops.BIND
    ]
    if ast.op is Ops.BUFFER_VIEW:
        _bind_view(kernel.src[0], ast, memory[1])
        memory[0] = binding.buffer_of(root_buffer(kernel.src[0]))
    return ScheduleItem.of(ast, memory, kernel.arg.metadata)


def _bind_view(version: UOp, ast: UOp, base: Buffer) -> None:
    target = root_buffer(version)
    if not binding.is_bound(target) or not binding.buffer_of(target).is_allocated:
        offset = ast.arg.offset * ast.dtype.itemsize
        binding.bind(target, base.view(ast.arg.size, ast.dtype, offset))


def bound_values(writes: list[UOp]) -> dict[UOp, int]:
    """The value of every variable that a kernel is bound to."""
    values: dict[UOp, int] = {}
    for write in writes:
        for source in write.src[1].src:
            if source.op is Ops.BIND:
                bind_value(values, *variable_and_value(source))
    return values
