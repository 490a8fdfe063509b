"""Products of block-quantised rows: lanes and tiles for sums of packed dot products.
Also: quantised GEMV.

in:  a kernel with a float sum over blocks, each term of which is an integer sum of products of
     8-bit numbers
out: lanes along words of four numbers, all terms of the integer sum unrolled, a few rows at once

The integer sum stays in a register: it is scaled and added to the float sum of each lane. The rows
that are read once are as many independent sums as hide the latency of an addition.

Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, VNNI; Allen & Kennedy,
"Optimizing Compilers for Modern Architectures" (2001), unroll-and-jam.
"""

from __future__ import annotations

from weft.plugin import (
    Access,
    AxisKind,
    Kernel,
    Ops,
    OptKind,
    PairDot,
    UOp,
    dtypes,
    extent_of,
    loops_of,
    trip_count,
    values_of,
)
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP, REDUCE, all_or_nothing


def apply_block_product(kernel: Kernel) -> bool:
    """Apply what such a product needs, all of it or nothing; False for other kernels."""
    if len(kernel.reduces) != 2 or kernel.fills or len(kernel.stores) != 1:
        return False
    units = [u for u in kernel.target.compute.pair_dots if u.terms == 4]
    inner = next((r for r in kernel.reduces if r.dtype is dtypes.int), None)
    outer = next((r for r in kernel.reduces if dtypes.is_float(r.dtype)), None)
    if not units or inner is None or outer is None or inner not in outer.toposort():
        return False
    lane = _word_loop(kernel, inner, outer)
    if lane is None:
        return False
    return all_or_nothing(kernel, lambda trial: _apply_opts(trial, units, inner, outer, lane))


def _factors(kernel: Kernel, inner: UOp) -> list[Access]:
    """The reads of 8-bit numbers that the terms of the integer sum multiply."""
    values = values_of(inner)
    if inner.arg.op is not Ops.ADD or len(values) != 1 or values[0].op is not Ops.MUL:
        return []
    below = [node.toposort(gate=lambda u: u.op is not Ops.INDEX) for node in values[0].src]
    return [
        access
        for access in kernel.inside(inner)
        if access.node.dtype.itemsize == 1 and any(access.node in nodes for nodes in below)
    ]


def _word_loop(kernel: Kernel, inner: UOp, outer: UOp) -> UOp | None:
    """The loop over the words of a block: the numbers of a word are neighbours in memory, and so
    are the words; None if a factor is read in another way."""
    factors = _factors(kernel, inner)
    if len(factors) < 2 or any(access.irregular for access in factors):
        return None
    for term in loops_of(inner):
        for lane in loops_of(outer):
            steps = {(access.steps.get(term), access.steps.get(lane)) for access in factors}
            if extent_of(term) == 4 and steps == {(1, 4)}:
                return lane
    return None


def _apply_opts(kernel: Kernel, units: list[PairDot], inner: UOp, outer: UOp, lane: UOp) -> bool:
    place = kernel.axis_of(lane, REDUCE)
    widths = sorted({width for unit in units for width in unit.lanes}, reverse=True)
    width = next((n for n in widths if trip_count(lane) % n == 0), 0)
    if place is None or not width or not kernel.attempt(OptKind.VECTOR, place, width):
        return False
    for loop in loops_of(inner):
        place = kernel.axis_of(loop, REDUCE)
        if place is None or not kernel.attempt(OptKind.UNROLL, place, 0):
            return False
    return _tile_outputs(kernel, _unroll_sub_blocks(kernel, outer, lane))


def _unroll_sub_blocks(kernel: Kernel, outer: UOp, lane: UOp) -> int:
    """Unroll the loops over the sub-blocks of a block, so that the bits of their scales are at
    known places; how many sums that makes."""
    count = 1
    loops = [loop for loop in loops_of(outer) if loop is not lane]
    for loop in reversed(loops[1:]):  # the first is over blocks
        place, trips = kernel.axis_of(loop, REDUCE), trip_count(loop)
        if place is None or count * trips > thresholds.SUB_BLOCKS:
            break
        if trips > 1 and not kernel.attempt(OptKind.UNROLL, place, 0):
            break
        count *= trips
    return count


def _tile_outputs(kernel: Kernel, sums: int) -> bool:
    """Unroll all rows of the activations, and as many of the weights as hide the latency.

    sums: how many sums each row has already.
    """
    outputs = [axis.loop for axis in kernel.axes if axis.kind is AxisKind.LOOP]
    largest = max(outputs, key=trip_count, default=None)
    instances = 1
    for loop in outputs:
        place = kernel.axis_of(loop, LOOP)
        if loop is not largest and place is not None and trip_count(loop) > 1:
            if trip_count(loop) > thresholds.BLOCK_ROWS:
                return False
            if not kernel.attempt(OptKind.UPCAST, place, 0):
                return False
            instances *= trip_count(loop)
    if largest is None or (place := kernel.axis_of(largest, LOOP)) is None:
        return True
    rows = max(1, thresholds.BLOCK_SUMS // instances)
    if sums > 1:
        rows = min(rows, thresholds.SUPER_BLOCKS)
    while rows > 1:
        if trip_count(largest) % rows == 0 and kernel.attempt(OptKind.UPCAST, place, rows):
            break
        rows //= 2
    return True
