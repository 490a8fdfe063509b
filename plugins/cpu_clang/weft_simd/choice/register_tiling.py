"""Register tiling: choose the tiles of outputs in registers and the unrolling of reductions.
Also: register blocking, unroll-and-jam, unroll and jam, outer-loop unrolling, micro-kernel.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), unroll-and-jam;
Goto & van de Geijn, "Anatomy of high-performance matrix multiplication" (ACM TOMS 2008).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from weft.plugin import Access, Ops, OptKind, UOp, loops_of, may_pack
from weft_simd import thresholds
from weft_simd.choice import (
    reduction_loop_order,
    sliding_window_reuse,
    streaming_reductions,
    tile_shapes,
)
from weft_simd.choice.axes import REDUCE, loop_axis
from weft_simd.choice.loop_nest_costs import (
    LoopNestCosts,
    estimated_iterations,
    estimated_trips,
)
from weft_simd.choice.vector_lanes import share

_TILE_FACTORS = range(1, thresholds.MOST_INSTANCES + 1)


class RegisterTiles(LoopNestCosts):
    """The part of the choice that follows the lanes."""

    def tile(self, reduce: UOp) -> None:
        """Unroll the output loops along which loads are used again, into a tile of registers."""
        nest, accesses = self.kernel.nests[reduce], self.reads_of(reduce)
        own = set(loops_of(reduce))
        if self.short_rows or estimated_iterations(own) < thresholds.LEAST_TILED_TERMS:
            return
        given = self.kernel, reduce, self.lanes_of, accesses
        if streaming_reductions.reduce_short_rows(*given, self.registers):
            return
        if streaming_reductions.reduce_in_runs(*given):
            return
        if self.is_streaming_reduction(reduce, accesses):
            return
        fixed = self.loops_unrolled_for_zeros(reduce)
        loops = self.loops_to_tile(reduce, accesses, fixed)
        if not loops:
            return
        unrolled_instances, tiled = self.unrolled_instances(nest), [loop for loop, _ in loops]
        reads = self.reads(accesses, tiled)
        strips, scattered = self.strips(reduce, accesses, tiled), self.scattered(tiled)
        streamed = self.streamed_elements(reduce, accesses, tiled)
        best: tuple[float, tuple[int, ...]] | None = None
        # single elements that have gates are in registers before their use
        gated = self.has_gated_elements(accesses)
        product = _is_matrix_product(reduce) and not gated
        spare = thresholds.GATED_REGISTERS if gated else thresholds.SPARE_REGISTERS
        near = thresholds.l1_share(self.machine, thresholds.NEAREST)
        for factors in self.tilings(loops, fixed):
            if product:
                operands = tile_shapes.operand_registers((of for _, of in reads), factors)
            else:
                operands = max(factors) + spare
            # registers besides those of sums: of operands, or of another reduction in the same body
            registers = self.registers - max(self.longest(nest), operands)
            cost = self.tile_cost(
                reads, factors, unrolled_instances, self.together[loops_of(reduce)], registers
            )
            if cost is not None:
                if strips:
                    nbytes = tile_shapes.strip_bytes(
                        strips, estimated_iterations(own), factors, near
                    )
                    work = math.prod(factors) * unrolled_instances * self.together[loops_of(reduce)]
                    cost = tile_shapes.fetched_cost(cost, nbytes, work, self.machine)
                cost += tile_shapes.streamed_cost(streamed, factors, self.machine)
                cost += self.scattered_store_cost(reduce, scattered, factors)
                cost /= math.prod(share(e, f) for (_, e), f in zip(loops, factors))
            if cost is not None and (best is None or cost < best[0] - thresholds.EQUAL_COST):
                best = (cost, factors)
        if best is None:
            return
        for place in tile_shapes.by_instances(best[1]):
            if best[1][place] > 1:
                self.split(OptKind.UPCAST, loops[place][0], best[1][place])

    def has_gated_elements(self, accesses: list[Access]) -> bool:
        """Whether single elements are loaded under a condition."""
        return any(
            len(access.node.src[0].src) > 2 and not any(map(access.depends, self.lanes_of))
            for access in accesses
        )

    def loops_to_tile(
        self, reduce: UOp, accesses: list[Access], fixed: tuple[UOp, ...]
    ) -> list[tuple[UOp, int]]:
        """The output loops along which something is read again, and their extents. fixed: loops
        that are unrolled in any case, which come last."""
        nest, own = self.kernel.nests[reduce], set(loops_of(reduce))
        loops = []
        for loop in sorted(nest - own, key=lambda u: u.arg.id):
            known = loop_axis(self.kernel, loop)
            reused = any(not a.depends(loop) for a in accesses)
            if known is None or known[1] < 2 or not reused or not self.is_output(loop):
                continue
            if loop in fixed:
                continue
            # instances of another reduction are enough for this one
            if self.unrolled_instances(frozenset((loop,))) == 1 and self.is_tiling_profitable(loop):
                loops.append((loop, known[1]))
        # three loops, and the one that vectors are of
        last = thresholds.TILED_LOOPS
        loops = [pair for pair in loops[:-last] if pair[0] in self.lanes_of] + loops[-last:]
        loops += [(loop, estimated_trips(loop)) for loop in fixed]
        return loops

    def is_streaming_reduction(self, reduce: UOp, accesses: list[Access]) -> bool:
        """Whether a reduction reads each element of a matrix once, which is then read in runs."""
        loop = streaming_reductions.streaming_output_loop(self.kernel, reduce, accesses)
        if loop is None:
            return False
        if any(own in self.lanes_of for own in loops_of(reduce)):
            streaming_reductions.interleave_rows(self.kernel, loop)
            return True
        known = loop_axis(self.kernel, loop)
        run = (
            streaming_reductions.run_length(known[1], self.machine)
            if known and loop in self.lanes_of
            else 0
        )
        return run > 0 and self.kernel.attempt(OptKind.UPCAST, self.kernel.axis_of(loop), run)

    def is_tiling_profitable(self, loop: UOp) -> bool:
        """Whether most work in a loop reads something that is invariant in it.

        In a kernel with several passes over its rows, with little that all rows share, a tile of
        rows would only be more access streams.
        """
        shared = alone = 0
        for root, nest in self.kernel.nests.items():
            if loop in nest:
                if any(not access.depends(loop) for access in self.inside[root]):
                    shared += self.sizes[root]
                else:
                    alone += self.sizes[root]
        return 2 * alone <= shared

    def loops_unrolled_for_zeros(self, reduce: UOp) -> tuple[UOp, ...]:
        """The output loops that are unrolled whole, so that structural zeros can be eliminated."""
        zeros = self.zero_products[reduce]
        if zeros is None:
            return ()
        fits = estimated_iterations(zeros.outputs) <= self.registers // 2
        whole = all(
            self.is_output(loop)
            and (known := loop_axis(self.kernel, loop)) is not None
            and known[1] == estimated_trips(loop)
            for loop in zeros.outputs
        )
        if not fits or not whole:
            self.zero_products[reduce] = None
            return ()
        return zeros.outputs

    def tilings(
        self, loops: list[tuple[UOp, int]], fixed: tuple[UOp, ...]
    ) -> Iterator[tuple[int, ...]]:
        choices = [
            [extent] if loop in fixed else
            [f for f in _TILE_FACTORS if extent % f == 0 or (f < extent and self.allows_tail(loop))]
            for loop, extent in loops
        ]  # fmt: skip
        return tile_shapes.tilings(choices, self.registers)

    def strips(
        self, reduce: UOp, accesses: list[Access], loops: list[UOp]
    ) -> list[tuple[int, list[int]]]:
        """For each operand of vectors that every tile reads again: the bytes of one vector, and
        along which of `loops` a tile has several."""
        found: list[tuple[int, list[int]]] = []
        for access in accesses if len(loops_of(reduce)) == 1 else ():
            lane = next((own for own in self.lanes_of if access.depends(own)), None)
            of = [place for place, loop in enumerate(loops) if access.depends(loop)]
            if lane is not None and len(of) < len(loops):
                found.append((self.lanes_of[lane] * access.node.dtype.itemsize, of))
        return found

    def streamed_elements(
        self, reduce: UOp, accesses: list[Access], loops: list[UOp]
    ) -> list[tuple[int, list[int]]]:
        """For each operand whose elements all lanes share, and that the second-level cache does not
        hold until the next strip: the bytes of an element, and along which of `loops` a tile has
        several."""
        far = thresholds.l2_share(self.machine, thresholds.NEAR)
        found: list[tuple[int, list[int]]] = []
        for access in accesses if _is_matrix_product(reduce) else ():
            itemsize = access.node.dtype.itemsize
            own = [loop for loop in self.kernel.nests[reduce] if access.depends(loop)]
            shared = not any(access.depends(lane) for lane in self.lanes_of)
            if shared and estimated_iterations(own) * itemsize > far:
                found.append((itemsize, [i for i, u in enumerate(loops) if access.depends(u)]))
        return found

    def scattered(self, loops: list[UOp]) -> list[tuple[int, int, int, list[int]]]:
        """For each store of vectors: the bytes of an element, the stride and the number of its
        lanes, and the stride of each of `loops`."""
        found = []
        for access in (a for store in self.kernel.stores for a in self.inside[store]):
            nest = self.kernel.nests.get(access.node, frozenset())
            lane = next((own for own in self.lanes_of if own in nest), None)
            if lane is not None and lane not in access.irregular:
                steps = [abs(access.steps.get(loop, 0)) for loop in loops]
                apart = abs(access.steps.get(lane, 0))
                itemsize = access.node.src[1].dtype.itemsize
                found.append((itemsize, apart, self.lanes_of[lane], steps))
        return found

    def scattered_store_cost(
        self,
        reduce: UOp,
        stores: list[tuple[int, int, int, list[int]]],
        factors: tuple[int, ...],
    ) -> float:
        """Cycles per multiply-add for the scattered stores of a tile."""
        cost = 0.0
        for itemsize, apart, lanes, steps in stores:
            cost += tile_shapes.scattered_cost(
                itemsize, apart, lanes, list(zip(steps, factors)), self.machine
            )
        return cost / estimated_iterations(loops_of(reduce))

    def reads(
        self, accesses: list[Access], loops: list[UOp]
    ) -> Counter[tuple[float, tuple[int, ...]]]:
        """The number of loads of an iteration at this cost and for each factor of these `loops`."""
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
        unrolled_instances: int,
        sums: int,
        registers: int,
    ) -> float | None:
        """Cycles per multiply-add of one iteration of the reduction; None if registers run out.

        registers: how many there are for sums.
        """
        work = math.prod(factors) * unrolled_instances * sums
        if work > max(registers, 1):
            return None
        loads = 0.0
        for (cost, of), times in reads.items():
            count: float = unrolled_instances * times
            for i in of:
                count *= factors[i]
            loads += count * cost
        latency = self.machine.multiply_add_latency
        busy = max(thresholds.issue_cycles(self.machine) * max(work, loads), latency)
        return busy / work + thresholds.HIDDEN_LOAD * loads / work

    def overlap(self, reduce: UOp) -> bool:
        """Unroll overlapping windows into one body, if all of them can be unrolled."""
        reads = self.reads_of(reduce)
        if self.steps(reduce, loops_of(reduce)) >= self.long_chain:
            return False
        loads = (access.node.src[0] for access in reads if access.node.op is Ops.LOAD)
        few = self.is_scattered(reduce) or any(place in self.gates for place in loads)
        most = thresholds.TESTED_WINDOWS if few else thresholds.WINDOWS
        return sliding_window_reuse.unroll_windows(self.kernel, reduce, reads, self.lanes_of, most)

    def is_scattered(self, reduce: UOp) -> bool:
        """Whether a reduction gathers lanes."""
        nest, reads = self.kernel.nests[reduce], self.reads_of(reduce)
        lanes = (lane for lane in self.lanes_of if lane in nest)
        return any(self.access_cost(access, lane, 2) > 1 for lane in lanes for access in reads)

    def are_gathers_packed(self, reduce: UOp) -> bool:
        """Whether a panel holds all lanes that a reduction would gather, so that its body loads
        them as vectors."""
        nest = self.kernel.nests[reduce]
        return all(
            self.panels.gather_reuse(access, lane) >= thresholds.REUSED
            for lane in self.lanes_of
            if lane in nest
            for access in self.reads_of(reduce)
            if self.access_cost(access, lane, 2) > 1
        )

    def widen(self, reduce: UOp) -> bool:
        """Unroll accumulators along the output's lanes, so that rows are read in runs."""
        nest = self.kernel.nests[reduce]
        lane = next((u for u in nest if u in self.lanes_of and u not in loops_of(reduce)), None)
        if lane is None or self.unrolled_instances(nest) > 1:
            return False
        known = loop_axis(self.kernel, lane)
        if known is None or known[1] < thresholds.WIDENED[0] or not self.is_output(lane):
            return False
        runs = [thresholds.registers_share(self.machine, part) for part in thresholds.RUNS]
        long = [f for f in runs if f > 1 and known[1] % f == 0]
        wide = [f for f in long if known[1] >= thresholds.LEAST_RUNS * f and len(self.reduces) == 1]
        factors = (*wide, *thresholds.WIDENED)
        factor = next((f for f in factors if known[1] % f == 0), thresholds.WIDENED[0])
        return self.kernel.attempt(OptKind.UPCAST, known[0], factor)

    def unroll_structural_zeros(self, reduce: UOp, work: int) -> int:
        """Unroll the loops whose products have structural zeros. The values of a loop body then."""
        zeros = self.zero_products[reduce]
        for loop in zeros.terms if zeros is not None else ():
            place = self.kernel.axis_of(loop, REDUCE)
            if self.kernel.attempt(OptKind.UNROLL, place, 0):
                work *= estimated_trips(loop)
        return max(1, round(work * (1.0 if zeros is None else zeros.share)))

    def unroll_shared_rows(self, reduce: UOp, most: int) -> int:
        """Unroll the rows of small windows, as of depthwise convolutions, if the windows of a tile
        share rows: each is then read once (4 windows of 7 rows: 10 instead of 28). Gives their
        number; 1 if there are none, or more than `most`."""
        loops = [loop for loop in loops_of(reduce) if estimated_trips(loop) > 1]
        if len(loops) < 2 or max(map(estimated_trips, loops)) > thresholds.UNROLLED_TRIPS:
            return 1
        shared = {
            loop: self.shared_reads(reduce, loop) for loop in loops if estimated_trips(loop) <= most
        }
        best = max(shared, key=lambda loop: shared[loop], default=None)
        if best is None or shared[best] <= 1.0:
            return 1
        place = self.kernel.axis_of(best, REDUCE)
        return estimated_trips(best) if self.kernel.attempt(OptKind.UNROLL, place, 0) else 1

    def shared_reads(self, reduce: UOp, loop: UOp) -> float:
        """The number of reads of an element by the windows of a tile, over a loop; 1 if they share
        none, as in a reduction of indices alone."""
        nest = self.kernel.nests[reduce] - self.lanes_of.keys()
        counts = {u: self.unrolled_instances(frozenset((u,))) for u in nest}
        tile = [(u, count) for u, count in counts.items() if count > 1]
        reads = self.reads_of(reduce)
        return max((_shared(read, loop, u, n) for read in reads for u, n in tile), default=1.0)

    def unroll(self, reduce: UOp) -> None:
        """Unroll small reductions whole, and long ones far enough to fill the pipeline."""
        nest, loops = self.kernel.nests[reduce], loops_of(reduce)
        scattered = self.is_scattered(reduce)
        # more gathered lanes gain nothing: the unrolled terms are enough
        outside = nest.difference(loops)
        alike = [loops_of(one) for one in self.reduces if outside <= self.kernel.nests[one]]
        least, terms = self.machine.independent_operations, max(map(estimated_iterations, alike))
        if not scattered or not least <= terms <= thresholds.UNROLLED_TRIPS:
            self.widen(reduce)
        work = self.unrolled_instances(nest) * self.together[loops]
        work = self.unroll_structural_zeros(reduce, work)
        work *= self.unroll_shared_rows(reduce, thresholds.WINDOW_BODY_VALUES // work)
        values = thresholds.GATHERED_BODY_VALUES if scattered else thresholds.BODY_VALUES
        limit, innermost = values // work, 0
        if scattered and len(loops) > 1 and self.are_gathers_packed(reduce):
            # of a long window; the rows of a short one gain nothing, and clang spills registers
            last = reduction_loop_order.in_order(self.kernel, loops)[-1]
            is_shared = self.shared_reads(reduce, last) > 1.0
            values = thresholds.WINDOW_BODY_VALUES if is_shared else thresholds.BODY_VALUES
            innermost = values // work
        if not scattered and self.steps(reduce, loops_of(reduce)) >= thresholds.long_chain(
            self.machine
        ):
            limit = min(limit, max(1, self.machine.independent_operations // work))
        in_pairs = may_pack(reduce, self.kernel.target.compute.pair_dots)
        for loop in reversed(reduction_loop_order.in_order(self.kernel, loops)):
            known = loop_axis(self.kernel, loop, REDUCE)
            if known is None or known[1] == 1:
                continue
            # a gather takes longer than the latency of an addition
            batch_gathered_rows = scattered and loop in self.lanes_of
            fits = max(limit, innermost if known[1] > thresholds.SHORTEST_WINDOW else 0)
            if known[1] <= min(fits, thresholds.UNROLLED_TRIPS) and not batch_gathered_rows:
                if self.kernel.attempt(OptKind.UNROLL, known[0], 0):
                    innermost, limit = 0, limit // known[1]
                    work *= known[1]
                continue
            unrolled = thresholds.streaming_accumulators(self.machine)
            most = min(unrolled, limit, max(1, self.machine.independent_operations // work))
            if batch_gathered_rows:
                most = min(most, 2 if known[1] > thresholds.UNROLLED_TRIPS else 1)
            wanted = max(most, 2 if in_pairs else 1)
            parts = range(wanted & ~1, 1, -2) if in_pairs else range(wanted, 1, -1)
            amount = next((n for n in parts if known[1] % n == 0), 1)
            if amount > 1:
                self.kernel.attempt(OptKind.UNROLL, known[0], amount)
            return


def _is_matrix_product(reduce: UOp) -> bool:
    """Whether one loop multiplies and adds operands as they are loaded."""
    term = reduce.src[0]
    is_product = term.op is Ops.MUL and all(operand.op is Ops.LOAD for operand in term.src)
    return is_product and len(loops_of(reduce)) == 1


def _shared(access: Access, loop: UOp, window: UOp, windows: int) -> float:
    """The number of reads of an element by `windows` windows in one body, over a loop."""
    step, apart = access.steps.get(loop, 0), access.steps.get(window, 0)
    if step == 0 or apart % step or not 0 < apart // step < estimated_trips(loop):
        return 1.0
    return (
        windows * estimated_trips(loop) / ((windows - 1) * (apart // step) + estimated_trips(loop))
    )
