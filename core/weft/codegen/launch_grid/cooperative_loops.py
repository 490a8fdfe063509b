"""Cooperative loops: divide reductions, and rows in shared memory, among the work items of a group.

- **Along memory.** Adjacent work items read adjacent elements of a row, then combine their results.
  `cost` selects their number: few if many rows keep the device busy, many if there are few rows.
- **Across memory.** If outputs are adjacent and the reduction has a stride, a warp covers the
  outputs, and several warps reduce a part each.

If a reduction is nested in a loop over the elements of a row, that loop is divided where possible,
and not the reduction. No barrier is then needed in each iteration.

Source: Harris, "Optimizing parallel reduction in CUDA" (NVIDIA 2007).
"""

from __future__ import annotations

import math

from weft.base.dtype import PtrDType
from weft.base.intmath import ceildiv
from weft.codegen.analysis.axes import Access
from weft.codegen.analysis.ranges import extent_of, loops_of
from weft.codegen.launch_grid.thresholds import (
    BUSY,
    COMBINE,
    FEW_OUTPUTS,
    FEWEST,
    OWN,
    ROW_ACCESSES,
    SCATTERED,
    SHORT,
    STACKED,
    STEP,
    WAVES,
)
from weft.codegen.launch_grid.trials import GridChoice, fits, trip_count
from weft.codegen.opt.opts import OptKind
from weft.codegen.thresholds import PRIVATE_ELEMENTS
from weft.device import Feature
from weft.uop import AxisKind, Ops, UOp

_INSIDE = frozenset({AxisKind.LOOP, AxisKind.REDUCE})

Loops = dict[UOp, UOp | None]


class Rows(GridChoice):
    """The choice of shared loops for one kernel."""

    def choose(self) -> bool:
        """Share rows and reductions among the work items of a group, if that costs less."""
        if not self.shares_memory or self.kernel.in_place:
            return False
        return self.across_memory() or self.along_memory()

    # ---- along memory -------------------------------------------------------------------------

    def along_memory(self) -> bool:
        kernel = self.kernel
        loops: Loops = {root: self.loop_to_share(root) for root in kernel.nests}
        main = max(kernel.reduces, key=self.size, default=None)
        shared_loop = None if main is None else loops[main]
        if shared_loop is None:
            return False
        extent = trip_count(extent_of(shared_loop))
        best = min(self.counts(extent), key=lambda count: self.cost(loops, count), default=1)
        alone = self.row_bytes() <= OWN or best == 1
        if best == 1 or (alone and self.cost(loops, best) >= self.cost(loops, 1)):
            return False
        for loop in dict.fromkeys(loop for loop in loops.values() if loop is not None):
            self.widen(loop, _INSIDE, best)
        shared = False
        for root in sorted(kernel.nests, key=self.size, reverse=True):
            loop = loops[root]
            place = None if loop is None else kernel.axis_of(loop, _INSIDE)
            if loop is not None and place is not None:
                if fits(trip_count(kernel.axes[place].extent), best):
                    shared = self.split(OptKind.GROUP, loop, _INSIDE, best) or shared
        if shared and best == self.compute.warp_size == self.warp_lanes(best):
            self.stack()
        return shared

    def stack(self) -> None:
        """Put several warps into a group, each with a row of its own: there is no barrier."""
        place, axis = next(self.places(AxisKind.GLOBAL), (None, None))
        if axis is None or self.kernel.fills or self.outputs < STACKED * WAVES * self.processors:
            return
        amount = next((n for n in (STACKED, STACKED // 2) if trip_count(axis.extent) % n == 0), 1)
        self.attempt(OptKind.LOCAL, place, amount)

    def counts(self, extent: int) -> list[int]:
        """The numbers of work items that could share a loop."""
        most = min(self.most, self.sizes[0])
        counts = {n for n in range(FEWEST, min(most, extent) + 1) if extent % n == 0}
        counts |= {n for n in range(self.warp, most + 1, self.warp) if fits(extent, n)}
        # what each keeps of a row should be in its registers
        short = {n for n in counts if self.row_bytes() <= n * OWN}
        return sorted(short or counts)

    def row_bytes(self) -> int:
        """Bytes of all local rows of one output."""
        arrays = (fill.src[0].src[0].src[0].dtype for fill in self.kernel.fills)
        return sum(array.nbytes for array in arrays if isinstance(array, PtrDType))

    def loop_to_share(self, root: UOp) -> UOp | None:
        """The loop of a nest to share: the longest with contiguous accesses.

        None if there is none: adjacent work items would each read a cache line of their own. With
        few outputs any loop is shared, because the device is idle otherwise.
        """
        kernel = self.kernel
        own = [
            loop
            for loop in kernel.nests[root]
            if kernel.axis_of(loop, _INSIDE) is not None and isinstance(extent_of(loop), int)
        ]
        if root.op is Ops.REDUCE:
            outside = [u for u in own if u not in loops_of(root) and self.is_row(u)]
            if outside and max(trip_count(extent_of(u)) for u in outside) >= self.warp:
                return max(outside, key=lambda u: (extent_of(u), u.arg.id))
            own = [loop for loop in own if loop in loops_of(root)]
        accesses = kernel.inside(root)
        near = [u for u in own if any(abs(access.steps.get(u, 0)) == 1 for access in accesses)]
        if not near and self.outputs < int(FEW_OUTPUTS * self.in_flight):
            near = own
        return max(near, key=lambda u: (extent_of(u), u.arg.id), default=None)

    def is_row(self, loop: UOp) -> bool:
        """Whether a loop iterates over elements of an output or of a local row."""
        place = self.kernel.axis_of(loop, {AxisKind.LOOP})
        return place is not None

    def cost(self, loops: Loops, count: int) -> float:
        """Iterations until all outputs are done, with `count` work items in a group."""
        work_of_all = memory = 0.0
        for root, loop in loops.items():
            work = self.size(root) / max(1, self.outputs)
            extent = 1 if loop is None else trip_count(extent_of(loop))
            if loop is not None and count > 1 and fits(extent, count):
                work *= ceildiv(extent, count) / extent
                if root.op is Ops.REDUCE and loop in loops_of(root):
                    again = self.repetitions(root)
                    work += self.combine_cost(count) * again
                    memory += 2 * count // self.warp_lanes(count) * root.dtype.itemsize
            elif count == 1 or loop is None:
                work *= SCATTERED
            work_of_all += work
        for fill in self.kernel.fills:
            row = fill.src[0].src[0].src[0].dtype
            assert isinstance(row, PtrDType)
            if ceildiv(row.size, count) > PRIVATE_ELEMENTS:  # else it stays in registers
                memory += row.nbytes
                work_of_all += ROW_ACCESSES * row.size / count
        busy = max(
            self.outputs * count / self.in_flight, self.outputs * memory / self.shared_in_all
        )
        return work_of_all * max(1.0, busy)

    def repetitions(self, reduce: UOp) -> int:
        """The number of times that a reduction is computed for one output."""
        own = math.prod(trip_count(extent_of(loop)) for loop in loops_of(reduce))
        return max(1, self.size(reduce) // (own * max(1, self.outputs)))

    def warp_lanes(self, count: int) -> int:
        """The number of adjacent work items of a group that combine results in registers."""
        warp = self.compute.warp_size if self.compute.has(Feature.WARP_REDUCE) else 0
        return math.gcd(count, warp) if warp else 1

    def combine_cost(self, count: int) -> float:
        """Iterations that the combination of the results of a group costs, with barriers."""
        lanes = self.warp_lanes(count)
        if lanes == 1:
            return STEP * math.sqrt(count) + COMBINE
        steps, warps = float(STEP * (lanes.bit_length() - 1)), count // lanes
        if warps > 1:
            steps += COMBINE + (warps if warps & (warps - 1) else STEP * (warps.bit_length() - 1))
        return steps

    # ---- across memory ------------------------------------------------------------------------

    def across_memory(self) -> bool:
        """A warp covers contiguous outputs, and several warps reduce a part each."""
        kernel = self.kernel
        if kernel.fills or not kernel.reduces:
            return False
        main = max(kernel.reduces, key=self.size)
        reads = [read for read in kernel.inside(main) if read.node.op is Ops.LOAD]
        if not reads:
            return False
        heaviest = max(reads, key=self.weight)
        near = [loop for loop, step in heaviest.steps.items() if abs(step) == 1]
        columns = next((u for u in near if kernel.axis_of(u, {AxisKind.GLOBAL}) is not None), None)
        loop = max(loops_of(main), key=lambda u: (trip_count(extent_of(u)), u.arg.id))
        if columns is None or loop in near or trip_count(extent_of(columns)) < FEWEST:
            return False
        place = kernel.axis_of(columns, {AxisKind.GLOBAL})
        if place is None or not isinstance(kernel.axes[place].extent, int):
            return False
        parts = self.parts(trip_count(extent_of(loop)))
        if parts < 2 or not isinstance(extent_of(loop), int):
            return False
        width = min(self.warp, trip_count(extent_of(columns)))
        self.split(OptKind.LOCAL, columns, {AxisKind.GLOBAL}, width)
        shared = False
        for root in kernel.reduces:
            own = max(loops_of(root), key=lambda u: (trip_count(extent_of(u)), u.arg.id))
            if kernel.axis_of(own, {AxisKind.REDUCE}) is not None:
                if trip_count(extent_of(own)) >= parts:
                    shared = self.split(OptKind.GROUP, own, {AxisKind.REDUCE}, parts) or shared
        return shared

    def parts(self, extent: int) -> int:
        """The number of work items that share a reduction across memory, to occupy the device."""
        parts = 1
        while (
            self.outputs * parts < int(BUSY * self.in_flight)
            and 2 * parts * self.warp <= self.most
            and extent >= 2 * parts * SHORT
        ):
            parts *= 2
        return parts

    def weight(self, access: Access) -> int:
        """The number of elements that an access reads in all."""
        loops = access.steps.keys() | access.irregular
        return math.prod(trip_count(extent_of(loop)) for loop in loops)
