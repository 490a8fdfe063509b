"""Launch-grid strategy: choose tiles, cooperative loops and groups of work items, in this order.
Also: memory coalescing, occupancy.

1. If a sum of products reads an operand again for many outputs, work items and groups get tiles
   (`tiles`).
2. Otherwise, if a reduction or the filling of a row is contiguous in memory, or is long with few
   outputs, a group divides it (`cooperative_loops`).
3. The rest of the grid is divided into groups, from the innermost axis outwards (`Groups`).

Source: Volkov, "Better performance at lower occupancy" (GTC 2010), for several outputs for each
work item.
"""

from __future__ import annotations

from weft.codegen.analysis.axes import Access
from weft.codegen.launch_grid.cooperative_loops import Rows
from weft.codegen.launch_grid.thresholds import FEWEST, RUN, SIDE, WARPS_OF_GROUP
from weft.codegen.launch_grid.tiles import Tiles
from weft.codegen.launch_grid.trials import GridChoice, trip_count
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import OptKind
from weft.uop import AxisKind, Ops, UOp

_GLOBAL = frozenset({AxisKind.GLOBAL})


def choose(kernel: Kernel) -> None:
    """Apply to `kernel` what suits it; nothing where the target has no groups."""
    if kernel.target.compute.limits.local_size is None:
        return
    if not Tiles(kernel).choose() and not Rows(kernel).choose():
        Groups(kernel).choose()


class Groups(GridChoice):
    """Groups of independent work items."""

    def choose(self) -> None:
        """Groups from the innermost axis of the grid outwards."""
        kernel = self.kernel
        last = next((axis for _, axis in self.places(AxisKind.GLOBAL)), None)
        if last is None:
            return
        if not kernel.reduces and not kernel.fills:
            if self.squares():
                return
            self.widen(last.loop, _GLOBAL, self.warp)
        threads = 1
        loops = dict.fromkeys(axis.loop for _, axis in self.places(AxisKind.GLOBAL))
        for number, loop in enumerate(loops):
            limit = min(self.most // threads, self.sizes[min(number, 2)])
            threads *= self.part(loop, limit, threads)
            if threads >= WARPS_OF_GROUP * self.warp or number == 2:
                break

    def part(self, loop: UOp, limit: int, others: int) -> int:
        """Work items of a group along an axis: how many there are."""
        place = self.kernel.axis_of(loop, _GLOBAL)
        if place is None or limit < 2:
            return 1
        extent = trip_count(self.kernel.axes[place].extent)
        amount = next((n for n in range(min(limit, extent), 0, -1) if extent % n == 0), 1)
        if amount * others < WARPS_OF_GROUP * self.warp and extent >= limit:
            # nothing divides it: the last group has idle work items
            round_one = 1 << (limit.bit_length() - 1)
            if self.split(OptKind.LOCAL, loop, _GLOBAL, round_one):
                return round_one
        if amount * others < FEWEST and extent > amount:
            return 1
        return amount if amount > 1 and self.attempt(OptKind.LOCAL, place, amount) else 1

    def squares(self) -> bool:
        """Square groups if reads are contiguous along one axis and writes along another.

        Both then access whole cache lines: each work item writes contiguous elements, and the rows
        of a group read contiguous elements.
        """
        kernel = self.kernel
        if kernel.in_place or len(kernel.stores) != 1:
            return False
        reads = [access for access in kernel.accesses if access.node.op is Ops.LOAD]
        (store,) = (access for access in kernel.accesses if access.node.op is Ops.STORE)
        written, read = (
            _contiguous_loop(store),
            {_contiguous_loop(access) for access in reads} - {None},
        )
        other = next((loop for loop in read if loop is not written and loop is not None), None)
        if written is None or other is None or written in read:
            return False
        extents = [self.extent(loop) for loop in (written, other)]
        if None in extents or min(trip_count(e) for e in extents if e is not None) < RUN * SIDE:
            return False
        if self.most < SIDE * SIDE:
            return False
        if trip_count(extents[0] or 1) % RUN == 0 and self.shares_memory:
            self.attempt(OptKind.UPCAST, kernel.axis_of(written, _GLOBAL), RUN)
        done = self.split(OptKind.LOCAL, written, _GLOBAL, SIDE)
        return self.split(OptKind.LOCAL, other, _GLOBAL, SIDE) or done

    def extent(self, loop: UOp) -> int | None:
        place = self.kernel.axis_of(loop, _GLOBAL)
        extent = None if place is None else self.kernel.axes[place].extent
        return extent if isinstance(extent, int) else None


def _contiguous_loop(access: Access) -> UOp | None:
    """The loop along which an access is contiguous."""
    return next((loop for loop, step in access.steps.items() if abs(step) == 1), None)
