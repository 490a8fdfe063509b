"""KERNEL creation: every decided node becomes ASSIGN(BUFFER, KERNEL) over the memory it reads.

in:  spec.tensor and the nodes that become kernels      out: spec.kernel_graph, as a map
"""

from __future__ import annotations

from weft.base.errors import ScheduleError
from weft.schedule.context import ScheduleContext
from weft.schedule.kernel_ast import AstBuilder, KernelSources, elements
from weft.schedule.metadata import made_at, said_of
from weft.schedule.storage import check_computes
from weft.schedule.uses import Uses, is_stored
from weft.shape import ShapeTracker
from weft.uop import BufferView, Kernel, Ops, UOp


def storage_under(node: UOp) -> UOp:
    """The BUFFER at the bottom of a chain of assignments."""
    while node.op is Ops.ASSIGN or node.base is not node:
        node = node.src[0] if node.op is Ops.ASSIGN else node.base
    return node


def create_kernels(uses: Uses, realized: dict[UOp, None], ctx: ScheduleContext) -> dict[UOp, UOp]:
    """For every node of `realized`, and all memory below: the stored node that holds its value."""
    stored: dict[UOp, UOp] = {node: node for node in uses.order if is_stored(node)}
    for node in uses.order:
        if node in realized:
            stored[node] = _kernel_for(node, stored, ctx)
    return stored


def _kernel_for(node: UOp, stored: dict[UOp, UOp], ctx: ScheduleContext) -> UOp:
    if node.op is Ops.COPY:
        return _copy(node, stored)
    if node.op is Ops.BUFFER_VIEW:
        source = _stored_source(node.src[0], stored)
        kernel = UOp(Ops.KERNEL, src=(source,), arg=Kernel(_leaf_ast(node), said_of([node])))
        return _fresh(node, int(node.arg.size), kernel)
    if node.op is Ops.ASSIGN:
        return _assign(node, stored, ctx)
    return _compute(node, stored, ctx)


def _leaf_ast(node: UOp) -> UOp:
    """A COPY or BUFFER_VIEW without what it reads: that is in the kernel's sources."""
    return UOp(node.op, node.dtype, (), node.arg)


def _fresh(node: UOp, size: int, kernel: UOp) -> UOp:
    """`kernel` writing new memory on the node's device: its output comes first in its sources."""
    buffer = UOp.new_buffer(node.device, size, node.dtype)
    return UOp(Ops.ASSIGN, node.dtype, (buffer, kernel.replace(src=(buffer, *kernel.src))))


def _stored_source(source: UOp, stored: dict[UOp, UOp]) -> UOp:
    base = source.base
    found = stored.get(base)
    if found is None or (source is not base and not source.st.contiguous):
        raise ScheduleError(
            "a copy reads whole buffers only",
            asked=f"{source.op} of shape {source.shape} as the source of a copy",
            because="it is neither stored nor a reshape of something stored",
        )
    return found


def _copy(node: UOp, stored: dict[UOp, UOp]) -> UOp:
    source = _stored_source(node.src[0], stored)
    kernel = UOp(Ops.KERNEL, src=(source,), arg=Kernel(_leaf_ast(node), said_of([node])))
    return _fresh(node, int(node.size), kernel)


def _compute(node: UOp, stored: dict[UOp, UOp], ctx: ScheduleContext) -> UOp:
    """A kernel that stores the value of `node` row-major in new memory."""
    device = _one_device(node)
    check_computes(node, ctx)
    size = elements(node.shape)
    buffer = UOp.new_buffer(device, size, node.dtype)
    sources = KernelSources(device, {buffer: 0})
    builder = AstBuilder(stored, sources)
    value = builder.value(node, force=node)
    whole, bound = ShapeTracker.from_shape(node.shape).unbind()
    sources.bound.update(bound)
    store = sources.pointer(buffer).view(whole).store(value)
    return _finish(buffer, UOp.sink(store), sources, builder, buffer)


def _one_device(node: UOp) -> str:
    device = node.device
    if not isinstance(device, str):
        raise ScheduleError(
            "a kernel runs on one device",
            asked=f"{node.op} of shape {node.shape} on {device}",
            because="its value is in shards, or has no place at all",
            try_="select one shard, or give its constants a device",
        )
    return device


def _finish(target: UOp, ast: UOp, sources: KernelSources, builder: AstBuilder, output: UOp) -> UOp:
    reads = [slot for slot in sources.slots if slot is not output]
    bound = tuple(
        UOp(Ops.BIND, variable.dtype, (variable, UOp.const(variable.dtype, value)))
        for variable, value in sources.bound.items()
    )
    kernel = UOp(
        Ops.KERNEL,
        src=(output, *reads, *bound),
        arg=Kernel(ast, said_of(builder.nodes)),
    )
    return UOp(Ops.ASSIGN, target.dtype, (target, kernel))


def _assign(node: UOp, stored: dict[UOp, UOp], ctx: ScheduleContext) -> UOp:
    """A kernel that writes into memory that exists: all of it, or the window of the arg."""
    target, value = node.src
    version = stored[target.base]
    memory = storage_under(version)
    window = node.arg.st if node.arg is not None else ShapeTracker.from_shape(target.shape)
    if (copied := _copy_into(node, version, value, window, stored)) is not None:
        return copied
    device = _one_device(memory)
    check_computes(UOp(Ops.ASSIGN, node.dtype, (memory, value), node.arg), ctx)
    sources = KernelSources(device, {version: 0})
    builder = AstBuilder(stored, sources)
    free, bound = window.unbind()
    sources.bound.update(bound)
    built = builder.value(value)
    builder.nodes[node] = None
    pointer = UOp(Ops.DEFINE_GLOBAL, memory.dtype.ptr(int(memory.size)), (), 0)
    store = pointer.view(free).store(built)
    _check_in_place(built, pointer, free, node)
    return _finish(version, UOp.sink(store), sources, builder, version)


def _copy_into(
    node: UOp, version: UOp, value: UOp, window: ShapeTracker, stored: dict[UOp, UOp]
) -> UOp | None:
    """A copy from another device straight into a contiguous window of the destination."""
    source = stored.get(value.base)
    if source is None or source.device == version.device or not _is_run(window):
        return None
    _stored_source(value, stored)
    where = BufferView(int(value.size), int(window.views[0].offset))
    ast = UOp(Ops.COPY, node.dtype, (), where)
    kernel = UOp(Ops.KERNEL, src=(version, source), arg=Kernel(ast, said_of([node])))
    return UOp(Ops.ASSIGN, node.dtype, (version, kernel))


def _is_run(window: ShapeTracker) -> bool:
    """Whether a window is one run of memory."""
    if len(window.views) != 1 or window.views[0].mask is not None:
        return False
    expected = 1
    for extent, stride in zip(reversed(window.shape), reversed(window.views[0].strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def reads_elsewhere(built: UOp, slot: int, window: ShapeTracker) -> bool:
    """Whether a kernel reads its own output at other places than it writes."""
    below_reduce: set[UOp] = set()
    for node in reversed(built.toposort()):
        if node.op in (Ops.REDUCE_AXIS, Ops.VIEW) or node in below_reduce:
            below_reduce.update(node.src)
        if node.op is Ops.LOAD and node.src[0].base.arg == slot:
            if node in below_reduce or node.src[0].arg.simplify() != window.simplify():
                return True
    return False


def _check_in_place(built: UOp, pointer: UOp, window: ShapeTracker, node: UOp) -> None:
    if not reads_elsewhere(built, pointer.arg, window):
        return
    raise ScheduleError(
        "an assignment reads what it overwrites at other places",
        asked=f"assign to {node.src[0].shape}" + made_at(node),
        because="elements would be overwritten before they are read",
        try_="make a copy of the value first:\n  - a += a.T\n  + a += a.T.contiguous()",
    )
