"""Operand packing: copy operands that are read again into contiguous panels.

A panel is filled once and read in many iterations: a strip of matrix columns serves all rows.
Packing is profitable for each of three reasons. Gathered lanes are gathered once. Strided reads
that use few cache sets and many pages become contiguous. Conditions are tested once.

A panel must fit the second-level cache. If the whole reduction is too long for that, KEEP splits it
into parts and holds the partial sums in a local array.

Source: Goto & van de Geijn, "Anatomy of high-performance matrix multiplication" (ACM TOMS 2008);
Van Zee & van de Geijn, "BLIS" (ACM TOMS 2015).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from weft.plugin import (
    Access,
    AxisKind,
    Feature,
    Kernel,
    Ops,
    OptKind,
    UOp,
    ceildiv,
    extent_of,
    iteration_count,
    loops_of,
    round_up,
    trip_count,
)
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP, REDUCE, instances_of, known_extent
from weft_simd.choice.reduction_loop_order import in_order


class Panels:
    """The panels of one kernel. inside: its accesses by REDUCE or STORE; lanes: of one vector."""

    def __init__(
        self, kernel: Kernel, inside: Mapping[UOp, Sequence[Access]], reduces: Sequence[UOp],
        lanes: int,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.inside = inside
        self.reduces = reduces
        self.lanes = lanes
        self.scratch_bytes = kernel.target.compute.limits.scratch_bytes
        machine = kernel.target.compute.machine
        self.unpacked = thresholds.l1_share(machine, thresholds.UNPACKED)
        self.row_panel = thresholds.l1_share(machine, thresholds.ROW_PANEL)
        self.panel = thresholds.l2_share(machine, thresholds.PANEL)
        self.whole_panel = thresholds.l2_share(machine, thresholds.WHOLE_PANEL)
        self.near = thresholds.l2_share(machine, thresholds.NEAR)
        self.conflict = thresholds.conflict_bytes(machine)
        self.far = thresholds.l2_share(machine, thresholds.FAR)
        self.possible = self.scratch_bytes > 0 and not kernel.sums_in_place and not kernel.fills

    def gather_reuse(self, access: Access, lane: UOp) -> int:
        """The iterations that read a panel of contiguous elements for these lanes; 1: none."""
        if not self.possible or self._is_summed(lane):
            return 1
        reduce = next((r for r in self.reduces if access in self.inside[r]), None)
        if reduce is None or self._reduction_block(reduce, lane) is None:
            return 1
        return iteration_count(self._shared(access, reduce, lane), 1)

    def reuse_count(self, access: Access, reduce: UOp) -> int:
        """The number of iterations of output loops that read the same elements of a reduction."""
        loops = self.kernel.nests[reduce].difference(loops_of(reduce))
        return iteration_count((loop for loop in loops if not access.depends(loop)), 1)

    def fill(self, lane: UOp) -> bool:
        """Apply the Opts that fill panels for these lanes; False if not profitable or not legal."""
        if not self.possible or self._is_summed(lane):
            return False
        trial = self.kernel.copy()
        loops, largest = self._reuse_loops(lane), 0
        for reduce in self.reduces:
            terms = iteration_count(loops_of(reduce), 1)
            largest = max(largest, terms * instances_of(self.kernel, lane) * reduce.dtype.itemsize)
        if not loops or (largest < self.unpacked and not self._needs_gather(lane)):
            return False
        if self._is_near(lane, loops):
            return False
        first = _move_innermost(trial, loops)
        if first is None or not self._fill(trial, lane, first):
            return False
        self.kernel.become(trial)
        return True

    # ---- what is shared -----------------------------------------------------------------------

    def _is_summed(self, lane: UOp) -> bool:
        return any(lane in loops_of(reduce) for reduce in self.reduces)

    def _shared(self, access: Access, reduce: UOp, lane: UOp) -> list[UOp]:
        """The output loops whose many iterations all read what an access of the lanes reads."""
        if not access.depends(lane):
            return []
        loops = [
            loop
            for loop in sorted(self.kernel.nests[reduce], key=lambda u: u.arg.id)
            if loop is not lane
            and loop not in loops_of(reduce)
            and not access.depends(loop)
            and isinstance(extent_of(loop), int)
        ]
        return loops if iteration_count(loops, 1) >= thresholds.REUSED else []

    def _reuse_loops(self, lane: UOp) -> list[UOp]:
        """The loops that are left and share what the lanes read, in every sum that has such."""
        shared: list[UOp] | None = None
        for reduce in self.reduces:
            found = (self._shared(access, reduce, lane) for access in self.inside[reduce])
            mine = next((loops for loops in found if loops), None)
            if mine is not None:
                shared = mine if shared is None else [loop for loop in shared if loop in mine]
        return [u for u in shared or () if self.kernel.axis_of(u, LOOP) is not None]

    def _needs_gather(self, lane: UOp) -> bool:
        """Whether lanes read what is not contiguous, or has a gate, or consists of packed words."""
        return any(
            access.depends(lane)
            and (
                lane in access.irregular
                or access.steps[lane] != 1
                or access.node.op is not Ops.LOAD
            )
            for reduce in self.reduces
            for access in self.inside[reduce]
        )

    def _is_near(self, lane: UOp, loops: Sequence[UOp]) -> bool:
        """Whether lanes read an operand that needs no packing: in vectors, of rows that do not
        conflict in a cache set, from a cache that holds all of it. Many tiles still profit."""
        if (
            self._needs_gather(lane)
            or len(self.reduces) != 1
            or len(loops_of(self.reduces[0])) != 1
        ):
            return False
        tiles = math.prod(
            known_extent(a) for a in self.kernel.axes if a.loop in loops and a.kind in LOOP
        )
        mine = [access for access in self.inside[self.reduces[0]] if access.depends(lane)]
        (term,) = loops_of(self.reduces[0])
        for access in mine:
            itemsize = access.node.dtype.itemsize
            row = access.steps.get(term, 0) * itemsize
            own = (u for u in self.kernel.nests[self.reduces[0]] if access.depends(u))
            if term in access.irregular or row % self.conflict == 0:
                return False
            if iteration_count(own, 1) * itemsize > self.near:
                return False
        return bool(mine) and tiles < thresholds.MANY_TILES

    def _reduction_block(self, reduce: UOp, lane: UOp) -> tuple[int, int] | None:
        """Return which loop of a reduction is split for a panel, and the iterations of a panel.

        All loops outside of that one are outside of the panel as well. (0, all iterations): no
        loop is split. None: no panel fits.
        """
        extents = [extent_of(loop) for loop in in_order(self.kernel, loops_of(reduce))]
        if not all(isinstance(extent, int) for extent in extents):
            return None
        strided = [a for a in self.inside[reduce] if self._is_across(a, reduce, lane)]
        across = bool(strided)
        itemsize = max((a.node.dtype.itemsize for a in self.inside[reduce]), default=1)
        column = itemsize * max(self.lanes, instances_of(self.kernel, lane))
        limit = self.row_panel if across else self.panel
        if len(self.kernel.reduces) > 1:
            limit = self.scratch_bytes // len(self.kernel.reduces)
        alone = not across and len(self.kernel.reduces) == 1
        whole = max(limit, min(self.whole_panel, self.scratch_bytes)) if alone else limit
        if across and len(self.kernel.reduces) == 1:
            if _has_cache_conflicts(strided, reduce, 2 * self.conflict):
                limit = whole = limit // 2
            else:
                # partial sums of a short reduction cost more than a larger panel
                whole = max(limit, min(self.panel, self.scratch_bytes))
        for place, extent in enumerate(extents):
            assert isinstance(extent, int)
            each = column * math.prod(map(int, extents[place + 1 :]))
            most = limit // each
            if extent <= most or (not place and extent * each <= whole):
                return place, extent
            if len(self.kernel.reduces) > 1:
                return None
            if most >= thresholds.SHORTEST_BLOCK or (most > 1 and place < len(extents) - 1):
                even = [n for n in range(max(2, most // 2), most + 1) if extent % n == 0]
                return place, even[-1] if even else ceildiv(extent, ceildiv(extent, most))
        return None

    def _is_across(self, access: Access, reduce: UOp, lane: UOp) -> bool:
        """Whether an operand that all lanes share is read across its rows in memory."""
        if access.node.op is not Ops.LOAD or access.depends(lane):
            return False
        steps = [abs(access.steps.get(loop, 0)) for loop in loops_of(reduce)]
        return all(step != 1 for step in steps) and 1 in map(abs, access.steps.values())

    # ---- where they are filled ----------------------------------------------------------------

    def _fill(self, kernel: Kernel, lane: UOp, first: int) -> bool:
        """Fill panels before the loops from `first` on, in blocks if a whole panel does not fit.

        Returns whether the panels are legal.
        """
        reduce = self.reduces[0]
        found = self._reduction_block(reduce, lane)
        if found is None:
            return False
        deep, part = found
        loop = in_order(kernel, loops_of(reduce))[deep]
        if len(self.kernel.reduces) > 1 or (not deep and part == trip_count(loop, 1)):
            first = self._strips_inside(kernel, lane, first)
            least = ceildiv(thresholds.WHOLE_REUSED, _rows_of_a_tile(kernel, first))
            first = _fill_place_for_threads(kernel, first, least)
            return kernel.attempt(OptKind.PACK, first, 0)
        first = _fill_place_for_threads(kernel, first, thresholds.REUSED)
        inner = self._partial_sum_place(kernel, reduce, first)
        place = kernel.axis_of(loop, REDUCE)
        if inner is None or place is None:
            return False
        unrolled = trip_count(loop, 1) // known_extent(kernel.axes[place])  # terms of an iteration
        if part % unrolled:
            return False
        if kernel.axes[place].extent == part // unrolled:
            place -= 1
        elif not kernel.attempt(OptKind.SPLIT, place, part // unrolled):
            return False
        return kernel.attempt(OptKind.KEEP, place, inner) and kernel.attempt(
            OptKind.STAGE, place, 0
        )

    def _strips_inside(self, kernel: Kernel, lane: UOp, first: int) -> int:
        """Pack several strips at once, and iterate over them in every tile, if the other factor
        is in memory: it is read once for all of them. Returns the place of the inner loops."""
        place = kernel.axis_of(lane, LOOP)
        if place is None or place != first - 1 or len(self.reduces) != 1 or kernel.in_place:
            return first
        reads = self.inside[self.reduces[0]]
        strip = [a for a in reads if a.depends(lane)]
        others = [a for a in reads if not a.depends(lane)]
        if len(strip) != 1 or not any(map(self._is_long, others)):
            return first
        terms = iteration_count(loops_of(self.reduces[0]), 1)
        nbytes = terms * instances_of(self.kernel, lane) * strip[0].node.dtype.itemsize
        strips = known_extent(kernel.axes[place])
        most = min(strips, self.panel // nbytes)
        if most < 2:
            return first
        part = ceildiv(strips, ceildiv(strips, most))
        if part < strips:
            if not kernel.attempt(OptKind.SPLIT, place, part):
                return first
            place, first = place + 1, first + 1
        trial = kernel.copy()
        last = max(i for i, axis in enumerate(trial.axes) if axis.kind is AxisKind.LOOP)
        if not all(trial.attempt(OptKind.SWAP, i, i + 1) for i in range(place, last)):
            return first
        for i in range(place, last):
            kernel.attempt(OptKind.SWAP, i, i + 1)
        return place

    def _is_long(self, access: Access) -> bool:
        """Whether the L1 and L2 caches do not hold a matrix, which is read row by row, from one
        strip of the other one to the next. Windows of images overlap, and are not packed."""
        nest, loops = self.kernel.nests[self.reduces[0]], loops_of(self.reduces[0])
        if len(loops) != 1 or access.steps.get(loops[0]) != 1:
            return False
        whole = iteration_count((loop for loop in nest if access.depends(loop)), 1)
        return whole * access.node.dtype.itemsize > self.far

    def _partial_sum_place(self, kernel: Kernel, reduce: UOp, first: int) -> int | None:
        """Return the place of the outermost loop whose partial sums fit in the cache with a panel.

        None if no split makes them fit.
        """
        kinds = (AxisKind.UPCAST, AxisKind.VECTOR)
        tile = math.prod(known_extent(axis) for axis in kernel.axes if axis.kind in kinds)
        nbytes, trip_count = tile * reduce.dtype.itemsize, 1
        inner = sum(axis.kind <= AxisKind.LOOP for axis in kernel.axes)  # behind the last of them
        while (
            inner > first
            and trip_count * known_extent(kernel.axes[inner - 1]) * nbytes <= self.panel
        ):
            inner -= 1
            trip_count *= known_extent(kernel.axes[inner])
        if trip_count >= thresholds.REUSED or inner == first:
            return inner
        rows = known_extent(kernel.axes[inner - 1])
        block = ceildiv(rows, ceildiv(rows * trip_count * nbytes, self.panel))
        if kernel.in_place:  # parts may not overlap
            block = max(n for n in range(1, block + 1) if rows % n == 0)
        if not 1 < block < rows or not kernel.attempt(OptKind.SPLIT, inner - 1, block):
            return None
        return inner


def _move_innermost(kernel: Kernel, loops: Sequence[UOp]) -> int | None:
    """Exchange loops until these are inside of all others; the place of the first of them."""
    places = [i for i, axis in enumerate(kernel.axes) if axis.kind is AxisKind.LOOP]
    inner = [kernel.axes[i].number for i in places if kernel.axes[i].loop in loops]
    outer = [kernel.axes[i].number for i in places if kernel.axes[i].loop not in loops]
    for place, number in zip(places, outer + inner):
        now = next(i for i in places if kernel.axes[i].number == number)
        if now != place and not kernel.attempt(OptKind.SWAP, place, now):
            return None
    return places[len(outer)] if inner else None


def _rows_of_a_tile(kernel: Kernel, first: int) -> int:
    """The instances in one loop body of the loops from `first` on."""
    loops = {axis.loop for axis in kernel.axes[first:] if axis.kind is AxisKind.LOOP}
    return math.prod(instances_of(kernel, loop) for loop in loops)


def _fill_place_for_threads(kernel: Kernel, first: int, least: int) -> int:
    """The place before which a panel is filled: a loop that threads can share is left outside.

    If those loops have few iterations, the first inner loop is split as well, and each part fills
    a panel for about `least` iterations. The number of parts is even for 2, 4 and 8 threads.
    """
    rows = kernel.axes[first].extent
    if not kernel.target.compute.has(Feature.THREADS) or not isinstance(rows, int):
        return first
    outside = math.prod(known_extent(axis) for axis in kernel.axes[:first])
    trip_count = math.prod(
        known_extent(axis) for axis in kernel.axes[first:] if axis.kind is AxisKind.LOOP
    )
    wanted = ceildiv(thresholds.THREAD_PARTS, outside)
    if trip_count // least < wanted:
        # two parts that are a little short are better than one that no other thread can share
        whole = trip_count / least if outside == 1 else trip_count // least
        wanted = 1 << round(math.log2(max(1, whole)))
    parts = min(wanted, rows)
    if parts < 2:
        return first
    even = min(thresholds.THREAD_PARTS, outside * parts)

    def cost(length: int) -> tuple[int, int]:
        return round_up(outside * ceildiv(rows, length), even) * length, -length

    most = min(rows, max(parts, min(2 * parts, trip_count // least)))
    part = min(range(ceildiv(rows, most), ceildiv(rows, parts) + 1), key=cost)
    if part > 1 and not kernel.attempt(OptKind.SPLIT, first, part) and outside > 1:
        return first
    return first + 1


def _has_cache_conflicts(accesses: Sequence[Access], reduce: UOp, way: int) -> bool:
    """Whether the stride of rows is such that the cache lines of all rows conflict in one set of
    the L1 cache, and of the L2 cache if there are many. way: the bytes of a way."""
    apart = (
        abs(access.steps.get(loop, 0)) * access.node.dtype.itemsize
        for access in accesses
        for loop in loops_of(reduce)
    )
    return any(nbytes > 0 and nbytes % way == 0 for nbytes in apart)
