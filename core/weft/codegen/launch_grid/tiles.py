"""Tiles of a launch grid: choose work-item and group tiles so that outputs share their operands.
Also: thread coarsening, occupancy.

in:  a kernel whose largest reduction has two sides: output axes that each move some operands and
     not the others
out: the same, with a tile of outputs for each work item, a tile of those for each group, blocks of
     both operands in shared memory, and a matrix unit where one fits

`_cost` selects the tile. Large tiles read less, and small tiles occupy more processors. Iterations
that only round up an extent are wasted.

Source: Volkov & Demmel, "Benchmarking GPUs to tune dense linear algebra" (SC 2008).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from weft.base.intmath import ceildiv, round_up
from weft.codegen.analysis.ranges import extent_of, loops_of
from weft.codegen.indexing.images import reads_images
from weft.codegen.launch_grid.thresholds import (
    BARRIERS,
    DEPTH,
    DIVISORS,
    FRAGMENT_LOAD,
    GROUPS,
    ITEMS,
    LONG_SIDE,
    MIN_BLOCKS,
    NARROW,
    RESIDENT,
    ROUNDED,
    UNIT_DEPTH,
    UNROLLED,
    UNSTAGED,
    UPCASTS,
    WARPS,
    WARPS_AT_ONCE,
    WASTE,
    processors_of,
    warp_of,
)
from weft.codegen.launch_grid.trials import GridChoice, trip_count
from weft.codegen.opt import tensor_cores
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import OptKind
from weft.device.machine import MachineModel
from weft.device.tensor_core import TensorCore
from weft.uop import AxisKind, Ops, UOp


class Problem(NamedTuple):
    """A sum of products as numbers.

    rows, columns: of outputs, columns contiguous in memory; others: how often there are as many;
    unit: the rows and columns of one step (a fragment, or one output); held: what one work item
    holds of it; lanes: how many work items carry it out; processors: how many share the
    groups; warp: how many work items run in step.
    """

    rows: int
    columns: int
    others: int
    terms: int
    unit: tuple[int, int] = (1, 1)
    held: int = 1
    lanes: int = 1
    processors: int = processors_of(MachineModel())
    warp: int = warp_of(MachineModel())


class Tile(NamedTuple):
    """Steps of one work item (or warp), and work items (or warps) of a group, along both sides."""

    tall: int
    wide: int
    down: int
    across: int

    def rows(self, problem: Problem) -> int:
        """Rows of outputs of a group."""
        return problem.unit[0] * self.tall * self.down

    def columns(self, problem: Problem) -> int:
        """Columns of outputs of a group."""
        return problem.unit[1] * self.wide * self.across

    def threads(self, problem: Problem) -> int:
        """Work items of a group."""
        return self.down * self.across * problem.lanes


def depth_of(terms: int, deepest: int) -> int:
    """The terms of a block; the sum is rounded up to a multiple of it. 1: no blocks."""
    half = deepest // 2
    for depth in (deepest, half, half // 2):
        if depth > 1 and terms > depth and terms % depth == 0:
            return depth
    for depth in (deepest, half):
        if depth > 1 and terms >= MIN_BLOCKS * depth:
            return depth
    return 1


def best_tile(problem: Problem, upcasts: int, threads: int, depth: int) -> Tile | None:
    """The cheapest of all tiles that fit a work item and a group."""
    tiles = _tiles(problem, upcasts, threads)
    return min(tiles, key=lambda tile: _cost(problem, tile, depth), default=None)


def _tiles(problem: Problem, upcasts: int, threads: int) -> Iterator[Tile]:
    for tall, wide in itertools.product(UPCASTS, UPCASTS):
        if tall * wide * problem.held > max(upcasts, problem.held):
            continue
        downs = _parts(problem.rows, problem.unit[0] * tall, problem.lanes)
        acrosses = _parts(problem.columns, problem.unit[1] * wide, problem.lanes)
        for down, across in itertools.product(downs, acrosses):
            count = down * across * problem.lanes
            if count <= threads and (problem.lanes > 1 or count >= min(problem.warp, threads)):
                yield Tile(tall, wide, down, across)


def _parts(extent: int, unit: int, lanes: int) -> list[int]:
    """The numbers of parts of an axis in a group: powers of two, and divisors of the axis."""
    if lanes > 1:
        return [n for n in WARPS if n == 1 or unit * n < 2 * extent]
    parts = [n for n in GROUPS if n == 1 or unit * n < 2 * extent]
    if extent % unit == 0:
        parts += [n for n in DIVISORS if extent // unit % n == 0 and n not in parts]
    return parts


def _cost(problem: Problem, tile: Tile, depth: int) -> float:
    """Cycles until all is done, as far as they decide between tiles."""
    rows, columns = tile.rows(problem), tile.columns(problem)
    down, across = ceildiv(problem.rows, rows), ceildiv(problem.columns, columns)
    threads = tile.threads(problem)
    warps = ceildiv(threads, problem.warp)
    groups = problem.others * down * across
    term = tile.tall * tile.wide / WARPS_AT_ONCE + tile.tall / WARPS_AT_ONCE + tile.wide
    if problem.lanes > 1:
        term = tile.tall * tile.wide + FRAGMENT_LOAD * (tile.tall + tile.wide)
    copied = (rows + columns) / threads
    if depth > 1 and all(side * depth % threads == 0 for side in (rows, columns)):
        term += copied + BARRIERS / depth
    else:
        term = UNSTAGED * term
    busy = max(1.0, groups / problem.processors)
    resident = min(max(1, groups // problem.processors), max(1, ITEMS // threads)) * warps
    return busy * warps * term * problem.terms * max(1.0, RESIDENT / resident)


class Tiles(GridChoice):
    """The choice of tiles for one kernel."""

    def choose(self) -> bool:
        """Tiles of outputs where operands of the largest reduce lack an axis of each other."""
        kernel = self.kernel
        if not kernel.reduces or kernel.fills:
            return False
        main = max(kernel.reduces, key=self.size)
        loop = max(loops_of(main), key=lambda u: (trip_count(extent_of(u)), u.arg.id))
        sides = self.sides(main)
        if sides is None or not isinstance(extent_of(loop), int):
            return False
        if self.unit(main, loop):
            return True
        rows, columns = sides
        problem = self.problem(rows, columns, main)
        depth = depth_of(trip_count(extent_of(loop)), DEPTH) if self.shares_memory else 1
        tile = best_tile(problem, self.compute.limits.max_upcast, self.most, depth)
        if tile is None:
            return False
        place = kernel.axis_of(loop, {AxisKind.REDUCE})
        if depth > 1 and place is not None:
            self.attempt(OptKind.PADTO, place, depth)
        self.round_up(rows, tile.rows(problem))
        self.round_up(columns, tile.columns(problem))
        self.cut(columns, tile.wide, tile.across)
        self.cut(rows, tile.tall, tile.down)
        self.block(loop, depth)
        return True

    def sides(self, main: UOp) -> tuple[UOp, UOp] | None:
        """Two output axes of which each moves operands that the other does not; columns last."""
        kernel = self.kernel
        reads = [access for access in kernel.inside(main) if access.node.op is Ops.LOAD]
        loops = [axis.loop for _, axis in self.places(AxisKind.GLOBAL)]
        loops = [loop for loop in loops if loop in kernel.nests[main]]
        moved = {
            loop: frozenset(i for i, read in enumerate(reads) if read.depends(loop))
            for loop in loops
        }
        best: tuple[int, UOp, UOp] | None = None
        for inner, outer in itertools.combinations(loops, 2):
            if moved[inner] <= moved[outer] or moved[outer] <= moved[inner]:
                continue
            extents = [trip_count(extent_of(loop)) for loop in (inner, outer)]
            if min(extents) < NARROW:
                continue
            area = min(extents[0], LONG_SIDE) * min(extents[1], LONG_SIDE)
            if best is None or area > best[0]:
                best = (area, outer, inner)
        return None if best is None else best[1:]

    def problem(self, rows: UOp, columns: UOp, main: UOp) -> Problem:
        """The numbers of a sum."""
        tall, wide = trip_count(extent_of(rows)), trip_count(extent_of(columns))
        terms = math.prod(trip_count(extent_of(loop)) for loop in loops_of(main))
        others = max(1, self.outputs // (tall * wide))
        processors = processors_of(self.compute.machine, self.emulated)
        return Problem(tall, wide, others, terms, processors=processors, warp=self.warp)

    # ---- axes ---------------------------------------------------------------------------------

    def round_up(self, loop: UOp, multiple: int) -> None:
        """Round an axis up to whole tiles."""
        if self.emulated:
            return  # one processor computes all work items, idle ones too
        place = self.kernel.axis_of(loop, {AxisKind.GLOBAL})
        if place is not None and trip_count(self.kernel.axes[place].extent) % multiple:
            self.attempt(OptKind.PADTO, place, multiple)

    def cut(self, loop: UOp, upcast: int, parts: int) -> None:
        """Split an axis into the tile of a work item, and the work items of a group."""
        for kind, amount in ((OptKind.UPCAST, upcast), (OptKind.LOCAL, parts)):
            place = self.kernel.axis_of(loop, {AxisKind.GLOBAL})
            if place is not None and amount > 1:
                extent = trip_count(self.kernel.axes[place].extent)
                while extent % amount:
                    amount -= 1
                self.attempt(kind, place, amount)

    def block(self, loop: UOp, depth: int) -> None:
        """Split the sum into blocks whose operands the group copies to shared memory, if legal."""
        kernel = self.kernel
        place = kernel.axis_of(loop, {AxisKind.REDUCE})
        if place is None or reads_images(kernel.accesses):
            return  # images have a cache of their own, and their channels are unrolled already
        # the longest loop goes innermost: it is the one that is cut into blocks
        inner = next(self.places(AxisKind.REDUCE))[0]
        if inner != place and self.attempt(OptKind.SWAP, place, inner):
            place = inner
        extent = trip_count(kernel.axes[place].extent)
        if self.shares_memory and 1 < depth < extent and self.attempt(OptKind.SPLIT, place, depth):
            self.attempt(OptKind.UNROLL, place + 1, min(depth, UNROLLED) if depth > UNROLLED else 0)
            self.stage(place)
            return
        amounts = (UNROLLED, UNROLLED // 2)
        self.attempt(OptKind.UNROLL, place, next((n for n in amounts if extent % n == 0), 0))
        if self.shares_memory:
            outside = (i for i, _ in self.places(AxisKind.REDUCE) if i < place)
            self.stage(next(outside, None))

    def stage(self, place: int | None) -> bool:
        """Stage the operands in shared memory, with as many buffers as its memory holds."""
        tiles = range(self.compute.tiles, 1, -1)
        return any(self.attempt(OptKind.STAGE, place, count) for count in (*tiles, 0))

    # ---- matrix units -------------------------------------------------------------------------

    def unit(self, main: UOp, loop: UOp) -> bool:
        """Use a matrix unit for the largest sum, if one fits."""
        for number, core in enumerate(self.compute.tensor_cores):
            found = self.operands(main, core)
            if found is None:
                continue
            terms = trip_count(extent_of(loop))
            rows, columns = found
            problem = self.problem(rows, columns, main)
            problem = problem._replace(
                unit=core.dims[:2], held=1 << len(core.c.element), lanes=core.threads
            )
            fragments = ceildiv(terms, core.dims[2])
            depth = depth_of(fragments, UNIT_DEPTH) if self.shares_memory else 1
            # rounding up must not cost more than the unit saves
            if round_up(terms, core.dims[2]) > 2 * terms:
                continue
            tile = best_tile(problem, self.compute.limits.max_upcast, self.most, depth)
            if tile is None or tile.rows(problem) > ROUNDED * problem.rows:
                continue
            if self.apply_unit(number, core, (rows, columns, loop), problem, tile, depth):
                return True
        return False

    def operands(self, main: UOp, core: TensorCore) -> tuple[UOp, UOp] | None:
        """The longest axes of the left and of the right factor alone."""
        product = tensor_cores.product_of(main, core)
        if product is None:
            return None
        loops = [axis.loop for _, axis in self.places(AxisKind.GLOBAL)][::-1]
        best = None
        m, n, _ = core.dims
        for pair in (product, product.swapped()):
            rows, columns = tensor_cores.sides(pair, loops)
            if not rows or not columns:
                continue
            found = tuple(
                max(axes, key=lambda u: (min(trip_count(extent_of(u)), LONG_SIDE), u.arg.id))
                for axes in (rows, columns)
            )
            tall, wide = (trip_count(extent_of(loop)) for loop in found)
            if 2 * tall < m or 2 * wide < n:
                continue
            # columns of the unit are contiguous in memory, if possible
            waste = round_up(tall, m) * round_up(wide, n) / (tall * wide)
            key = (waste > WASTE, found[1].arg.id < found[0].arg.id)
            if best is None or key < best[0]:
                best = (key, found)
        return None if best is None else (best[1][0], best[1][1])

    def apply_unit(
        self,
        number: int,
        core: TensorCore,
        ranges: tuple[UOp, UOp, UOp],
        problem: Problem,
        tile: Tile,
        depth: int,
    ) -> bool:
        """Round up and apply the unit; nothing if a step is illegal."""
        rows, columns, loop = ranges
        before, self.kernel = self.kernel, self.kernel.copy()
        self.round_up(rows, tile.rows(problem))
        self.round_up(columns, tile.columns(problem))
        place = self.kernel.axis_of(loop, {AxisKind.REDUCE})
        if place is not None:
            self.attempt(OptKind.PADTO, place, core.dims[2] * depth)
        place = self.kernel.axis_of(loop, {AxisKind.REDUCE})
        done = self.attempt(OptKind.TC, place, number)
        found = self.kernel.units[-1] if done else None
        done = found is not None and {found.rows, found.columns} == {rows, columns}
        trial, self.kernel = self.kernel, before
        if not done:
            return False
        _repeat(self.kernel, trial)
        self.cut(columns, tile.wide, tile.across)
        self.cut(rows, tile.tall, tile.down)
        self.block(loop, depth)
        return True


def _repeat(kernel: Kernel, trial: Kernel) -> None:
    """Apply to `kernel` what was applied to a copy of it."""
    for opt in trial.applied[len(kernel.applied) :]:
        kernel.apply(opt)
