"""The hand-written choice of optimisations: vectors, register tiles, unrolling, loop order.

This is the choice for one processor; `grid` is that for a launch grid.

Costs are in instructions per kernel, roughly: an access that moves by one with the lane is one
instruction for all lanes, one that does not move is one as well, any other is one for each lane.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from weft.base.intmath import ceildiv
from weft.codegen.opt import few_rows, grid, streams, sums, threads, tiles
from weft.codegen.opt.kernel import Access, Axis, Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.panels import REUSED, Panels
from weft.codegen.pairs import may_pack
from weft.codegen.ranges import extent_of, loops_of, ranges_of
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import GroupOp, Ops

_UNKNOWN = 64  # taken for an extent that is a variable
_SCATTER = 1.5  # a lane that is picked up or put down by itself
_TILE_FACTORS = range(1, 9)
_FAR = 0.5  # a vector that comes from further away than a panel would be
_LONG_PRODUCT = 1024  # terms of which rows of operands are better packed than read as they lie
_UNPACKED = 1.5  # how much longer it takes where they are not
_LATENCY = 4.0  # cycles of a multiply-add
_MOST_BODY = 128  # values written out in one loop body
_LONG_CHAIN = 20  # steps of an element that are worth several vectors at once
_LONG_SUM = 32  # terms, beside which it does not matter how what else there is is read
_BLOCK = 8  # rows of a block where lanes jump
_STATIONARY = 1 << 19  # bytes of a strip that should stay in the second-level cache


def choose(kernel: Kernel) -> Sequence[Opt]:
    """The optimisations for a kernel, in the order in which they are to be applied."""
    if kernel.target.compute.limits.global_size is not None:
        grid.choose(kernel)
    else:
        choice = _Choice(kernel)
        for reduce in choice.reduces:
            sums.along_memory(kernel, reduce, choice.reads_of(reduce))
        choice.vectors()
        choice.blocks()
        for reduce in choice.reduces:
            choice.tile(reduce)
        for reduce in choice.reduces:
            choice.unroll(reduce)
        if not any(choice.panels.fill(lane) for lane in choice.lanes_of):
            for reduce in choice.reduces:
                if not choice.walk(reduce):
                    choice.order(reduce)
        threads.spread(kernel)
    return kernel.applied


def _turns(loop: UOp) -> int:
    extent = extent_of(loop)
    return extent if isinstance(extent, int) else _UNKNOWN


# ---- one processor -------------------------------------------------------------------------------


class _Choice:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.lanes_of: dict[UOp, int] = {}
        compute = kernel.target.compute
        values = kernel.sink.toposort(gate=lambda u: u.op is not Ops.INDEX)
        arithmetic = [u for u in values if u.op in GroupOp.ALU or u.op in (Ops.LOAD, Ops.CAST)]
        widest = max((u.dtype.itemsize for u in arithmetic), default=4)
        stored = max((s.src[1].dtype.itemsize for s in kernel.stores), default=4)
        self.lanes = 0
        if compute.vector_widths:
            self.lanes = compute.vector_bytes // max(widest, stored)
        self.registers = compute.vector_registers if self.lanes else compute.limits.max_upcast
        self.operations = max(1.0, len(arithmetic) / max(1, len(kernel.nests)))
        self.sizes = {
            root: math.prod(_turns(loop) for loop in nest) for root, nest in kernel.nests.items()
        }
        self.inside = {root: kernel.inside(root) for root in kernel.nests}
        self.together = Counter(loops_of(reduce) for reduce in kernel.reduces)
        # one of those that are accumulated in the same loops stands for all of them
        self.reduces = list({loops_of(reduce): reduce for reduce in kernel.reduces}.values())
        self.panels = Panels(kernel, self.inside, self.reduces, self.lanes)

    def reads_of(self, reduce: UOp) -> list[Access]:
        """The accesses of all that is accumulated in the loops of a REDUCE."""
        loops = loops_of(reduce)
        same = (one for one in self.kernel.reduces if loops_of(one) == loops)
        return list({access.node: access for one in same for access in self.inside[one]}.values())

    # ---- vectors ------------------------------------------------------------------------------

    def vectors(self) -> None:
        """One VECTOR range in every nest that gains by it, the largest nests first."""
        if self.lanes < 2:
            return
        nests = self.kernel.nests
        for root in sorted(nests, key=lambda one: -self.sizes[one]):
            if any(loop in self.lanes_of for loop in nests[root]):
                continue
            best: tuple[float, float, UOp, int] | None = None
            for loop in sorted(nests[root], key=lambda u: -u.arg.id):
                width = self.width(loop)
                if width < 2 or loop in self.kernel.ordered or not self.is_free(loop):
                    continue
                cost = self.cost(loop, width)
                whole = cost + self.beside(root, loop)
                if best is None or whole < best[0]:
                    best = (whole, cost, loop, width)
            if best is None:
                continue
            _, cost, loop, most = best
            if cost < 0.7 * self.cost(loop, 1):
                for width in self.widths(loop, most):
                    if self.split(OptKind.VECTOR, loop, width):
                        self.lanes_of[loop] = width
                        break

    def beside(self, root: UOp, loop: UOp) -> float:
        """The cost of nests around and beside one, where its lanes are along a loop that these do
        not have: they have lanes if they can along loops that are theirs alone."""
        nests, total = self.kernel.nests, 0.0
        for other, nest in nests.items():
            if loop in nest or nest.isdisjoint(nests[root]):
                continue
            widths = {own: self.width(own) for own in nest - nests[root]}
            lanes = [self.nest_cost(other, own, n) for own, n in widths.items() if n > 1]
            total += min(lanes, default=self.nest_cost(other, loop, 1))
        return total

    def widths(self, loop: UOp, width: int) -> list[int]:
        """A number of lanes, after those that are worth trying before it.

        A long chain of operations waits for itself at every step: several vectors side by side wait
        at once. As one long vector they are no more text to compile.
        """
        extent = extent_of(loop)
        if 2 * width > self.registers and (self.is_turned(loop) or self.is_hidden(loop)):
            # of narrow numbers; see `blocks`. Lane by lane no more of them are any faster
            return [max(2, self.registers // 2), width]
        if self.kernel.reduces or width < self.lanes or self.operations < _LONG_CHAIN:
            return [width]
        assert isinstance(extent, int)
        more = [width * times for times in (4, 2)]
        fits = [w for w in more if extent % w == 0 or (self.may_overlap(loop) and extent > 32 * w)]
        return [*fits, width]

    def is_hidden(self, lane: UOp) -> bool:
        """Whether something is read lane by lane, each perhaps under a condition of its own."""
        return any(
            lane in access.hidden
            for root, nest in self.kernel.nests.items()
            if lane in nest
            for access in self.inside[root]
        )

    def is_turned(self, lane: UOp) -> bool:
        """Whether a store along these lanes loads something that lies along another loop."""
        return any(
            self.lies_along(access, lane) is not None
            for store in self.kernel.stores
            if lane in self.kernel.nests[store]
            for access in self.inside[store]
        )

    def lies_along(self, access: Access, lane: UOp) -> UOp | None:
        """The loop along which a load that jumps from lane to lane has its neighbours."""
        if access.node.op is not Ops.LOAD or access.steps.get(lane, 1) == 1:
            return None
        across = next((u for u, step in access.steps.items() if abs(step) == 1), None)
        hidden = lane in access.hidden or across in access.hidden
        return None if hidden or across is lane else across

    def width(self, loop: UOp) -> int:
        """How many lanes would fit: a power of two, 0 for too few.

        One that divides the extent is taken where it is long enough; otherwise, for an output, the
        last vector may overlap the one before it.
        """
        extent = extent_of(loop)
        if not isinstance(extent, int):
            return 0
        width = 1 << (self.lanes.bit_length() - 1)
        while width > 1 and extent % width:
            width //= 2
        enough = width * 4 >= self.lanes
        if width == self.lanes or not self.may_round(loop) or (enough and not self.kernel.reduces):
            return width if enough else 0
        wide = 1 << (min(self.lanes, extent).bit_length() - 1)
        if wide > 1 and wide * _share(extent, wide) > (width if enough else 1):
            return wide
        return width if enough else 0

    def may_overlap(self, loop: UOp) -> bool:
        """Whether parts that do not divide the extent are allowed."""
        place = self.kernel.axis_of(loop, frozenset({AxisKind.LOOP}))
        return place is not None and not self.kernel.in_place and loop not in self.kernel.once

    def may_pad(self, loop: UOp) -> bool:
        """Whether idle turns round an extent up where parts may not overlap: an output of a long
        sum in a kernel that reads what it writes, as when weights are changed in place."""
        place = self.kernel.axis_of(loop, frozenset({AxisKind.LOOP}))
        if place is None or not self.kernel.in_place or not self.is_output(loop):
            return False
        fixed = self.kernel.once | self.kernel.ordered
        long = all(map(self.is_after_a_long_sum, self.kernel.stores))
        return long and loop not in fixed and not self.kernel.fills

    def may_round(self, loop: UOp) -> bool:
        """Whether parts need not divide an extent."""
        return self.may_overlap(loop) or self.may_pad(loop)

    def split(self, kind: OptKind, loop: UOp, amount: int) -> bool:
        """Parts of a loop as lanes or instances; idle turns where parts may not overlap."""
        known = self.axis(loop, frozenset({AxisKind.LOOP}))
        if known is not None and known[1] % amount and not self.may_overlap(loop):
            if not self.kernel.attempt(OptKind.PADTO, known[0], amount):
                return False
        return self.kernel.attempt(kind, self.kernel.axis_of(loop), amount)

    def is_free(self, loop: UOp) -> bool:
        """Whether no nest of this loop has lanes already."""
        return not any(
            loop in nest and any(other in self.lanes_of for other in nest)
            for nest in self.kernel.nests.values()
        )

    def cost(self, loop: UOp, width: int) -> float:
        """The cost of all nests of a loop."""
        nests = self.kernel.nests
        return sum(self.nest_cost(root, loop, width) for root in nests if loop in nests[root])

    def nest_cost(self, root: UOp, loop: UOp, width: int) -> float:
        nest = self.kernel.nests[root]
        size = self.sizes[root] / width
        if width > 1 and self.is_far(root, loop):
            size *= _UNPACKED
        total = size * self.operations
        for access in self.inside[root]:
            total += size * self.access_cost(access, loop, width)
        if root.op is Ops.REDUCE and loop in loops_of(root) and width > 1:
            done = self.sizes[root] / math.prod(_turns(own) for own in loops_of(root))
            total += done * 2.0 * math.log2(width)
            total += size * _FAR * sum(self.is_read_again(a, nest) for a in self.inside[root])
        return total

    def is_read_again(self, access: Access, nest: frozenset[UOp]) -> bool:
        """Whether many turns read the same, which a panel could hold for lanes along the output."""
        turns = math.prod(_turns(loop) for loop in nest if not access.depends(loop))
        return self.panels.possible and turns >= REUSED

    def is_far(self, root: UOp, loop: UOp) -> bool:
        """Whether lanes along a long sum of products would keep its operands from being packed.

        Rows are then read as they lie, each of them longer than a cache is deep, and again for
        every other row.
        """
        if root.op is not Ops.REDUCE or loop not in loops_of(root) or not self.panels.possible:
            return False
        own = loops_of(root)
        loads = [access for access in self.inside[root] if access.node.op is Ops.LOAD]
        again = [self.panels.turns_again(access, root) for access in loads]
        terms = math.prod(map(_turns, own))
        return terms >= _LONG_PRODUCT and len(loads) > 1 and min(again) >= REUSED

    def access_cost(self, access: Access, loop: UOp, width: int) -> float:
        if width == 1 or not access.depends(loop):
            return 1.0
        if loop not in access.hidden and access.steps[loop] == 1:
            return 1.0
        if loop in access.hidden and access.is_steady(loop, width):
            return 1.0
        if access.node.op is Ops.STORE:
            apart = access.steps.get(loop, 0) * access.node.src[1].dtype.itemsize
            once = apart % tiles.SAME_SET or self.run(access) >= _BLOCK
            return (1.5 if once else 6.0) * _SCATTER * width
        packed = 1.0 + _SCATTER * width / self.panels.turns_for(access, loop)
        return min(_SCATTER * width, packed)

    def run(self, store: Access) -> int:
        """How many neighbours are stored by loops short enough to be written out."""
        length = 1
        for loop, step in sorted(store.steps.items(), key=lambda pair: abs(pair[1])):
            if abs(step) == length and _turns(loop) <= _TILE_FACTORS[-1]:
                length *= _turns(loop)
        return length

    # ---- blocks -------------------------------------------------------------------------------

    def blocks(self) -> None:
        """Loads that jump from lane to lane are done in blocks: whole cache lines are used."""
        compute = self.kernel.target.compute
        for store in self.kernel.stores:
            nest = self.kernel.nests[store]
            lane = next((loop for loop in nest if loop in self.lanes_of), None)
            if lane is None or self.is_after_a_long_sum(store):
                continue
            for access in self.inside[store]:
                across = self.lies_along(access, lane)
                if across is None:
                    continue
                known = self.axis(across, frozenset({AxisKind.LOOP}))
                if known is None or self.present(nest) > 1:
                    continue
                side = self.lanes_of[lane]
                if known[1] >= side and 2 * side <= self.registers:  # a square, turned in registers
                    if self.kernel.attempt(OptKind.UPCAST, known[0], side):
                        if 2 * side * store.src[1].dtype.itemsize > compute.vector_bytes:
                            self.two_lines(lane, across)
                elif known[1] >= _BLOCK:
                    self.kernel.attempt(OptKind.UPCAST, known[0], _BLOCK)

    def is_after_a_long_sum(self, store: UOp) -> bool:
        """Whether what is stored takes so long to add up that the loops had better suit the sum."""
        return any(
            self.sizes[reduce] >= _LONG_SUM * self.sizes[store]
            for reduce in self.reduces
            if reduce in store.toposort(gate=lambda u: u is store or u.op is not Ops.STORE)
        )

    def two_lines(self, lane: UOp, across: UOp) -> None:
        """Squares side by side along what is stored, so that two cache lines in a row are whole;
        inside a walk along what is loaded."""
        kinds = frozenset({AxisKind.LOOP})
        known = self.axis(lane, kinds)
        if known is None or known[1] < _BLOCK or known[1] % 2:
            return
        if self.kernel.attempt(OptKind.UPCAST, known[0], 2):
            outer, inner = self.kernel.axis_of(across, kinds), self.kernel.axis_of(lane, kinds)
            if outer is not None and inner is not None and outer < inner:
                self.kernel.attempt(OptKind.SWAP, outer, inner)

    def widen(self, reduce: UOp) -> bool:
        """Accumulators side by side along the output's lanes, so that rows are read in runs."""
        nest = self.kernel.nests[reduce]
        lane = next((u for u in nest if u in self.lanes_of and u not in loops_of(reduce)), None)
        if lane is None or self.present(nest) > 1:
            return False
        known = self.axis(lane, frozenset({AxisKind.LOOP}))
        if known is None or known[1] < 4 or not self.is_output(lane):
            return False
        long = [f for f in (16, 8) if f <= self.registers // 2 and known[1] % f == 0]
        wide = [f for f in long if known[1] >= 8 * f and len(self.reduces) == 1]
        factor = next(f for f in (*wide, 4, 2, 3, 4) if known[1] % f == 0 or f == 4)
        return self.kernel.attempt(OptKind.UPCAST, known[0], factor)

    # ---- register tiles -----------------------------------------------------------------------

    def axis(self, loop: UOp, kinds: frozenset[AxisKind]) -> tuple[int, int] | None:
        """(place, extent) of what is left of a loop; None where it is gone or unknown."""
        place = self.kernel.axis_of(loop, kinds)
        if place is None:
            return None
        extent = self.kernel.axes[place].extent
        return (place, extent) if isinstance(extent, int) else None

    def tile(self, reduce: UOp) -> None:
        """UPCAST the output loops over which what is loaded can be used again."""
        nest, accesses = self.kernel.nests[reduce], self.reads_of(reduce)
        own = set(loops_of(reduce))
        if math.prod(_turns(loop) for loop in own) < 4:
            return
        if self.is_walked(reduce, accesses):
            return
        loops = []
        for loop in sorted(nest - own, key=lambda u: u.arg.id):
            known = self.axis(loop, frozenset({AxisKind.LOOP}))
            reused = any(not a.depends(loop) for a in accesses)
            if known is None or known[1] < 2 or not reused or not self.is_output(loop):
                continue
            # what another reduce put side by side is enough for this one
            if self.present(frozenset((loop,))) == 1 and self.is_worth_a_tile(loop):
                loops.append((loop, known[1]))
        # three loops, and the one that vectors are of
        loops = [pair for pair in loops[:-3] if pair[0] in self.lanes_of] + loops[-3:]
        if not loops:
            return
        present = self.present(nest)
        reads = self.reads(accesses, [loop for loop, _ in loops])
        asked = any(
            len(access.node.src[0].src) > 2 and not any(map(access.depends, self.lanes_of))
            for access in accesses
        )
        best: tuple[float, tuple[int, ...]] | None = None
        for factors in self.tilings(loops):
            cost = self.tile_cost(reads, factors, present, self.together[loops_of(reduce)], asked)
            if cost is not None:
                nbytes = self.fetched(reduce, accesses, [loop for loop, _ in loops], factors)
                if nbytes is not None:
                    work = math.prod(factors) * present * self.together[loops_of(reduce)]
                    cost = tiles.fetched_cost(cost, nbytes, work, self.registers)
                cost += self.put_down(reduce, [loop for loop, _ in loops], factors)
                cost /= math.prod(_share(e, f) for (_, e), f in zip(loops, factors))
            if cost is not None and (best is None or cost < best[0] - 1e-9):
                best = (cost, factors)
        if best is None:
            return
        for (loop, _), factor in zip(loops, best[1]):
            if factor > 1:
                self.split(OptKind.UPCAST, loop, factor)

    def is_walked(self, reduce: UOp, accesses: list[Access]) -> bool:
        """Whether there is nothing to use again in a sum over a matrix, which is read in runs."""
        loop = streams.walked(self.kernel, reduce, accesses)
        if loop is None:
            return False
        if any(own in self.lanes_of for own in loops_of(reduce)):
            return True
        known = self.axis(loop, frozenset({AxisKind.LOOP}))
        run = streams.run_of(known[1], self.registers) if known and loop in self.lanes_of else 0
        return run > 0 and self.kernel.attempt(OptKind.UPCAST, self.kernel.axis_of(loop), run)

    def is_worth_a_tile(self, loop: UOp) -> bool:
        """Whether most of what is done in a loop reads something that does not move with it.

        In a kernel that goes over its rows several times, with little that all rows share, rows
        side by side would only be more places in memory to read from at once.
        """
        shared = alone = 0
        for root, nest in self.kernel.nests.items():
            if loop in nest:
                if any(not access.depends(loop) for access in self.inside[root]):
                    shared += self.sizes[root]
                else:
                    alone += self.sizes[root]
        return 2 * alone <= shared

    def is_output(self, loop: UOp) -> bool:
        return any(loop in self.kernel.nests[store] for store in self.kernel.stores)

    def present(self, nest: frozenset[UOp]) -> int:
        """How many instances there are in a nest already."""
        return math.prod(
            axis.extent
            for axis in self.kernel.axes
            if axis.home in nest and axis.kind is AxisKind.UPCAST and isinstance(axis.extent, int)
        )

    def tilings(self, loops: list[tuple[UOp, int]]) -> Iterator[tuple[int, ...]]:
        choices = [
            [f for f in _TILE_FACTORS if extent % f == 0 or (f < extent and self.may_round(loop))]
            for loop, extent in loops
        ]
        return tiles.tilings(choices, self.registers)

    def fetched(
        self, reduce: UOp, accesses: list[Access], loops: list[UOp], factors: tuple[int, ...]
    ) -> int | None:
        """How many bytes of vectors each turn of a product come from further than the nearest
        cache: those of a long strip, which the next tile reads again; None where none is."""
        if len(loops_of(reduce)) != 1:
            return None
        terms, count = math.prod(_turns(loop) for loop in loops_of(reduce)), None
        for access in accesses:
            lane = next((own for own in self.lanes_of if access.depends(own)), None)
            again = any(not access.depends(loop) for loop in loops)
            if lane is None or not again:
                continue
            side = math.prod(f for loop, f in zip(loops, factors) if access.depends(loop))
            each = side * self.lanes_of[lane] * access.node.dtype.itemsize
            count = (count or 0) + (each if terms * each > tiles.NEAREST else 0)
        return count

    def put_down(self, reduce: UOp, loops: list[UOp], factors: tuple[int, ...]) -> float:
        """Cycles per multiply-add that storing the lanes of a tile one by one takes."""
        cost = 0.0
        for access in (a for store in self.kernel.stores for a in self.inside[store]):
            nest = self.kernel.nests.get(access.node, frozenset())
            lane = next((own for own in self.lanes_of if own in nest), None)
            if lane is None or lane in access.hidden:
                continue
            parts = [(abs(access.steps.get(u, 0)), f) for u, f in zip(loops, factors)]
            cost += tiles.scattered_cost(
                access.node.src[1].dtype.itemsize, abs(access.steps.get(lane, 0)),
                self.lanes_of[lane], parts,
            )  # fmt: skip
        return cost / math.prod(_turns(loop) for loop in loops_of(reduce))

    def reads(
        self, accesses: list[Access], loops: list[UOp]
    ) -> Counter[tuple[float, tuple[int, ...]]]:
        """How often a turn loads at this cost and once for each factor of these of `loops`."""
        found: Counter[tuple[float, tuple[int, ...]]] = Counter()
        for access in accesses:
            lane = next((own for own in self.lanes_of if access.depends(own)), None)
            cost = 1.0 if lane is None else self.access_cost(access, lane, self.lanes_of[lane])
            found[cost, tuple(i for i, loop in enumerate(loops) if access.depends(loop))] += 1
        return found

    def tile_cost(
        self,
        reads: Counter[tuple[float, tuple[int, ...]]],
        factors: tuple[int, ...],
        present: int,
        sums: int,
        asked: bool,
    ) -> float | None:
        """Cycles per multiply-add of one turn of the reduce loop; None where registers run out.

        asked: whether single elements have gates, so that they are in registers before their use.
        """
        work = math.prod(factors) * present * sums
        if work + max(factors) + (4 if asked else 2) > self.registers and work > 1:
            return None
        loads = 0.0
        for (cost, of), times in reads.items():
            count: float = present * times
            for i in of:
                count *= factors[i]
            loads += count * cost
        return max(work * 0.5, loads * 0.5, _LATENCY) / work + 0.01 * loads / work

    # ---- unrolling ----------------------------------------------------------------------------

    def unroll(self, reduce: UOp) -> None:
        """Small reduces are written out; long ones as far as it takes to fill the pipeline."""
        self.widen(reduce)
        nest, loops = self.kernel.nests[reduce], loops_of(reduce)
        work = self.present(nest) * self.together[loops]
        scattered = any(
            lane in nest and any(self.access_cost(a, lane, 2) > 1 for a in self.reads_of(reduce))
            for lane in self.lanes_of
        )
        room = _MOST_BODY // (4 if scattered else 1) // work
        in_pairs = may_pack(reduce, self.kernel.target.compute.pair_dots)
        for loop in reversed(sums.in_order(self.kernel, loops)):
            known = self.axis(loop, frozenset({AxisKind.REDUCE}))
            if known is None or known[1] == 1:
                continue
            if known[1] <= min(room, 16):
                if self.kernel.attempt(OptKind.UNROLL, known[0], 0):
                    room //= known[1]
                    work *= known[1]
                continue
            wanted = max(min(room, max(1, 8 // work), 4), 2 if in_pairs else 1)
            parts = range(wanted & ~1, 1, -2) if in_pairs else range(wanted, 1, -1)
            amount = next((n for n in parts if known[1] % n == 0), 1)
            if amount > 1:
                self.kernel.attempt(OptKind.UNROLL, known[0], amount)
            return

    def walk(self, reduce: UOp) -> bool:
        """Read a large matrix row by row where few rows of a result need it."""
        lane = next((u for u in self.kernel.nests[reduce] if u in self.lanes_of), None)
        if lane is None or lane in loops_of(reduce):
            return False
        return few_rows.walk(self.kernel, reduce, lane, self.inside[reduce])

    # ---- loop order ---------------------------------------------------------------------------

    def order(self, reduce: UOp) -> None:
        """The loop over strips of the operand that is read again goes outermost.

        A strip is what fits a cache: one turn of the loop where the lanes are along it, as many as
        there is room for where they are along the sum.
        """
        kernel, nest = self.kernel, self.kernel.nests[reduce]
        loops = [
            (i, axis)
            for i, axis in enumerate(kernel.axes)
            if axis.kind is AxisKind.LOOP and axis.home in nest
        ]
        if len(loops) != 2:
            return
        (first, outer), (second, inner) = loops
        own = loops_of(reduce)
        along = inner.home in self.lanes_of
        if outer.home is inner.home or not (along or any(loop in self.lanes_of for loop in own)):
            return
        if any(outer.home in ranges_of(fill) for fill in kernel.fills):
            return
        if any(loops_of(r) != own and outer.home in kernel.nests[r] for r in kernel.reduces):
            return  # the other would be carried out again and again
        turns = math.prod(_turns(loop) for loop in loops_of(reduce))
        for access in self.inside[reduce]:
            if access.depends(outer.home) or not access.depends(inner.home):
                continue
            side = math.prod(_side_by_side(axis) for axis in kernel.axes if axis.home is inner.home)
            strip = turns * side * access.node.dtype.itemsize
            whole = turns * _turns(inner.home) * access.node.dtype.itemsize
            if not strip <= _STATIONARY < 4 * whole:
                return
            if along:
                kernel.attempt(OptKind.SWAP, first, second)
            elif _STATIONARY < whole and isinstance(inner.extent, int):
                strips = ceildiv(inner.extent, _STATIONARY // strip)
                part = ceildiv(inner.extent, strips)
                if part > 1 and kernel.attempt(OptKind.SPLIT, second, part):
                    kernel.attempt(OptKind.SWAP, first, second)
            return


def _share(extent: int, part: int) -> float:
    """How much of the work is needed where the last part may overlap the one before it."""
    return extent / (ceildiv(extent, part) * part)


def _side_by_side(axis: Axis) -> int:
    inside = axis.kind in (AxisKind.UPCAST, AxisKind.VECTOR)
    return axis.extent if inside and isinstance(axis.extent, int) else 1
