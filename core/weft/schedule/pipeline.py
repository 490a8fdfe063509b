"""From a tensor graph to kernels: the contents page of this floor.

in:  spec.tensor      out: spec.kernel_graph, as a map from nodes to what holds their value
"""

from __future__ import annotations

from dataclasses import dataclass, field

from weft.base import trace
from weft.base.settings import settings
from weft.device import registry
from weft.schedule.assigns import pending_writes, separate
from weft.schedule.context import ScheduleContext
from weft.schedule.grouper import group_reduces
from weft.schedule.kernels import create_kernels, storage_under
from weft.schedule.limits import limit_buffers
from weft.schedule.order import kernel_writes, waiting_for_each_other
from weft.schedule.realize_map import must_realize
from weft.schedule.rows import fuse_rows
from weft.schedule.simplify import simplify
from weft.schedule.storage import storage
from weft.schedule.uses import Uses, is_stored, uses_in
from weft.spec import kernel_graph, tensor
from weft.spec.check import verify
from weft.spec.passes import Pass, run_passes
from weft.uop import GroupOp, Ops, UOp, rewrite_map

CLEAN = simplify + storage


@dataclass
class Plan:
    """A graph on its way to kernels; each pass adds what it found.

    sink: the graph as it was asked for. crossed: memory whose old value is read from copies, since
    its writers would wait for each other. separated: nodes changed so that writes hurt nobody.
    cleaned: what every node of that became. uses: who reads whom in the cleaned graph.
    realized: the nodes that become kernels, sources first. stored: where every value stands then.
    """

    sink: UOp
    crossed: frozenset[UOp] = frozenset()
    separated: dict[UOp, UOp] = field(default_factory=dict)
    cleaned: dict[UOp, UOp] = field(default_factory=dict)
    uses: Uses = field(default_factory=Uses)
    realized: dict[UOp, None] = field(default_factory=dict)
    stored: dict[UOp, UOp] = field(default_factory=dict)

    @property
    def clean_sink(self) -> UOp:
        """The graph that is to be cut into kernels."""
        first = self.separated.get(self.sink, self.sink)
        return self.cleaned.get(first, first)


def _separate(plan: Plan, ctx: ScheduleContext) -> Plan:
    plan.separated = separate(plan.sink, plan.crossed)
    return plan


def _clean(plan: Plan, ctx: ScheduleContext) -> Plan:
    plan.cleaned = rewrite_map(plan.clean_sink, CLEAN, ctx)
    return plan


def _must_realize(plan: Plan, ctx: ScheduleContext) -> Plan:
    plan.uses = uses_in(plan.clean_sink)
    plan.realized = must_realize(plan.uses)
    return plan


def _group_reduces(plan: Plan, ctx: ScheduleContext) -> Plan:
    plan.realized = group_reduces(plan.uses, plan.realized)
    return plan


def _fuse_rows(plan: Plan, ctx: ScheduleContext) -> Plan:
    plan.realized = fuse_rows(plan.uses, plan.realized)
    return plan


def _limit_buffers(plan: Plan, ctx: ScheduleContext) -> Plan:
    plan.realized = limit_buffers(plan.uses, plan.realized, ctx)
    return plan


def _create_kernels(plan: Plan, ctx: ScheduleContext) -> Plan:
    plan.stored = create_kernels(plan.uses, plan.realized, ctx)
    return plan


def _verify_tensor(plan: Plan) -> None:
    pending = plan.clean_sink.toposort(gate=lambda u: not is_stored(u))
    verify(pending, tensor.complaint, "tensor")


def _verify_kernels(plan: Plan) -> None:
    for memory in plan.stored.values():
        verify(memory.toposort(), kernel_graph.complaint, "kernel_graph")


PASSES = (
    Pass("separate", _separate, _verify_tensor),  # copies of old values where order cannot help
    Pass("clean", _clean, _verify_tensor),  # what needs no kernel vanishes; windows of memory
    Pass("must_realize", _must_realize),  # what has to stand in memory whatever the grouping
    Pass("group_reduces", _group_reduces),  # reduces take their elementwise children along
    Pass("fuse_rows", _fuse_rows),  # reduces over the inner axes join the kernel of their rows
    Pass("limit_buffers", _limit_buffers),  # no kernel touches more memory than its device takes
    Pass("create_kernels", _create_kernels, _verify_kernels),  # ASSIGN(BUFFER, KERNEL)
)


def kernelize_map(sink: UOp, ctx: ScheduleContext | None = None) -> dict[UOp, UOp]:
    """What the nodes of a tensor graph become once their values are computed by kernels.

    sink: SINK over the graphs that are asked for. The map has an entry for every node (never
    movement) whose value a kernel now stores: a reshape of ASSIGN(BUFFER, KERNEL). Nodes that were
    fused away have none: they stay as they were. Raises CapabilityError, DeviceError and
    ScheduleError where something cannot be scheduled.
    """
    context = ctx or ScheduleContext(registry.capabilities)
    plan = Plan(sink)
    if settings.SPEC:
        _verify_tensor(plan)
    with trace.span("kernelize"):
        run_passes(PASSES, plan, context)
        if crossed := _crossed(plan):
            plan = Plan(sink, crossed)
            run_passes(PASSES, plan, context)
    return _becomes(plan)


def _crossed(plan: Plan) -> frozenset[UOp]:
    """The memory of writers each of which reads what another one overwrites.

    Which nodes share a kernel decides that, so it is known only afterwards.
    """
    if not pending_writes(plan.sink):
        return frozenset()
    made = UOp(Ops.SINK, src=tuple(plan.stored.values()))
    return frozenset(storage_under(w) for w in waiting_for_each_other(kernel_writes(made)))


def _becomes(plan: Plan) -> dict[UOp, UOp]:
    """The replacement of every original node whose value is stored now."""
    asked = {source.base for source in plan.sink.src}
    result: dict[UOp, UOp] = {}
    for node in plan.sink.toposort(gate=lambda u: not is_stored(u)):
        if node is plan.sink or node.op in GroupOp.Movement or is_stored(node):
            continue
        changed = plan.separated.get(node, node)
        final = plan.cleaned.get(changed, changed)
        base = final.base
        memory = plan.stored.get(base)
        if memory is None:
            if node in asked and base.op is Ops.CONST and final is not node:
                result[node] = final
        elif memory is not base or final is not node:
            at_shape = memory if memory.shape == base.shape else memory.reshape(base.shape)
            result[node] = final.substitute({base: at_shape})
    return result
