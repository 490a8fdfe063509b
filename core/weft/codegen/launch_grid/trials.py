"""Trial of Opts: attempt an Opt, find axes and round up extents, for all launch-grid choices.

Source: none known; sound because `Kernel.attempt` checks every Opt.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from weft.base.intmath import ceildiv
from weft.codegen.analysis.axes import Axis
from weft.codegen.analysis.ranges import extent_of
from weft.codegen.launch_grid import thresholds
from weft.codegen.launch_grid.thresholds import FARTHEST, GROUP, UNKNOWN
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import OptKind
from weft.device import Feature
from weft.uop import AxisKind, Ops, UOp


def trip_count(extent: int | UOp) -> int:
    """An extent as a number."""
    return extent if isinstance(extent, int) else UNKNOWN


class GridChoice:
    """One kernel of a launch grid, to which a choice is applied."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.compute = compute = kernel.target.compute
        limits, machine = compute.limits, compute.machine
        self.sizes = limits.local_size or (1, 1, 1)
        self.most = min(GROUP, limits.local_threads or GROUP)
        has_shared = compute.has(Feature.BARRIER) and compute.has(Feature.SHARED)
        self.emulated = compute.has(Feature.EMULATED_GROUPS)
        self.warp = thresholds.warp_of(machine)
        self.processors = thresholds.processors_of(machine)
        self.in_flight = thresholds.work_items_of(machine)
        self.shared_in_all = thresholds.shared_bytes_of(machine)
        self.shares_memory = has_shared and not self.emulated
        self.outputs = math.prod(
            trip_count(axis.extent) for axis in kernel.axes if axis.kind is AxisKind.GLOBAL
        )

    def attempt(self, kind: OptKind, place: int | None, amount: int) -> bool:
        """Apply an Opt where it is legal."""
        return self.kernel.attempt(kind, place, amount)

    def places(self, kind: AxisKind) -> Iterator[tuple[int, Axis]]:
        """The axes of one kind that have a fixed extent, innermost first."""
        for place in range(len(self.kernel.axes) - 1, -1, -1):
            axis = self.kernel.axes[place]
            if axis.kind is kind and isinstance(axis.extent, int):
                yield place, axis

    def split(self, kind: OptKind, loop: UOp, among: Collection[AxisKind], amount: int) -> bool:
        """Split a part of this size off a loop, whose extent is rounded up first if necessary."""
        place = self.kernel.axis_of(loop, among)
        if place is None or amount < 2:
            return False
        self.attempt(OptKind.PADTO, place, amount)
        return self.attempt(kind, place, amount)

    def size(self, root: UOp) -> int:
        """Iterations of the innermost loop of a STORE or REDUCE in all."""
        return math.prod(trip_count(extent_of(loop)) for loop in self.kernel.nests[root])

    def widen(self, loop: UOp, kinds: Collection[AxisKind], parts: int) -> int:
        """Vectorize a loop if all of its accesses are contiguous; the number of lanes.

        parts: how many work items the rest of the loop is to be divided among.
        """
        kernel, compute = self.kernel, self.compute
        moved = [access for access in kernel.accesses if access.depends(loop)]
        if not self.shares_memory or not moved or kernel.in_place:
            return 1
        if any(loop in one.irregular or one.steps[loop] != 1 for one in moved):
            return 1
        kinds_of_data = {
            one.node.src[1].dtype if one.node.op is Ops.STORE else one.node.dtype for one in moved
        }
        width = min(max(compute.vector_widths.get(dtype, (1,))) for dtype in kinds_of_data)
        place, extent = kernel.axis_of(loop, kinds), trip_count(extent_of(loop))
        if place is None or width < 2 or extent % width or not fits(extent // width, parts):
            return 1
        return width if self.attempt(OptKind.VECTOR, place, width) else 1


def fits(extent: int, parts: int) -> bool:
    """Whether an extent is a multiple of `parts`, or rounding it up costs little."""
    return ceildiv(extent, parts) * parts <= FARTHEST * extent or extent % parts == 0
