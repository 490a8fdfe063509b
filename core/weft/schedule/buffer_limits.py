"""Buffer limits: store inputs of a kernel that would use more buffers than its device allows.

A WHERE of three buffers has four with its output. On a device that allows three it becomes two
halves, each zero where the other is not, which are combined bit by bit.

in:  the nodes that become kernels
out: the same, and the inputs that must be stored

Source: XLA, GPU fusion budget (FusionFitsInBudget) limits the operands of a fusion in the same
way.
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.schedule.context import ScheduleContext
from weft.schedule.use_def import Uses, is_stored
from weft.uop import Ops, PatternMatcher, UOp, UPat

narrow = PatternMatcher("narrow")
# an output and two inputs: with fewer nothing could be computed from two things
_FEWEST = 3
_BITS = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


@narrow.rule(UPat(Ops.WHERE, name="node"))
def split_where(node: UOp, ctx: ScheduleContext) -> UOp | None:
    """where(c, a, b) -> bits(where(c, a, 0)) | bits(where(c, 0, b))   of three buffers at most"""
    if not isinstance(node.device, str) or ctx.max_buffers(node.device) != _FEWEST:
        return None
    if any(source.base.op in (Ops.CONST, Ops.IOTA) for source in node.src):
        return None
    where, yes, no = node.src
    bits = dtypes.bool if node.dtype is dtypes.bool else _BITS[node.dtype.itemsize]
    yes, no = (arm if arm.dtype is bits else arm.bitcast(bits) for arm in (yes, no))
    nothing = UOp.const(bits, 0)
    halves = [where.where(yes, nothing), where.where(nothing, no)]
    both = UOp(Ops.OR, bits, tuple(half.contiguous() for half in halves))
    return both if node.dtype is bits else both.bitcast(node.dtype)


def limit_buffers(uses: Uses, realized: dict[UOp, None], ctx: ScheduleContext) -> dict[UOp, None]:
    """`realized` with inputs added until every kernel reads at most limit - 1 buffers."""
    stored = dict(realized)
    reads: dict[UOp, frozenset[UOp]] = {}
    for node in uses.order:
        if is_stored(node):
            reads[node] = frozenset((node,))
            continue
        device = node.device
        limit = ctx.max_buffers(device) if isinstance(device, str) else None
        if limit is None:
            reads[node] = frozenset((node,))
            continue
        below = _reads_below(node, reads, stored)
        inputs = list(dict.fromkeys(s.base for s in node.src if s.base in reads))
        # the output takes one place; store the input that reads most until the rest fits
        while len(below) + 1 > limit:
            heavy = max(inputs, key=lambda b: len(_buffers_read(b, reads, stored)), default=None)
            if heavy is None or len(_buffers_read(heavy, reads, stored)) <= 1:
                break
            stored[heavy] = None
            below = _reads_below(node, reads, stored)
        reads[node] = below
    return {node: None for node in uses.order if node in stored and not is_stored(node)}


def _buffers_read(
    node: UOp, reads: dict[UOp, frozenset[UOp]], stored: dict[UOp, None]
) -> frozenset[UOp]:
    """The buffers that a reader of `node` reads for it."""
    return frozenset((node,)) if node in stored else reads[node]


def _reads_below(
    node: UOp, reads: dict[UOp, frozenset[UOp]], stored: dict[UOp, None]
) -> frozenset[UOp]:
    found: frozenset[UOp] = frozenset()
    for source in node.src:
        base = source.base
        if base in reads and base.op is not Ops.DEVICE:
            seen = _buffers_read(base, reads, stored)
            found = found | seen if found else seen
    return found
