"""Vectorisation: choose the loops that become vector lanes, and blocks for strided loads.
Also: auto-vectorization, loop vectorization.

At most one loop of each nest gets lanes. The cost model compares the candidates.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), vectorisation.
"""

from __future__ import annotations

from weft.plugin import AxisKind, GroupOp, Ops, OptKind, UOp, ceildiv, extent_of
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP, loop_axis
from weft_simd.choice.blocked_transpose import is_block
from weft_simd.choice.loop_nest_costs import LoopNestCosts


def share(extent: int, part: int) -> float:
    """The share of the work that is needed if the last part overlaps the one before it."""
    return extent / (ceildiv(extent, part) * part)


def _values_of(store: UOp) -> dict[UOp, None]:
    """The nodes that compute what is stored, without addresses."""
    return store.src[1].toposort(gate=lambda u: u.op is not Ops.INDEX)


class VectorLanes(LoopNestCosts):
    """The part of the choice that comes first."""

    def vectors(self) -> None:
        """One VECTOR range in every nest that gains by it, the largest nests first."""
        if self.lanes < 2 or self.short_rows:
            return
        nests = self.kernel.nests
        for root in sorted(nests, key=lambda one: -self.sizes[one]):
            if any(loop in self.lanes_of for loop in nests[root]):
                continue
            best: tuple[float, float, UOp, int] | None = None
            others = self.costs_of_other_nests(root)
            for loop in sorted(nests[root], key=lambda u: -u.arg.id):
                width = self.width(loop)
                if width < 2 or loop in self.kernel.ordered or not self.is_free(loop):
                    continue
                cost = self.cost(loop, width)
                whole = cost + self.cost_of_other_nests(loop, others)
                if best is None or whole < best[0]:
                    best = (whole, cost, loop, width)
            if best is None:
                continue
            _, cost, loop, most = best
            if cost < thresholds.PROFITABLE * self.cost(loop, 1):
                for width in self.widths(loop, most):
                    if self.split(OptKind.VECTOR, loop, width):
                        self.lanes_of[loop] = width
                        break

    def costs_of_other_nests(self, root: UOp) -> dict[UOp, float | None]:
        """The least cost of each other nest that shares loops with one and lacks others of it, with
        lanes along a loop of its own; None where no such loop gets lanes."""
        nests, costs = self.kernel.nests, dict[UOp, float | None]()
        for other, nest in nests.items():
            if nest.isdisjoint(nests[root]) or nests[root] <= nest:
                continue
            widths = {own: self.width(own) for own in nest - nests[root]}
            lanes = [self.nest_cost(other, own, n) for own, n in widths.items() if n > 1]
            costs[other] = min(lanes, default=None)
        return costs

    def cost_of_other_nests(self, loop: UOp, costs: dict[UOp, float | None]) -> float:
        """The cost of the nests of `costs_of_other_nests` that lack a loop, if that gets lanes."""
        total = 0.0
        for other, cost in costs.items():
            if loop not in self.kernel.nests[other]:
                total += self.nest_cost(other, loop, 1) if cost is None else cost
        return total

    def widths(self, loop: UOp, width: int) -> list[int]:
        """The numbers of lanes to try, in order; the last one is always legal.

        Each operation of a long chain waits for the one before: several vectors hide that latency.
        As one long vector they are no more text to compile. The same holds for elements that are
        gathered by indices of the same size.
        """
        extent = extent_of(loop)
        if 2 * width > self.registers and (self.is_transposed(loop) or self.is_hidden(loop)):
            # of narrow numbers; see `blocks`. More lanes are no faster if each is inserted
            return [max(2, self.registers // 2), width]
        if self.are_rows_gathered(loop):
            addresses = self.kernel.target.compute.vector_bytes // thresholds.ADDRESS_BYTES
            return [min(width, addresses), width]
        waits = self.operations >= self.long_chain or (
            4 * width == self.kernel.target.compute.vector_bytes and self.is_gathered(loop)
        )
        assert isinstance(extent, int)
        if self.kernel.reduces and width == self.lanes and self.is_long(loop):
            return [2 * width, width] if extent % (2 * width) == 0 else [width]
        if self.kernel.reduces or width < self.lanes or not waits:
            return [width]
        more = [width * times for times in thresholds.LONG_VECTORS]
        fits = [
            w
            for w in more
            if extent % w == 0
            or (self.may_overlap(loop) and extent > thresholds.OVERLAPPED_VECTORS * w)
        ]
        return [*fits, width]

    def is_long(self, loop: UOp) -> bool:
        """Whether only stores are in this loop, and one at least stores a long chain: rows in a
        local array between two reductions, and those that are stored after the last."""
        nests = self.kernel.nests
        roots = [root for root in nests if loop in nests[root]]
        if any(root.op is not Ops.STORE for root in roots):
            return False
        return max(self.steps(root, frozenset((loop,))) for root in roots) >= thresholds.long_chain(
            self.machine
        )

    def is_gathered(self, lane: UOp) -> bool:
        """Whether a LOAD has an address that is loaded itself, another one for each lane."""
        return any(
            lane in access.irregular
            and access.node.op is Ops.LOAD
            and any(node.op is Ops.LOAD for node in access.node.src[0].src[1].toposort())
            for root, nest in self.kernel.nests.items()
            if lane in nest
            for access in self.inside[root]
        )

    def are_rows_gathered(self, lane: UOp) -> bool:
        """The same in a kernel that does nothing else, if several streams are prefetched."""
        kernel = self.kernel
        gathered = kernel.target.compute.read_streams > 1 and self.is_gathered(lane)
        return gathered and not kernel.reduces and not kernel.fills and len(kernel.stores) == 1

    def batch_gathered_rows(self) -> None:
        """Unroll and jam the loop over gathered rows: each row is a stream of indices and a stream
        of stores. It has as many lanes as a register holds addresses."""
        for lane in self.lanes_of:
            if self.are_rows_gathered(lane):
                loops = [(i, a) for i, a in enumerate(self.kernel.axes) if a.kind is AxisKind.LOOP]
                rows = [place for place, axis in loops if axis.loop is not lane]
                place = rows[-1] if rows else self.kernel.axis_of(lane, LOOP)
                if place is not None:
                    self.kernel.attempt(OptKind.UPCAST, place, thresholds.GATHERED_ROWS)

    def width(self, loop: UOp) -> int:
        """The best number of lanes of a vector: a power of two, 0 for too few."""
        found = self.best_widths.get(loop)
        if found is None:
            found = self.best_widths[loop] = self.best_width(loop)
        return found

    def best_width(self, loop: UOp) -> int:
        """As many lanes as fit; fewer where these are tested one by one, which takes longest where
        vectors overlap."""
        most, extent = self.widest(loop), extent_of(loop)
        if most < 2 or not isinstance(extent, int) or extent % most == 0:
            return most
        nests = self.kernel.nests
        reads = (access for root in nests if loop in nests[root] for access in self.inside[root])
        if not any(self.is_tested(access, loop) for access in reads):
            return most
        part = thresholds.REGISTER_PART
        fits = [most, *(w for w in (most // 2, most // 4) if part * w >= self.lanes)]
        return min(fits, key=lambda width: self.cost(loop, width) / share(extent, width))

    def widest(self, loop: UOp) -> int:
        """The number of lanes that fit: a power of two, 0 for too few.

        One that divides the extent is taken where it is long enough; otherwise, for an output, the
        last vector may overlap the one before it. So it may if that is clearly faster: a quarter of
        a register is long enough only where a wider vector would do more than half its work twice,
        or would gather.
        """
        extent = extent_of(loop)
        if not isinstance(extent, int):
            return 0
        width = 1 << (self.lanes.bit_length() - 1)
        while width > 1 and extent % width:
            width //= 2
        enough = width * thresholds.REGISTER_PART >= self.lanes
        if width == self.lanes or not self.allows_tail(loop):
            return width if enough else 0
        wide = 1 << (min(self.lanes, extent).bit_length() - 1)
        if enough and not self.kernel.reduces:
            gains = self.may_overlap(loop) and self.has_vector_accesses(loop, width)
            faster = thresholds.PROFITABLE * wide * share(extent, wide) > width
            return wide if gains and faster else width
        if wide > 1 and wide * share(extent, wide) > (width if enough else 1):
            return wide
        return width if enough else 0

    def has_vector_accesses(self, lane: UOp, width: int) -> bool:
        """Whether vectors along a loop are loaded and stored as such, or in small blocks."""
        found = self.vector_accesses.get(lane)
        if found is None:
            is_small = width < thresholds.LEAST_BLOCK_LANES
            found = self.is_streamed(lane) or (is_small and self.is_block(lane))
            self.vector_accesses[lane] = found
        return found

    def is_block(self, lane: UOp) -> bool:
        """Whether the kernel only transposes: blocks of vectors along two loops."""
        kernel = self.kernel
        if not self.is_transposed(lane) or self.is_hidden(lane):
            return False
        return not any(u.op in GroupOp.ALU for s in kernel.stores for u in _values_of(s))

    def is_streamed(self, lane: UOp) -> bool:
        """Whether all accesses along these lanes are contiguous vectors, without gates."""
        along = [a for inside in self.inside.values() for a in inside if a.depends(lane)]
        plain = all(lane not in a.irregular and a.steps.get(lane) == 1 for a in along)
        return plain and not any(self.is_tested(a, lane) for a in along)

    def is_free(self, loop: UOp) -> bool:
        """Whether no nest of this loop has lanes already."""
        return not any(
            loop in nest and any(other in self.lanes_of for other in nest)
            for nest in self.kernel.nests.values()
        )

    def blocks(self) -> None:
        """Unroll strided loads into blocks, which use whole cache lines."""
        for store in self.kernel.stores:
            nest = self.kernel.nests[store]
            lane = next((loop for loop in nest if loop in self.lanes_of), None)
            if lane is None or self.is_dominated_by_reduction(store):
                continue
            for access in self.inside[store]:
                across = self.contiguous_loop(access, lane)
                if across is None:
                    continue
                known = loop_axis(self.kernel, across)
                if known is None or self.unrolled_instances(nest) > 1:
                    continue
                side = self.lanes_of[lane]
                if known[1] >= side and 2 * side <= self.registers:
                    if self.kernel.attempt(OptKind.UPCAST, known[0], side):
                        nbytes = side * store.src[1].dtype.itemsize
                        fills = 2 * nbytes >= self.machine.line_bytes
                        whole = nbytes >= self.machine.register_bytes
                        block = is_block(self.kernel, access, across, lane)
                        if (fills or whole) and not block:
                            self.unroll_two_squares(lane, across)
                elif known[1] >= self.strided_block:
                    self.kernel.attempt(OptKind.UPCAST, known[0], self.strided_block)

    def unroll_two_squares(self, lane: UOp, across: UOp) -> None:
        """Unroll two squares along the stores, which fill a cache line or two adjacent ones; the
        loop along the loads is outside."""
        known = loop_axis(self.kernel, lane)
        if known is None or known[1] < self.strided_block or known[1] % 2:
            return
        if self.kernel.attempt(OptKind.UPCAST, known[0], 2):
            outer, inner = self.kernel.axis_of(across, LOOP), self.kernel.axis_of(lane, LOOP)
            if outer is not None and inner is not None and outer < inner:
                self.kernel.attempt(OptKind.SWAP, outer, inner)
