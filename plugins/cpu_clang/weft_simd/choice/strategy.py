"""Optimisation strategy for one processor: vectors, register tiles, packing, loop order, threads.
Also: cache blocking, loop tiling.

The decisions are made in the order of `choose`. The target has no
launch grid. `loop_nest_costs` holds the cost model. `vector_lanes` chooses vectors.
`register_tiling` chooses tiles and unrolling. This module chooses the order of output loops.

Source: Lam, Rothberg & Wolf, "The cache performance and optimizations of blocked algorithms"
(ASPLOS 1991), for the strips of an operand that stay in cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import AxisKind, Kernel, Opt, OptKind, UOp, ceildiv, loops_of, ranges_of
from weft_simd import thresholds
from weft_simd.choice import (
    block_products,
    blocked_transpose,
    permute_traversal,
    reduction_loop_order,
    row_batching,
    skinny_gemm,
    thread_parallelism,
)
from weft_simd.choice.axes import instances_of
from weft_simd.choice.loop_nest_costs import estimated_iterations, estimated_trips
from weft_simd.choice.register_tiling import RegisterTiles
from weft_simd.choice.vector_lanes import VectorLanes


def choose(kernel: Kernel) -> Sequence[Opt]:
    """The optimisations for a kernel, in the order in which they are to be applied."""
    if block_products.apply_block_products(kernel):
        thread_parallelism.parallelize(kernel)
        return kernel.applied
    choice = _Choice(kernel)
    for reduce in choice.reduces:
        reduction_loop_order.order_by_stride(kernel, reduce, choice.reads_of(reduce))
    choice.vectors()
    choice.blocks()
    choice.batch_gathered_rows()
    for reduce in choice.reduces:
        choice.tile(reduce)
    row_batching.batch_rows(kernel, choice.inside, choice.lanes_of)
    for reduce in choice.reduces:
        choice.overlap(reduce)
    for reduce in choice.reduces:
        choice.unroll(reduce)
    if not any(choice.panels.fill(lane) for lane in choice.lanes_of):
        for reduce in choice.reduces:
            if not choice.apply_skinny_gemm(reduce):
                choice.order(reduce)
    if not permute_traversal.order_by_reads(kernel, choice.lanes_of):
        blocked_transpose.order_by_reads(kernel, choice.lanes_of)
    thread_parallelism.parallelize(kernel)
    return kernel.applied


class _Choice(VectorLanes, RegisterTiles):
    """All decisions, and the order of output loops."""

    def apply_skinny_gemm(self, reduce: UOp) -> bool:
        """Read a large matrix row by row if the result has few rows."""
        lane = next((u for u in self.kernel.nests[reduce] if u in self.lanes_of), None)
        if lane is None or lane in loops_of(reduce):
            return False
        return skinny_gemm.apply_skinny_gemm(self.kernel, reduce, lane, self.inside[reduce])

    def order(self, reduce: UOp) -> None:
        """Interchange loops: the one over strips of the operand that is read again is outermost.

        A strip fits a cache: one iteration of the loop if the lanes are along it, as many as fit
        if they are along the sum.
        """
        kernel, nest = self.kernel, self.kernel.nests[reduce]
        loops = [
            (i, axis)
            for i, axis in enumerate(kernel.axes)
            if axis.kind is AxisKind.LOOP and axis.loop in nest
        ]
        if len(loops) != 2:
            return
        (first, outer), (second, inner) = loops
        own = loops_of(reduce)
        along = inner.loop in self.lanes_of
        if outer.loop is inner.loop or not (along or any(loop in self.lanes_of for loop in own)):
            return
        if any(outer.loop in ranges_of(fill) for fill in kernel.fills):
            return
        if any(loops_of(r) != own and outer.loop in kernel.nests[r] for r in kernel.reduces):
            return  # the other reduction would be repeated
        stationary = thresholds.l2_share(kernel.target.compute.machine, thresholds.STATIONARY)
        terms = estimated_iterations(loops_of(reduce))
        for access in self.inside[reduce]:
            if access.depends(outer.loop) or not access.depends(inner.loop):
                continue
            strip = terms * instances_of(kernel, inner.loop) * access.node.dtype.itemsize
            whole = terms * estimated_trips(inner.loop) * access.node.dtype.itemsize
            if not strip <= stationary < thresholds.SMALL_OPERAND * whole:
                return
            if along:
                kernel.attempt(OptKind.SWAP, first, second)
            elif stationary < whole and isinstance(inner.extent, int):
                strips = ceildiv(inner.extent, stationary // strip)
                part = ceildiv(inner.extent, strips)
                if part > 1 and kernel.attempt(OptKind.SPLIT, second, part):
                    kernel.attempt(OptKind.SWAP, first, second)
            return
