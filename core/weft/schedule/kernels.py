"""Kernel creation: replace what each fused group stores by ASSIGN(BUFFER, KERNEL).
Also: graph partitioning, outlining of kernels.

in:  spec.tensor and the groups that become kernels
out: spec.kernel_graph, as a map

Source: none known; every stored value is replaced by memory that its kernel writes before it is
read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from weft.base.errors import ScheduleError
from weft.device import binding, registry
from weft.schedule.context import ScheduleContext
from weft.schedule.fusion_analysis import loop_shape
from weft.schedule.fusion_candidates import Group
from weft.schedule.images import pointer_to
from weft.schedule.kernel_ast import AstBuilder, KernelSources, elements
from weft.schedule.metadata import made_at, provenance_of
from weft.schedule.movement_lists import dense_offset, is_whole
from weft.schedule.storage import check_computes
from weft.schedule.use_def import Uses, is_stored
from weft.shape import ShapeTracker
from weft.uop import BufferView, GroupOp, Kernel, Ops, UOp

_SHORT = 8
# of long chains, so that a query for every version of one is not quadratic
_under: WeakKeyDictionary[UOp, UOp] = WeakKeyDictionary()


def root_buffer(node: UOp) -> UOp:
    """The BUFFER at the end of a chain of assignments."""
    passed: list[UOp] = []
    while node.op is Ops.ASSIGN or node.base is not node:
        if node.op is Ops.ASSIGN:
            passed.append(node)
            if len(passed) > _SHORT and (known := _under.get(node)) is not None:
                node = known
                break
            node = node.src[0]
        else:
            node = node.base
    if len(passed) > _SHORT:
        _under.update(dict.fromkeys(passed, node))
    return node


def create_kernels(uses: Uses, groups: Iterable[Group], ctx: ScheduleContext) -> dict[UOp, UOp]:
    """For all values that `groups` store and all memory below: the node that holds the value.

    groups: each after those whose results it reads.
    """
    stored: dict[UOp, UOp] = {node: node for node in uses.order if is_stored(node)}
    for group in groups:
        if len(group.members) == 1:
            (node,) = group.members
            if node.op is Ops.COLLECTIVE:
                if node not in stored:
                    stored.update(_exchange(node, stored))
                continue
            stored[node] = _single_kernel(node, stored, ctx)
        elif (together := _fused_kernel(group, stored, ctx)) is not None:
            stored.update(together)
        else:
            for node in group.members:
                stored[node] = _single_kernel(node, stored, ctx)
    return stored


def _single_kernel(node: UOp, stored: dict[UOp, UOp], ctx: ScheduleContext) -> UOp:
    """The stored node of a kernel with one member, a copy, a host call or a view."""
    if node.op in GroupOp.Meta:
        sources = [_stored_source(s, stored) for s in node.src if s.op is not Ops.DEVICE]
        buffer = UOp.new_buffer(node.device, int(node.size), node.dtype)
        if node.op is Ops.BUFFER_VIEW:
            binding.share(buffer, root_buffer(sources[0]))  # from now on, although it runs later
        return _written_by(node, UOp(node.op, node.dtype, (), node.arg), buffer, *sources)
    if node.op is Ops.ASSIGN and (copied := _copy_into(node, stored)) is not None:
        return copied
    alone = _fused_kernel(Group([node], [node]), stored, ctx)
    if alone is None:
        raise ScheduleError(
            "an assignment reads what it overwrites at other places",
            asked=f"assign to {node.src[0].shape}" + made_at(node),
            because="elements would be overwritten before they are read",
            try_="make a copy of the value first:\n  - a += a.T\n  + a += a.T.contiguous()",
        )
    return alone[node]


def _exchange(node: UOp, stored: dict[UOp, UOp]) -> dict[UOp, UOp]:
    """The stored nodes of all results of the collective that `node` is a result of.

    All devices take part, also those whose result nothing reads.
    """
    *given, _ = node.src
    results = [
        UOp(Ops.COLLECTIVE, node.dtype, (*given, UOp(Ops.DEVICE, arg=part.device)),
            replace(node.arg, place=place))
        for place, part in enumerate(given)
    ]  # fmt: skip
    memory = [UOp.new_buffer(one.device, int(one.size), one.dtype) for one in results]
    sources = [_stored_source(source, stored) for source in given]
    ast = UOp(Ops.COLLECTIVE, node.dtype, (), replace(node.arg, place=None, again=False))
    kernel = UOp(Ops.KERNEL, src=(*memory, *sources), arg=Kernel(ast, provenance_of([node])))
    return {one: UOp(Ops.ASSIGN, one.dtype, (to, kernel)) for one, to in zip(results, memory)}


def _written_by(node: UOp, ast: UOp, memory: UOp, *sources: UOp) -> UOp:
    """`memory` after a copy, host call or view of `sources`: what is written comes first in the
    sources of the kernel."""
    kernel = UOp(Ops.KERNEL, src=(memory, *sources), arg=Kernel(ast, provenance_of([node])))
    return UOp(Ops.ASSIGN, node.dtype, (memory, kernel))


def _stored_source(source: UOp, stored: dict[UOp, UOp]) -> UOp:
    base = source.base
    found = stored.get(base)
    if found is None or (source is not base and not source.st.contiguous):
        raise ScheduleError(
            "a copy or a host call reads whole buffers only",
            asked=f"{source.op} of shape {source.shape} as its source",
            because="it is neither stored nor a reshape of something stored",
        )
    return found


def _fused_kernel(
    group: Group, stored: dict[UOp, UOp], ctx: ScheduleContext
) -> dict[UOp, UOp] | None:
    """One kernel for all members; ASSIGN(memory, KERNEL) for each that is stored. None where it
    would overwrite elements before it reads them."""
    targets = {node: _target(node, stored, ctx) for node in group.stored}
    device = _device_of(root_buffer(next(iter(targets.values()))))
    sources = KernelSources(device, {to: slot for slot, to in enumerate(targets.values())})
    builder = AstBuilder(stored, sources, group.members)
    for node in group.kept:
        builder.keep_row(node, group.outer, group.shapes[node])
    stores = [_store(node, targets[node], group.shapes.get(node), builder) for node in group.stored]
    ast = UOp.sink(*stores)
    for node in group.stored:
        if node.op is Ops.ASSIGN and not _is_in_place(ast, sources.slots[targets[node]]):
            return None
    kernel = _kernel_node(ast, sources, builder)
    return {node: UOp(Ops.ASSIGN, to.dtype, (to, kernel)) for node, to in targets.items()}


def _target(node: UOp, stored: dict[UOp, UOp], ctx: ScheduleContext) -> UOp:
    """The memory that a member writes: new memory, or the version that it overwrites."""
    if node.op is not Ops.ASSIGN:
        device = _device_of(node)
        check_computes(node, ctx)
        return UOp.new_buffer(device, elements(node.shape), node.dtype)
    version = stored[node.src[0].base]
    memory = root_buffer(version)
    check_computes(UOp(Ops.ASSIGN, node.dtype, (memory, node.src[1]), node.arg), ctx)
    return version


def _store(node: UOp, target: UOp, shape: tuple[Any, ...] | None, builder: AstBuilder) -> UOp:
    """The STORE of a member, row-major or into the window of its ASSIGN. shape: its loops, if not
    its own."""
    value = node
    if node.op is Ops.ASSIGN and node.arg is not None:
        value = node.src[1]
        window = node.arg.st if shape is None else node.arg.st.reshape(shape)
    else:
        shape = _store_shape(node) if shape is None else shape
        window = ShapeTracker.from_shape(shape)
    free, bound = window.unbind()
    builder.sources.bind(bound)
    built = builder.value(value, shape)
    builder.nodes[node] = None
    memory = root_buffer(target)
    slot = builder.sources.slots[target]
    pointer = UOp(Ops.DEFINE_GLOBAL, pointer_to(memory), (), slot)
    return pointer.view(free).store(built)


def _store_shape(node: UOp) -> tuple[Any, ...]:
    """The loops of a member: those of its value, where a whole buffer is written.

    Memory is one run of elements, and a sum that is written to it need not be computed in one loop.
    """
    shape = loop_shape(node)
    if node.op is not Ops.ASSIGN or node.src[1].base is node.src[1]:
        return shape
    value = node.src[1]
    return tuple(value.base.shape) if is_whole(value) else shape


def _device_of(node: UOp) -> str:
    """The device of a member; the default device for a value of variables alone."""
    device = registry.canonical(None) if node.device is None else node.device
    if not isinstance(device, str):
        raise ScheduleError(
            "a kernel runs on one device",
            asked=f"{node.op} of shape {node.shape} on {device}",
            because="its value is in shards",
            try_="select one shard",
        )
    return device


def _kernel_node(ast: UOp, sources: KernelSources, builder: AstBuilder) -> UOp:
    """The KERNEL: the memory it writes and reads, and the values of its variables."""
    bound = tuple(
        UOp(Ops.BIND, variable.dtype, (variable, UOp.const(variable.dtype, value)))
        for variable, value in sources.bound.items()
    )
    return UOp(
        Ops.KERNEL, src=(*sources.slots, *bound), arg=Kernel(ast, provenance_of(builder.nodes))
    )


def _copy_into(node: UOp, stored: dict[UOp, UOp]) -> UOp | None:
    """A copy from another device straight into a contiguous window of the destination."""
    target, value = node.src
    version = stored[target.base]
    window = node.arg.st if node.arg is not None else ShapeTracker.from_shape(target.shape)
    source = stored.get(value.base)
    if source is None or source.device == version.device or dense_offset(window) is None:
        return None
    _stored_source(value, stored)
    where = BufferView(int(value.size), int(window.views[0].offset))
    ast = UOp(Ops.COPY, node.dtype, (), where)
    return _written_by(node, ast, version, source)


def reads_other_elements(built: UOp, slot: int, window: ShapeTracker) -> bool:
    """Whether a kernel reads other elements of its output than the one it writes."""
    below_reduce: set[UOp] = set()
    for node in reversed(built.toposort()):
        if node.op is Ops.CONTIGUOUS:
            continue  # a Row is computed once, in its own order, before it is read
        if node.op in (Ops.REDUCE_AXIS, Ops.VIEW) or node in below_reduce:
            below_reduce.update(node.src)
        if node.op is Ops.LOAD and node.src[0].base.arg == slot:
            if node in below_reduce or _without_unit_axes(node.src[0].arg) != _without_unit_axes(
                window
            ):
                return True
    return False


def _without_unit_axes(st: ShapeTracker) -> ShapeTracker:
    """The same elements in the same loops, without axes of one element."""
    kept = tuple(e for e in st.shape if isinstance(e, UOp) or e != 1)
    return (st if kept == st.shape else st.reshape(kept)).simplify()


def _is_in_place(ast: UOp, slot: int) -> bool:
    """Whether a kernel reads what it overwrites at the written element only."""
    (window,) = (to.arg for to, _ in (s.src for s in ast.src) if to.src[0].arg == slot)
    return not any(reads_other_elements(store.src[1], slot, window) for store in ast.src)
