"""Blocked transpose: copy a large permuted array one small matrix at a time.

A block is one matrix of a stack that is transposed. A second-level cache holds several blocks. The
loops follow the order of the reads, with the two loops of a block innermost. Non-temporal stores
take the same time in any order, but loads wait for memory. The addresses that are read next are
then known to the pattern `block` of `prefetch/software_prefetch.py`.

Source: Lam, Rothberg & Wolf, "The cache performance and optimizations of blocked algorithms"
(ASPLOS 1991), for blocking.
"""

from __future__ import annotations

from weft.plugin import Access, AxisKind, Kernel, Ops, OptKind, UOp, trip_count
from weft_simd import thresholds
from weft_simd.choice.axes import output_bytes


def is_block(kernel: Kernel, load: Access, across: UOp, lane: UOp) -> bool:
    """Whether these two loops read one contiguous block, of a large copy that transposes it."""
    if kernel.reduces or kernel.fills or len(kernel.stores) != 1 or load.irregular:
        return False
    row, rows = trip_count(across), trip_count(lane)
    nbytes = row * rows * load.node.dtype.itemsize
    machine = kernel.target.compute.machine
    least = thresholds.page_share(machine, thresholds.LEAST_BLOCK)
    fits = least <= nbytes <= thresholds.l2_share(machine, thresholds.BLOCK)
    if load.steps.get(across) != 1 or load.steps.get(lane) != row or not fits:
        return False
    outer = [step for loop, step in load.steps.items() if loop not in (across, lane)]
    if not outer or any(step % (row * rows) or step <= 0 for step in outer):
        return False
    return 0 < kernel.target.compute.cache_bytes < output_bytes(kernel)


def order_by_reads(kernel: Kernel, lanes: dict[UOp, int]) -> bool:
    """Order the loops by the strides of the reads, those of a block innermost; whether it was
    done."""
    loads = [access for access in kernel.accesses if access.node.op is Ops.LOAD]
    if len(lanes) != 1 or len(loads) != 1:
        return False
    (lane,), (load,) = lanes, loads
    across = next((loop for loop, step in load.steps.items() if step == 1), None)
    if across is None or across is lane or not is_block(kernel, load, across, lane):
        return False
    kinds = frozenset({AxisKind.UPCAST})
    if kernel.axis_of(across, kinds) is None or kernel.axis_of(lane, kinds) is not None:
        return False

    def place(loop: UOp) -> tuple[int, int]:
        inside = (across, lane).index(loop) + 1 if loop in (across, lane) else 0
        return inside, -load.steps.get(loop, 0)

    for first in range(len(kernel.axes)):
        left = [
            (place(axis.loop), number)
            for number, axis in enumerate(kernel.axes)
            if number >= first and axis.kind is AxisKind.LOOP
        ]
        if kernel.axes[first].kind is AxisKind.LOOP and left and min(left)[1] != first:
            if not kernel.attempt(OptKind.SWAP, first, min(left)[1]):
                return False
    return True
