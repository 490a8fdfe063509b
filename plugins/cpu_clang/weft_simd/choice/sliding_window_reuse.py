"""Sliding-window reuse: compute overlapping windows together so that they share their loads.

Two windows of 3 x 3, one row apart, read four rows together instead of six. If both are unrolled in
one loop body, each shared element is loaded and tested once. A few windows give most of the gain,
and the unrolled terms bound their number. Additions without lanes are left to the compiler, which
vectorises them. It does not vectorise a maximum that propagates NaN.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), unroll-and-jam and
scalar replacement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from weft.plugin import Access, AxisKind, Kernel, Ops, OptKind, UOp, ceildiv, extent_of, loops_of
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP


def unroll_windows(
    kernel: Kernel, reduce: UOp, accesses: Sequence[Access], lanes_of: Mapping[UOp, int], most: int
) -> bool:  # fmt: skip
    """Unroll up to `most` windows of one loop into one body if that saves loads. The Opt is
    applied, or nothing is."""
    own = loops_of(reduce)
    terms = [extent_of(loop) for loop in own]
    if len(kernel.reduces) != 1 or kernel.in_place or kernel.fills:
        return False
    if reduce.arg.op is not Ops.MAX and lanes_of.keys().isdisjoint(kernel.nests[reduce]):
        return False
    known = [extent for extent in terms if isinstance(extent, int)]
    most = min(most, thresholds.WINDOW_TERMS // math.prod(known)) if len(known) == len(terms) else 0
    if any(axis.kind is AxisKind.UPCAST for axis in kernel.axes):
        return False
    best: tuple[float, int, int] | None = None
    for loop in sorted(kernel.nests[reduce].difference(own, lanes_of), key=lambda u: u.arg.id):
        place, extent = kernel.axis_of(loop, LOOP), extent_of(loop)
        if place is None or not isinstance(extent, int) or loop in kernel.once:
            continue
        for count in range(2, min(most, extent - 1) + 1):
            waste = ceildiv(extent, count) * count / extent
            cost = waste * sum(_rows(access, loop, own, count) for access in accesses)
            if best is None or (cost, count) < best[:2]:
                best = cost, count, place
    alone = sum(_rows(access, None, own, 1) for access in accesses)
    if best is None or best[0] > thresholds.WINDOW_LOADS * alone:
        return False
    return kernel.attempt(OptKind.UPCAST, best[2], best[1])


def _rows(access: Access, loop: UOp | None, own: Sequence[UOp], count: int) -> float:
    """The number of elements that a window reads if one body has `count` windows along a loop."""
    if access.node.op is not Ops.LOAD:
        return 0.0
    trip_counts = {one: extent_of(one) for one in own if access.depends(one)}
    alone = math.prod(count for count in trip_counts.values() if isinstance(count, int))
    apart = access.steps.get(loop, 0) if loop is not None else 0
    for one, extent in trip_counts.items():
        step = access.steps.get(one, 0)
        if not step or not isinstance(extent, int) or extent < thresholds.SHORTEST_WINDOW:
            continue
        if not apart % step and 0 < apart // step < extent:
            return alone / extent * (extent + (count - 1) * (apart // step)) / count
    return float(alone)
