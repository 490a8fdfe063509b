"""From a tensor graph to kernels: the table of contents of this floor.

    separate        assigns.py       copies of old values where order cannot satisfy everybody
    simplify        simplify.py      what needs no kernel vanishes
    storage         storage.py       windows of memory, by capability
    must_realize    realize_map.py   what has to stand in memory
    group_reduces   grouper.py       reduces take their elementwise children along
    limit_buffers   limits.py        by capability
    create_kernels  kernels.py       ASSIGN(BUFFER, KERNEL), each with its AST (kernel_ast.py)
"""

from __future__ import annotations

from weft.base import trace
from weft.device import registry
from weft.schedule.assigns import separate
from weft.schedule.context import ScheduleContext
from weft.schedule.grouper import group_reduces
from weft.schedule.kernels import create_kernels
from weft.schedule.limits import limit_buffers
from weft.schedule.realize_map import must_realize
from weft.schedule.simplify import simplify
from weft.schedule.storage import storage
from weft.schedule.uses import is_stored, uses_in
from weft.uop import GroupOp, Ops, UOp, rewrite_map

CLEAN = simplify + storage


def kernelize_map(sink: UOp, ctx: ScheduleContext | None = None) -> dict[UOp, UOp]:
    """What the nodes of a tensor graph become once their values are computed by kernels.

    sink: SINK over the graphs that are asked for. The map has an entry for every node (never
    movement) whose value a kernel now stores: a reshape of ASSIGN(BUFFER, KERNEL). Nodes that were
    fused away have none: they stay as they were. Raises CapabilityError, DeviceError and
    ScheduleError where something cannot be scheduled.
    """
    ctx = ctx or ScheduleContext(registry.capabilities)
    with trace.span("kernelize"):
        separated = separate(sink)
        first = separated.get(sink, sink)
        cleaned = rewrite_map(first, CLEAN, ctx)
        if trace.enabled():
            trace.point("clean", before=first, after=cleaned[first])
        uses = uses_in(cleaned[first])
        realized = group_reduces(uses, must_realize(uses))
        realized = limit_buffers(uses, realized, ctx)
        stored = create_kernels(uses, realized, ctx)
    return _becomes(sink, separated, cleaned, stored)


def _becomes(
    sink: UOp, separated: dict[UOp, UOp], cleaned: dict[UOp, UOp], stored: dict[UOp, UOp]
) -> dict[UOp, UOp]:
    """The replacement of every original node whose value is stored now."""
    asked = {source.base for source in sink.src}
    result: dict[UOp, UOp] = {}
    for node in sink.toposort(gate=lambda u: not is_stored(u)):
        if node is sink or node.op in GroupOp.Movement or is_stored(node):
            continue
        changed = separated.get(node, node)
        final = cleaned.get(changed, changed)
        base = final.base
        memory = stored.get(base)
        if memory is None:
            if node in asked and base.op is Ops.CONST and final is not node:
                result[node] = final
        elif memory is not base or final is not node:
            at_shape = memory if memory.shape == base.shape else memory.reshape(base.shape)
            result[node] = final.substitute({base: at_shape})
    return result
