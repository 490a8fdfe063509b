"""The hand-written choice for a launch grid: register tiles, shared reduces, groups.

Three questions, in this order:

1. Does a sum of products read one operand again for many outputs? Then each work item computes a
   small tile of them, so that what it reads serves several (`tile`).
2. Else, does a reduce, or the filling of a row, go along memory? Then the work items of a group go
   along it together: neighbours read neighbours (`share`). How many they are is what costs least:
   few where there are outputs enough to keep the device busy, many where one row must be quick.
3. Whatever is left of the grid is cut into groups along its innermost axis (`groups`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from weft.codegen.opt.kernel import Access, Axis, Kernel, Unit
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.ranges import extent_of, loops_of
from weft.device.capabilities import Feature
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops

_UNKNOWN = 64  # taken for an extent that is a variable
_IN_FLIGHT = 1 << 17  # work items that a large device runs at once
_SHARED_IN_ALL = 1 << 25  # bytes of shared memory of all its processors together
_GROUP = 256  # work items of a group, at most
_FEWEST = 8  # work items that are worth a group
_TILE_GROUP = 16  # work items of a group along each side of a tile
_UNIT_DEPTH = 4  # fragments along a sum that are brought to shared memory at once
_WARPS = 4  # of a group where matrix units work
_WARP = 32  # work items that a large device runs in step
_DEPTH = 16  # terms of a sum that are brought to shared memory at once
_SIDE = 4  # outputs of one work item along each side of a tile


def choose(kernel: Kernel) -> None:
    """Apply to `kernel` what suits it; nothing where the target has no groups."""
    if kernel.target.compute.limits.local_size is None:
        return
    grid = _Grid(kernel)
    if not grid.tile() and not grid.share():
        grid.groups()


class _Grid:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        compute = kernel.target.compute
        self.together = compute.has(Feature.BARRIER) and compute.has(Feature.SHARED)
        self.together = self.together and not compute.has(Feature.EMULATED_GROUPS)
        self.outputs = math.prod(
            _turns(axis.extent) for axis in kernel.axes if axis.kind is AxisKind.GLOBAL
        )

    def attempt(self, kind: OptKind, place: int | None, amount: int) -> bool:
        if place is None:
            return False
        try:
            self.kernel.apply(Opt(kind, place, amount))
        except OptError:
            return False
        return True

    def places(self, kind: AxisKind) -> Iterator[tuple[int, Axis]]:
        """The axes of one kind that have a fixed extent, innermost first."""
        for place in range(len(self.kernel.axes) - 1, -1, -1):
            axis = self.kernel.axes[place]
            if axis.kind is kind and isinstance(axis.extent, int):
                yield place, axis

    # ---- register tiles -----------------------------------------------------------------------

    def tile(self) -> bool:
        """Tiles of outputs where every operand of the largest reduce lacks an axis of another."""
        kernel = self.kernel
        if not kernel.reduces or kernel.fills:
            return False
        main = max(kernel.reduces, key=self.size)
        reads = [access for access in kernel.inside(main) if access.node.op is Ops.LOAD]
        homes = [axis.home for _, axis in self.places(AxisKind.GLOBAL)]
        sides = [home for home in homes if _is_side(home, reads)][:2]
        if len(sides) < 2 or kernel.nests[main] & set(sides) != set(sides):
            return False
        if self.unit(main):
            return True
        most, done = kernel.target.compute.limits.max_upcast, 1
        for home in sides:
            place = kernel.axis_of(home, {AxisKind.GLOBAL})
            assert place is not None
            extent = _turns(kernel.axes[place].extent)
            factors = (n for n in (_SIDE, 2) if n * done <= most and extent >= 4 * n)
            factor = next((n for n in factors if extent % n == 0), 0) or next(factors, 0)
            if factor and self.attempt(OptKind.UPCAST, place, factor):
                done *= factor
        if done == 1:
            return False
        for home in sides:
            place = kernel.axis_of(home, {AxisKind.GLOBAL})
            if place is not None:
                extent = _turns(kernel.axes[place].extent)
                amount = next((n for n in range(_TILE_GROUP, 1, -1) if extent % n == 0), 0)
                self.attempt(OptKind.LOCAL, place, amount)
        self.block()
        return True

    def unit(self, main: UOp) -> bool:
        """A matrix unit for the largest sum."""
        kernel = self.kernel
        for number in range(len(kernel.target.compute.tensor_cores)):
            for loop in loops_of(main):
                place = kernel.axis_of(loop, {AxisKind.REDUCE})
                if self.attempt(OptKind.TC, place, number):
                    self.fragments(kernel.units[-1])
                    return True
        return False

    def fragments(self, unit: Unit) -> None:
        """As many fragments to a warp as its registers take, and a few warps to a group."""
        held = 1 << len(unit.core.c.element)
        most = max(1, self.kernel.target.compute.limits.max_upcast // held)
        for kind, room, wide in ((OptKind.UPCAST, most, 4), (OptKind.LOCAL, _WARPS, 2)):
            for home, limit in ((unit.columns, wide), (unit.rows, room)):
                place = self.kernel.axis_of(home, {AxisKind.GLOBAL})
                if place is None:
                    continue
                extent = _turns(self.kernel.axes[place].extent)
                fitting = (n for n in (4, 2) if n <= min(limit, room) and extent % n == 0)
                amount = next(fitting, 1)
                if self.attempt(kind, place, amount):
                    room //= amount
        self.block(_UNIT_DEPTH)

    def block(self, deepest: int = _DEPTH) -> None:
        """The sum in blocks that the group brings to shared memory together, where that can be."""
        place, axis = next(self.places(AxisKind.REDUCE), (0, None))
        if axis is None:
            return
        extent = _turns(axis.extent)
        depth = next(
            (n for n in (16, 8, 4, 2) if n <= deepest and extent % n == 0 and extent > n), 0
        )
        if self.together and depth and self.attempt(OptKind.SPLIT, place, depth):
            inner = place + 1
            self.attempt(OptKind.UNROLL, inner, min(depth, 4) if depth > 4 else 0)
            self.attempt(OptKind.STAGE, place, 0)
        else:
            self.attempt(OptKind.UNROLL, place, next((n for n in (4, 2) if extent % n == 0), 0))

    # ---- shared loops -------------------------------------------------------------------------

    def share(self) -> bool:
        """Rows and reduces by the work items of a group together, where that costs less."""
        kernel, compute = self.kernel, self.kernel.target.compute
        if not self.together or kernel.in_place:
            return False
        loops = {root: self.along(root) for root in kernel.nests}
        main = max(kernel.reduces, key=self.size, default=None)
        if main is None or loops[main] is None:
            return False
        extent = _turns(extent_of(loops[main]))
        limits = compute.limits
        most = min(_GROUP, limits.local_threads or _GROUP, (limits.local_size or (1,))[0])
        counts = [n for n in range(_FEWEST, min(most, extent) + 1) if extent % n == 0]
        best = min(counts, key=lambda count: self.cost(loops, count), default=1)
        if best == 1 or self.cost(loops, best) >= self.cost(loops, 1):
            return False
        for loop in dict.fromkeys(loop for loop in loops.values() if loop is not None):
            self.widen(loop, {AxisKind.LOOP, AxisKind.REDUCE}, best)
        shared = False
        for root in sorted(kernel.nests, key=self.size, reverse=True):
            loop = loops[root]
            if loop is not None and _turns(extent_of(loop)) % best == 0:
                place = kernel.axis_of(loop, {AxisKind.LOOP, AxisKind.REDUCE})
                shared = self.attempt(OptKind.GROUP, place, best) or shared
        return shared

    def along(self, root: UOp) -> UOp | None:
        """The loop of a nest to share: the longest that goes along memory.

        None where there is none: neighbours would each read a cache line of their own. With few
        outputs any loop will do, for the device has nothing else to be busy with.
        """
        kernel = self.kernel
        own = [
            loop
            for loop in kernel.nests[root]
            if kernel.axis_of(loop, {AxisKind.LOOP, AxisKind.REDUCE}) is not None
            and isinstance(extent_of(loop), int)
        ]
        if root.op is Ops.REDUCE:
            own = [loop for loop in own if loop in loops_of(root)]
        accesses = kernel.inside(root)
        near = [u for u in own if any(abs(access.steps.get(u, 0)) == 1 for access in accesses)]
        if not near and self.outputs < _IN_FLIGHT // 32:
            near = own
        return max(near, key=lambda u: (extent_of(u), u.arg.id), default=None)

    def size(self, root: UOp) -> int:
        return math.prod(_turns(extent_of(loop)) for loop in self.kernel.nests[root])

    def cost(self, loops: dict[UOp, UOp | None], count: int) -> float:
        """Turns of loops until all outputs are done, with `count` work items to a group."""
        turns = memory = 0.0
        for root, loop in loops.items():
            work = self.size(root) / max(1, self.outputs)
            if loop is not None and _turns(extent_of(loop)) % count == 0:
                work /= count
                if root.op is Ops.REDUCE and count > 1:
                    work += 2 * math.sqrt(count) + 4  # what the others found, and the barriers
                    memory += 2 * count * root.dtype.itemsize
            elif count == 1 or loop is None:
                work *= 2  # each work item reads far from its neighbour
            turns += work
        for fill in self.kernel.fills:
            memory += fill.src[0].src[0].src[0].dtype.nbytes
        busy = max(self.outputs * count / _IN_FLIGHT, self.outputs * memory / _SHARED_IN_ALL)
        return turns * max(1.0, busy)

    # ---- vectors ------------------------------------------------------------------------------

    def widen(self, loop: UOp, kinds: set[AxisKind], parts: int) -> None:
        """Several neighbours at once, where all that moves with a loop lies side by side.

        parts: how many work items the rest of the loop is to be divided among.
        """
        kernel, compute = self.kernel, self.kernel.target.compute
        moved = [access for access in kernel.accesses if access.depends(loop)]
        if not self.together or not moved or kernel.in_place:
            return
        if any(loop in one.hidden or one.steps[loop] != 1 for one in moved):
            return
        kinds_of_data = {
            one.node.src[1].dtype if one.node.op is Ops.STORE else one.node.dtype for one in moved
        }
        width = min(max(compute.vector_widths.get(dtype, (1,))) for dtype in kinds_of_data)
        place = kernel.axis_of(loop, kinds)
        if place is not None and width > 1 and _turns(extent_of(loop)) % (width * parts) == 0:
            self.attempt(OptKind.VECTOR, place, width)

    # ---- groups -------------------------------------------------------------------------------

    def groups(self) -> None:
        """Groups along the innermost axis of the grid."""
        limits = self.kernel.target.compute.limits
        for place, axis in enumerate(self.kernel.axes):
            last = place
            if axis.kind is not AxisKind.GLOBAL:
                last = place - 1
                break
        else:
            last = len(self.kernel.axes) - 1
        if last < 0 or limits.local_size is None:
            return
        if not self.kernel.reduces and not self.kernel.fills:
            self.widen(self.kernel.axes[last].home, {AxisKind.GLOBAL}, _WARP)
        axis = self.kernel.axes[last]
        most = min(limits.local_size[0], limits.local_threads or _GROUP, _GROUP)
        if isinstance(axis.extent, int):
            sizes = range(min(most, axis.extent), 1, -1)
            amount = next((n for n in sizes if axis.extent % n == 0), 1)
            if amount >= _FEWEST:
                self.attempt(OptKind.LOCAL, last, amount)


def _turns(extent: int | UOp) -> int:
    return extent if isinstance(extent, int) else _UNKNOWN


def _is_side(home: UOp, reads: list[Access]) -> bool:
    """Whether some operands move with this axis and others are read again along it."""
    moved = [access.depends(home) for access in reads]
    return any(moved) and not all(moved)
