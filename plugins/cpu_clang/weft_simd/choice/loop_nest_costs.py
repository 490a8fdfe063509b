"""Loop-nest cost model: estimate the instructions of each loop nest of a kernel.
Also: register pressure, instruction throughput.

An access with stride one along the lanes costs one instruction for all lanes. So does an access
that does not depend on the lanes. Every other access costs one instruction for each lane.

Source: none known; sound because costs only rank legal choices.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable

from weft.plugin import (
    Access,
    AxisKind,
    GroupOp,
    Kernel,
    Ops,
    OptKind,
    UOp,
    find_zero_products,
    iteration_count,
    loops_of,
    ranges_of,
    trip_count,
)
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP, loop_axis
from weft_simd.choice.operand_packing import Panels


def estimated_trips(loop: UOp) -> int:
    """The trip count of a loop; a guess if it is not constant."""
    return trip_count(loop, thresholds.UNKNOWN_TRIPS)


def estimated_iterations(loops: Iterable[UOp]) -> int:
    """The number of iterations of a loop nest, with a guess for each unknown trip count."""
    return iteration_count(loops, thresholds.UNKNOWN_TRIPS)


class LoopNestCosts:
    """One kernel, and the loops that have lanes so far."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.lanes_of: dict[UOp, int] = {}
        self.best_widths: dict[UOp, int] = {}  # of vectors along each loop, until one is split
        self.vector_accesses: dict[UOp, bool] = {}  # whether vectors along each loop are loaded
        compute = kernel.target.compute
        self.machine = compute.machine
        self.long_chain = thresholds.long_chain(self.machine)
        self.strided_block = thresholds.strided_block(self.machine)
        values = kernel.sink.toposort(gate=lambda u: u.op is not Ops.INDEX)
        arithmetic = [u for u in values if u.op in GroupOp.ALU or u.op in (Ops.LOAD, Ops.CAST)]
        widest = max((u.dtype.itemsize for u in arithmetic), default=4)
        stored = max((s.src[1].dtype.itemsize for s in kernel.stores), default=4)
        self.lanes = 0
        if compute.vector_widths:
            self.lanes = compute.vector_bytes // max(widest, stored)
        self.registers = compute.vector_registers if self.lanes else compute.limits.max_upcast
        self.operations = max(1.0, len(arithmetic) / max(1, len(kernel.nests)))
        self.sizes = {root: estimated_iterations(nest) for root, nest in kernel.nests.items()}
        self.inside = {root: kernel.inside(root) for root in kernel.nests}
        alone = (one[0].node for one in self.inside.values() if len(one) == 1)
        self.gates = {
            node.src[0]: ranges_of(node.src[0].src[2])
            for node in alone
            if node.op is Ops.LOAD and len(node.src[0].src) > 2
        }
        self.together = Counter(loops_of(reduce) for reduce in kernel.reduces)
        # one REDUCE for each set of loops
        self.reduces = list({loops_of(reduce): reduce for reduce in kernel.reduces}.values())
        self.terms = max((estimated_iterations(loops_of(r)) for r in self.reduces), default=0)
        self.zero_products = {reduce: find_zero_products(reduce) for reduce in kernel.reduces}
        self.short_rows = self.has_only_short_rows()
        self.panels = Panels(kernel, self.inside, self.reduces, self.lanes)

    def has_only_short_rows(self) -> bool:
        """Whether the kernel only reduces short contiguous rows, one directly after the other.

        Lanes would be rows, and every element would be gathered. The compiler vectorises a plain
        loop over rows by shuffles of whole vectors.
        """
        if len(self.reduces) != 1 or self.kernel.fills:
            return False
        (reduce,) = self.reduces
        nest, own = self.kernel.nests[reduce], loops_of(reduce)
        if len(own) != 1 or len(nest) != 2 or estimated_trips(own[0]) > thresholds.SHORT_ROW:
            return False
        (row,) = nest.difference(own)
        whole = {row: estimated_trips(own[0]), own[0]: 1}
        reads = [access for access in self.reads_of(reduce) if access.depends(row)]
        rows = [access for access in reads if access.depends(own[0])]
        stored = all(self.kernel.nests[store] <= {row} for store in self.kernel.stores)
        plain = not any(access.irregular for access in reads)
        return stored and plain and all(one.steps == whole for one in rows) and bool(rows)

    def reads_of(self, reduce: UOp) -> list[Access]:
        """The accesses of all that is accumulated in the loops of a REDUCE."""
        loops = loops_of(reduce)
        same = (one for one in self.kernel.reduces if loops_of(one) == loops)
        return list({access.node: access for one in same for access in self.inside[one]}.values())

    def steps(self, root: UOp, own: Collection[UOp]) -> int:
        """The operations of one iteration of these loops in a REDUCE or a STORE, without those of
        other reductions."""
        apart = (Ops.REDUCE, Ops.FILL, Ops.INDEX)
        value = root.src[1] if root.op is Ops.STORE else root.src[0]
        below = value.toposort(gate=lambda u: u.op not in apart)
        mine = (u for u in below if u.op in GroupOp.ALU or u.op in (Ops.LOAD, Ops.CAST))
        return sum(not ranges_of(u).isdisjoint(own) for u in mine)

    def unrolled_instances(self, nest: frozenset[UOp]) -> int:
        """The unrolled instances of a nest."""
        return math.prod(
            axis.extent
            for axis in self.kernel.axes
            if axis.loop in nest and axis.kind is AxisKind.UPCAST and isinstance(axis.extent, int)
        )

    def longest(self, nest: frozenset[UOp]) -> int:
        """The most unrolled instances along one loop of a nest."""
        return max((self.unrolled_instances(frozenset((loop,))) for loop in nest), default=1)

    def is_output(self, loop: UOp) -> bool:
        return any(loop in self.kernel.nests[store] for store in self.kernel.stores)

    def is_dominated_by_reduction(self, store: UOp) -> bool:
        """Whether a stored value is a reduction so long that the loops are chosen for it."""
        return any(
            self.sizes[reduce] >= thresholds.LONG_SUM * self.sizes[store]
            for reduce in self.reduces
            if reduce in store.toposort(gate=lambda u: u is store or u.op is not Ops.STORE)
        )

    def is_hidden(self, lane: UOp) -> bool:
        """Whether a LOAD has a gate or an unknown stride for each lane."""
        return any(
            lane in access.irregular
            for root, nest in self.kernel.nests.items()
            if lane in nest
            for access in self.inside[root]
        )

    def is_transposed(self, lane: UOp) -> bool:
        """Whether a store along these lanes loads something contiguous along another loop."""
        return any(
            self.contiguous_loop(access, lane) is not None
            for store in self.kernel.stores
            if lane in self.kernel.nests[store]
            for access in self.inside[store]
        )

    def contiguous_loop(self, access: Access, lane: UOp) -> UOp | None:
        """The contiguous loop of a LOAD with a stride from lane to lane."""
        if access.node.op is not Ops.LOAD or access.steps.get(lane, 1) == 1:
            return None
        across = next((u for u, step in access.steps.items() if abs(step) == 1), None)
        hidden = lane in access.irregular or across in access.irregular
        return None if hidden or across is lane else across

    def may_overlap(self, loop: UOp) -> bool:
        """Whether parts that do not divide the extent are allowed."""
        place = self.kernel.axis_of(loop, LOOP)
        return place is not None and loop not in self.kernel.changing | self.kernel.once

    def may_pad(self, loop: UOp) -> bool:
        """Whether idle iterations may round an extent up if parts may not overlap: an output of a
        long reduction in a kernel that reads what it writes, as in an update of weights."""
        place = self.kernel.axis_of(loop, LOOP)
        if place is None or loop not in self.kernel.changing or not self.is_output(loop):
            return False
        fixed = self.kernel.once | self.kernel.ordered
        long = all(map(self.is_dominated_by_reduction, self.kernel.stores))
        return long and loop not in fixed and not self.kernel.fills

    def allows_tail(self, loop: UOp) -> bool:
        """Whether parts need not divide an extent."""
        return self.may_overlap(loop) or self.may_pad(loop)

    def split(self, kind: OptKind, loop: UOp, amount: int) -> bool:
        """Split a loop into lanes or instances, with idle iterations if parts may not overlap."""
        self.best_widths.clear()
        known = loop_axis(self.kernel, loop)
        if known is not None and known[1] % amount and not self.may_overlap(loop):
            if not self.kernel.attempt(OptKind.PADTO, known[0], amount):
                return False
        return self.kernel.attempt(kind, self.kernel.axis_of(loop), amount)

    def cost(self, loop: UOp, width: int) -> float:
        """The cost of all nests of a loop."""
        nests = self.kernel.nests
        return sum(self.nest_cost(root, loop, width) for root in nests if loop in nests[root])

    def nest_cost(self, root: UOp, loop: UOp, width: int) -> float:
        nest = self.kernel.nests[root]
        size = self.sizes[root] / width
        if width > 1 and self.prevents_packing(root, loop):
            size *= thresholds.UNPACKED_PRODUCT
        total = size * self.operations
        for access in self.inside[root]:
            total += size * self.access_cost(access, loop, width)
        if root.op is Ops.REDUCE and loop in loops_of(root) and width > 1:
            done = self.sizes[root] / estimated_iterations(loops_of(root))
            total += done * 2.0 * math.log2(width)
            again = sum(self.is_read_again(access, nest) for access in self.inside[root])
            total += size * thresholds.UNPACKED_VECTOR * again
        return total

    def is_read_again(self, access: Access, nest: frozenset[UOp]) -> bool:
        """Whether many iterations read the same, which a panel could hold for output lanes."""
        again = estimated_iterations(loop for loop in nest if not access.depends(loop))
        return self.panels.possible and again >= thresholds.REUSED

    def prevents_packing(self, root: UOp, loop: UOp) -> bool:
        """Whether lanes along a long sum of products would prevent packing of its operands.

        Rows are then read in place, each of them longer than a cache is associative, and again for
        every other row.
        """
        if root.op is not Ops.REDUCE or loop not in loops_of(root) or not self.panels.possible:
            return False
        own = loops_of(root)
        loads = [access for access in self.inside[root] if access.node.op is Ops.LOAD]
        again = [self.panels.reuse_count(access, root) for access in loads]
        terms = estimated_iterations(own)
        reused = len(loads) > 1 and min(again) >= thresholds.REUSED
        itemsize = max(access.node.dtype.itemsize for access in loads) if loads else 1
        return reused and terms >= thresholds.long_product(self.machine, itemsize)

    def access_cost(self, access: Access, loop: UOp, width: int) -> float:
        if not access.depends(loop):
            return 1.0
        if width == 1:
            return thresholds.TESTED_ELEMENT if self.is_tested(access, loop) else 1.0
        if loop not in access.irregular and access.steps[loop] == 1:
            return 1.0
        if loop in access.irregular:
            step = access.lane_stride(loop, width)
            if step == 1 or (step == 0 and access.node.op is Ops.LOAD):
                return 1.0
            if self.terms >= thresholds.TESTED_TERMS and self.is_contiguous(access, loop):
                return thresholds.TESTED_VECTOR + thresholds.TESTED_NEIGHBOUR * width
        if access.node.op is Ops.STORE:
            apart = access.steps.get(loop, 0) * access.node.src[1].dtype.itemsize
            is_filled = self.run(access) >= self.strided_block
            once = apart % thresholds.conflict_bytes(self.machine) or is_filled
            factor = thresholds.SCATTERED_STORE if once else thresholds.CONFLICTING_STORE
            return factor * thresholds.LANE_ACCESS * width
        packed = 1.0 + thresholds.LANE_ACCESS * width / self.panels.gather_reuse(access, loop)
        overlap = self.is_tested(access, loop) and estimated_trips(loop) % width
        return min((thresholds.TESTED_LANE if overlap else thresholds.LANE_ACCESS) * width, packed)

    def is_tested(self, access: Access, loop: UOp) -> bool:
        """Whether single elements have gates that depend on a loop, as at the edges of pooling.
        Gates of contiguous elements are evaluated for many at once, at least by the compiler."""
        if access.node.op is not Ops.LOAD or access.node.src[0] not in self.gates:
            return False
        steps = (abs(step) for u, step in access.steps.items() if u.arg.kind is AxisKind.LOOP)
        return loop in self.gates[access.node.src[0]] and 1 not in steps

    @staticmethod
    def is_contiguous(access: Access, loop: UOp) -> bool:
        """Whether a LOAD is contiguous along a loop, with gates or without."""
        return access.node.op is Ops.LOAD and access.steps.get(loop) == 1

    def run(self, store: Access) -> int:
        """The number of contiguous elements stored by loops that are short enough to unroll."""
        length = 1
        for loop, step in sorted(store.steps.items(), key=lambda pair: abs(pair[1])):
            if abs(step) == length and estimated_trips(loop) <= thresholds.MOST_INSTANCES:
                length *= estimated_trips(loop)
        return length
