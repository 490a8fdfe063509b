"""Scheduler pipeline: the passes from a tensor graph to kernels, in their order.

in:  spec.tensor
out: spec.kernel_graph, as a map from nodes to what holds their value
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from weft.base import trace
from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import any_images
from weft.base.settings import settings
from weft.device import registry
from weft.schedule.arange import is_counter
from weft.schedule.assigns import (
    composed,
    pending_writes,
    resolve_hazards,
    restore_removed_values,
)
from weft.schedule.batched_edits import Edit, rebuild
from weft.schedule.buffer_limits import limit_buffers, narrow
from weft.schedule.context import ScheduleContext
from weft.schedule.dead_write_elimination import dead_write_edits
from weft.schedule.fuse_marks import (
    NONE,
    Marks,
    mark_removals,
    marked,
    rebuilt_marks,
    unfused_marks,
)
from weft.schedule.fusion_candidates import Group
from weft.schedule.images import images
from weft.schedule.item_order import cyclic_writes, kernel_writes
from weft.schedule.kernel_fusion import group_kernels
from weft.schedule.kernels import create_kernels, root_buffer
from weft.schedule.multi import PartitionedGraph, partition
from weft.schedule.realize_map import must_realize
from weft.schedule.reduce_fusion import group_reduces
from weft.schedule.simplify import simplify
from weft.schedule.split_reduce import split_reduces
from weft.schedule.storage import storage
from weft.schedule.use_def import Uses, is_pending, is_stored, uses_in
from weft.schedule.view_pushdown import pushdown_edits
from weft.spec import kernel_graph, tensor
from weft.spec.check import verify
from weft.spec.passes import Pass, Picture, run_passes
from weft.uop import GroupOp, Ops, UOp, rewrite_map, sharding_seen

CLEAN = simplify + storage + narrow
CLEAN_WITH_IMAGES = images + CLEAN
# rules that look at readers see what others changed only in the next round
_MOST_ROUNDS = 4


@dataclass
class Plan:
    """A graph on its way to kernels, to which each pass adds its results.

    sink: the given graph. crossed: memory whose old value is read from copies, since its writers
    depend on each other. expansion: the partitioned graph, None without sharded values. separated:
    replacements that resolve hazards of writes. cleaned: the simplified nodes. uses: def-use chains
    of the simplified graph. marks: the requests of FUSE marks. realized: the nodes that become
    kernels, sources first. groups: the fused kernels. stored: the memory of every value.
    """

    sink: UOp
    crossed: frozenset[UOp] = frozenset()
    expansion: PartitionedGraph | None = None
    separated: dict[UOp, UOp] = field(default_factory=dict[UOp, UOp])
    cleaned: dict[UOp, UOp] = field(default_factory=dict[UOp, UOp])
    uses: Uses = field(default_factory=Uses)
    marks: Marks = NONE
    realized: dict[UOp, None] = field(default_factory=dict[UOp, None])
    groups: list[Group] = field(default_factory=list[Group])
    stored: dict[UOp, UOp] = field(default_factory=dict[UOp, UOp])

    @property
    def clean_sink(self) -> UOp:
        """The graph that is to be cut into kernels."""
        first = self.separated.get(self.sink, self.sink)
        return self.cleaned.get(first, first)

    def picture(self) -> Picture:
        """For observers: the graph with its realized nodes marked; in the end the kernels."""
        if self.stored:
            return Picture(UOp(Ops.SINK, src=tuple(dict.fromkeys(self.stored.values()))))
        return Picture(self.clean_sink, dict.fromkeys(self.realized, "realized"))


def _expand_shards(plan: Plan, ctx: ScheduleContext) -> Plan:
    """SPMD partitioning: replace sharded values by one graph per device, with copies."""
    plan.expansion = partition(plan.sink, ctx) if sharding_seen() else None
    if plan.expansion is not None:
        plan.sink = plan.expansion.sink
    return plan


def _separate(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Write-after-read hazards: copy old values that no order of kernels can preserve."""
    plan.separated = resolve_hazards(plan.sink, plan.crossed, ctx.is_shared)
    return plan


def _clean(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Algebraic simplification: fold constants, remove copies, make slices buffer views."""
    rules = CLEAN_WITH_IMAGES if any_images() else CLEAN
    sink = plan.clean_sink
    plan.cleaned = rewrite_map(sink, rules, ctx.for_graph(sink))
    if copies := restore_removed_values(sink, plan.cleaned):
        plan.separated = composed(plan.separated, copies)
        sink = copies[sink]
        plan.cleaned = rewrite_map(sink, rules, ctx.for_graph(sink))
    return plan


def _views(plan: Plan, ctx: ScheduleContext) -> Plan:
    """View pushdown: move reshapes and permutes below reduces; eliminate dead writes."""
    plan.uses = uses_in(plan.clean_sink)
    for _ in range(_MOST_ROUNDS):
        if not (edits := dead_write_edits(plan.uses) or pushdown_edits(plan.uses)):
            break
        _edit(plan, edits)
    return plan


def _split_reduces(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Split reductions: do a long reduce in two steps on parallel devices."""
    if edits := split_reduces(plan.uses, ctx):
        _edit(plan, edits)
    return plan


def _fuse_marks(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Fusion marks: keep in one kernel what the user marked with `Tensor.fuse()`."""
    if edits := mark_removals(plan.uses):
        marks = marked(plan.uses)
        marks = rebuilt_marks(marks, _edit(plan, edits))
        stored = must_realize(plan.uses, prefers_narrow=ctx.prefers_narrow)
        realized = group_reduces(plan.uses, stored)
        realized = limit_buffers(plan.uses, realized, ctx)
        plan.marks = unfused_marks(marks, group_kernels(plan.uses, realized, ctx))
    return plan


def _edit(plan: Plan, edits: dict[UOp, Edit]) -> dict[UOp, UOp]:
    done = rebuild(plan.clean_sink, edits)
    plan.cleaned = {node: done.get(became, became) for node, became in plan.cleaned.items()}
    plan.uses = uses_in(plan.clean_sink)
    return done


def _must_realize(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Realization: find the values that must be stored before any fusion."""
    plan.realized = must_realize(plan.uses, plan.marks, ctx.prefers_narrow)
    return plan


def _group_reduces(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Epilogue fusion: let each reduce compute its elementwise consumers."""
    plan.realized = group_reduces(plan.uses, plan.realized, plan.marks)
    return plan


def _limit_buffers(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Buffer limits: store inputs so that no kernel exceeds its device's buffer count."""
    plan.realized = limit_buffers(plan.uses, plan.realized, ctx)
    return plan


def _group_kernels(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Kernel fusion: merge kernels that share loops, with several outputs and reduces."""
    plan.groups = group_kernels(plan.uses, plan.realized, ctx)
    return plan


def _create_kernels(plan: Plan, ctx: ScheduleContext) -> Plan:
    """Kernel creation: replace each fused group by ASSIGN(BUFFER, KERNEL)."""
    plan.stored = create_kernels(plan.uses, plan.groups, ctx)
    return plan


def _verify_tensor(plan: Plan) -> None:
    pending = plan.clean_sink.toposort(gate=is_pending)
    verify(pending, tensor.complaint, "tensor")


def _verify_kernels(plan: Plan) -> None:
    for memory in plan.stored.values():
        verify(memory.toposort(), kernel_graph.complaint, "kernel_graph")


PASSES = (
    Pass("expand_shards", _expand_shards, _verify_tensor),
    Pass("separate", _separate, _verify_tensor),
    Pass("clean", _clean, _verify_tensor),
    Pass("views", _views, _verify_tensor),
    Pass("split_reduces", _split_reduces, _verify_tensor),
    Pass("fuse_marks", _fuse_marks, _verify_tensor),
    Pass("must_realize", _must_realize),
    Pass("group_reduces", _group_reduces),
    Pass("limit_buffers", _limit_buffers),
    Pass("group_kernels", _group_kernels),
    Pass("create_kernels", _create_kernels, _verify_kernels),
)


def kernelize_map(sink: UOp, ctx: ScheduleContext | None = None) -> dict[UOp, UOp]:
    """The replacements of the nodes of a tensor graph by the kernels that compute them.

    sink: SINK over the requested graphs. The map has an entry for every node (never
    movement) whose value a kernel now stores: a reshape of ASSIGN(BUFFER, KERNEL). Nodes that were
    fused away have none: they stay as they were. The sink has an entry where processes compute
    values that other processes read. Raises CapabilityError, DeviceError and ScheduleError where
    something cannot be scheduled.
    """
    context = ctx or ScheduleContext(registry.capabilities)
    plan = Plan(sink)
    telling = trace.enabled("schedule")
    order = sink.toposort() if telling else ()
    # scheduling depends on which BUFFERs share memory, and may change it
    shared = [u for u in order if u.op is Ops.BUFFER and context.is_shared(u)]
    if settings.SPEC:
        _verify_tensor(plan)
    with trace.span("kernelize"):
        run_passes(PASSES, plan, context)
        order = plan.sink.toposort(gate=is_pending)
        if crossed := _crossed(plan, order):
            plan = Plan(sink, crossed)
            run_passes(PASSES, plan, context)
            order = plan.sink.toposort(gate=is_pending)
    becomes = _becomes(plan, order)
    if plan.expansion is not None:
        stored = becomes
        becomes = plan.expansion.collected(stored)
        if plan.expansion.together:
            becomes[sink] = plan.expansion.requested(sink, becomes, stored)
    if telling:
        trace.point("schedule", sink=sink, becomes=becomes, context=context, shared=shared)
    return becomes


def _crossed(plan: Plan, order: Iterable[UOp]) -> frozenset[UOp]:
    """The memory of writers each of which reads what another one overwrites.

    Which nodes share a kernel decides that, so it is known only afterwards.
    """
    if not pending_writes(order):
        return frozenset()
    made = UOp(Ops.SINK, src=tuple(plan.stored.values()))
    return frozenset(root_buffer(w) for w in cyclic_writes(kernel_writes(made)))


def _becomes(plan: Plan, order: Iterable[UOp]) -> dict[UOp, UOp]:
    """The replacement of every original node whose value is stored now."""
    asked = {source.base for source in plan.sink.src}
    result: dict[UOp, UOp] = {}
    for node in order:
        if node is plan.sink or node.op in GroupOp.Movement or is_stored(node):
            continue
        changed = plan.separated.get(node, node)
        final = plan.cleaned.get(changed, changed)
        base = final.base
        memory = plan.stored.get(base)
        if memory is None:
            if node in asked and final is not node and (base.op is Ops.CONST or is_counter(base)):
                result[node] = final
        elif memory is not base or final is not node:
            at_shape = memory if memory.shape == base.shape else memory.reshape(base.shape)
            result[node] = final.substitute({base: at_shape})
    return result
