"""No kernel touches more buffers than its device takes: inputs are stored first where it would.

in:  the nodes that become kernels      out: the same, and what had to be stored
"""

from __future__ import annotations

from weft.schedule.context import ScheduleContext
from weft.schedule.uses import Uses, is_stored
from weft.uop import Ops, UOp


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
            heavy = max(inputs, key=lambda b: len(_seen(b, reads, stored)), default=None)
            if heavy is None or len(_seen(heavy, reads, stored)) <= 1:
                break
            stored[heavy] = None
            below = _reads_below(node, reads, stored)
        reads[node] = below
    return {node: None for node in uses.order if node in stored and not is_stored(node)}


def _seen(node: UOp, reads: dict[UOp, frozenset[UOp]], stored: dict[UOp, None]) -> frozenset[UOp]:
    return frozenset((node,)) if node in stored else reads[node]


def _reads_below(
    node: UOp, reads: dict[UOp, frozenset[UOp]], stored: dict[UOp, None]
) -> frozenset[UOp]:
    sources = (s.base for s in node.src if s.base in reads and s.base.op is not Ops.DEVICE)
    return frozenset().union(*(_seen(base, reads, stored) for base in sources))
