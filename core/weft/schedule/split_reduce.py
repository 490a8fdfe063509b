"""Two-step reduction: split a long reduce to few elements so that each step runs in parallel.
Also: split reduction, split-K, tree reduction, two-phase reduction.

The first step computes up to 256 partial results for each element, the second combines them. It is
profitable on devices that run a kernel in parallel, and along an axis that is read from memory: a
repeated element would only be loaded by more work items.

in:  spec.tensor
out: spec.tensor, every value equal (floats are summed in another order)

Source: XLA, pass TreeReductionRewriter; Harris, "Optimizing Parallel Reduction in CUDA", 2007.
"""

from __future__ import annotations

from weft.base.sequences import prod
from weft.base.settings import settings
from weft.schedule.arange import one_hot_selections
from weft.schedule.batched_edits import Edit
from weft.schedule.clean_reduce import replacement_reduce
from weft.schedule.context import ScheduleContext
from weft.schedule.use_def import SCALARS, Uses, is_stored
from weft.uop import GroupOp, Ops, Reduce, UOp

_MOST_PARTS = 256
_FEWEST_PARTS = 8
_FOR_THREADS = 64  # elements that are enough to be shared by threads as they are
_STORES = GroupOp.Meta | {Ops.CONTIGUOUS}
# how much of an expression is searched for memory that moves along an axis
_MOST_NODES = 64


def split_reduces(uses: Uses, ctx: ScheduleContext) -> dict[UOp, Edit]:
    """The reduces of a graph that are to be done in two steps."""
    if not settings.SPLIT_REDUCEOP:
        return {}
    found: dict[UOp, Edit] = {}
    picks = {
        reader for reader, _ in one_hot_selections(uses).picked
    }  # these become an address, not a loop
    for node in uses.order:
        if node.op is not Ops.REDUCE_AXIS or node.src[0] in picks:
            continue
        if (choice := split_of(node, ctx)) is not None:
            found[node] = lambda done, node=node, choice=choice: two_step_reduce(
                node, done.get(node.src[0], node.src[0]), *choice
            )
    return found


def split_of(node: UOp, ctx: ScheduleContext) -> tuple[int, int] | None:
    """(axis, number of parts) by which a reduce is to be split; None where it stays whole."""
    source, device = node.src[0], node.device
    extents = (*source.shape, *node.shape)
    if any(isinstance(extent, UOp) for extent in extents) or not isinstance(device, str):
        return None
    after = prod(node.shape)
    if prod(source.shape) < settings.REDUCEOP_SPLIT_THRESHOLD * after or after == 0:
        return None
    if not ctx.has_grid(device) and not (ctx.is_parallel(device) and after < _FOR_THREADS):
        return None
    counting = node.arg.op is Ops.MAX
    moving = [axis for axis in node.arg.axes if _varies_in_memory(source, axis, counting)]
    most = min(_MOST_PARTS, (1 << settings.REDUCEOP_SPLIT_SIZE) // after)
    for parts in range(most, _FEWEST_PARTS - 1, -1):
        for axis in moving:
            if source.shape[axis] % parts == 0 and source.shape[axis] > parts:
                return axis, parts
    return None


def two_step_reduce(node: UOp, source: UOp, axis: int, parts: int) -> UOp:
    """reduce(x) -> reduce(contiguous(reduce(x in parts)))"""
    reduce, shape, rank = node.arg, source.shape, len(source.shape)
    split = source.reshape((*shape[:axis], parts, shape[axis] // parts, *shape[axis + 1 :]))
    order = (*range(axis), *range(axis + 1, rank + 1), axis)
    first = replacement_reduce(node, split.permute(order), Reduce(reduce.op, reduce.axes))
    stored = UOp(Ops.CONTIGUOUS, node.dtype, (first,))
    last = replacement_reduce(node, stored, Reduce(reduce.op, (rank,)))
    return last.reshape(node.shape)


def _varies_in_memory(source: UOp, axis: int, counting: bool) -> bool:
    """Whether memory below an expression varies along an axis, and no counter does.

    Where a counter runs along the axis, elements are picked by their place: code generation finds
    them by address, which it could not do of a part. counting: it does so in sums only.
    """
    found = False
    stack, seen = [source], {source}
    while stack:
        node = stack.pop()
        if node.op in GroupOp.Elementwise and node.op is not Ops.BITCAST:
            stack.extend(s for s in node.src if s not in seen)
            seen.update(node.src)
            if len(seen) > _MOST_NODES:
                return False
        elif node.base.op in SCALARS or node.st.real_strides(ignore_valid=True)[axis] == 0:
            continue
        elif _depends_on_counter(node.base):
            if not counting:
                return False
        else:
            found = True
    return found


def _depends_on_counter(base: UOp) -> bool:
    """Whether a value depends on its index by a counter."""
    below = base.toposort(gate=lambda u: not is_stored(u) and u.op not in _STORES)
    return any(node.op is Ops.IOTA for node in below)
