"""Software prefetch of the next iteration: load the row that the next loop iteration reads.

in:  the nodes of an expanded kernel      out: LOADs that nobody uses (PREFETCH_L2)

A hardware prefetcher restarts at every row and at every page. Where the row of the next iteration
is known, each cache line prefetches the line at the same offset in that row. This holds for
gathered rows, and for rows that are added to sums in a local array.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import (
    MachineModel,
    Ops,
    UOp,
    affine,
    affine_through_casts,
    loop_order,
    loops_of,
    ranges_of,
    trip_count,
)
from weft_simd import thresholds
from weft_simd.prefetch.row_prefetch import cache_line_indices, prefetch_next, uncached_loads


def iteration_prefetches(
    nodes: Sequence[UOp], stored: set[UOp], machine: MachineModel
) -> list[UOp]:
    """The prefetch LOADs. stored: what the kernel writes to; machine: its last-level cache
    holds what is not larger."""
    if any(node.op is Ops.REDUCE for node in nodes):
        return []
    fills = [node for node in nodes if node.op is Ops.FILL]
    found: list[UOp] = []
    least = thresholds.l1_share(machine, thresholds.LEAST_ITERATION)
    most = thresholds.l2_share(machine, thresholds.PREFETCHED)
    for loads in uncached_loads(nodes, stored, machine).values():
        around = ranges_of(loads[0])
        inner = max(around, key=loop_order, default=None)
        if inner is None or any(ranges_of(load) != around for load in loads):
            continue
        row = _row_of_sums(fills[0], inner) if len(fills) == 1 else None
        if not fills:
            row = _row_picked(loads, inner)
        if row is None or trip_count(row) < 2:
            continue
        lines = cache_line_indices(loads, machine.line_bytes)
        if (
            _reads_contiguous_rows(loads, inner, row, machine.line_bytes)
            and least <= trip_count(inner) * len(lines) * machine.line_bytes <= most
        ):
            found += [prefetch_next(line, row) for line in lines]
    return found


def _reads_contiguous_rows(loads: Sequence[UOp], inner: UOp, row: UOp, line: int) -> bool:
    """Whether the innermost loop reads whole lines of rows in a row."""
    first = loads[0]
    step = affine_through_casts(first.src[0].src[1])[0].get(inner, 0)
    itemsize = first.dtype.scalar().itemsize
    return step * itemsize >= line and step % first.dtype.count == 0 and row is not inner


def _row_of_sums(fill: UOp, inner: UOp) -> UOp | None:
    """The loop over rows of sums that are kept on chip, `inner` being the one along them."""
    loops = loops_of(fill)
    array = fill.src[0].src[0].src[0]
    again = any(
        node.op is Ops.LOAD and node.src[0].src[0] is array
        for store in fill.src[: fill.arg.values]
        for node in store.src[1].toposort()
    )
    return loops[0] if again and len(loops) == 2 and loops[1] is inner else None


def _row_picked(loads: Sequence[UOp], inner: UOp) -> UOp | None:
    """The loop of which every turn looks up a row, the same in all turns of `inner`."""
    found = set()
    for load in loads:
        terms, _ = affine(load.src[0].src[1])
        looked_up = [t for t in terms if any(u.op is Ops.LOAD for u in t.toposort())]
        if len(looked_up) != 1 or inner in ranges_of(looked_up[0]):
            return None
        found.add(looked_up[0])
    if len(found) != 1:
        return None
    (term,) = found
    loop = max(ranges_of(term), key=loop_order, default=None)
    if loop is None:  # then threads share it
        shared = [node for node in term.toposort() if node.op is Ops.SPECIAL]
        loop = shared[0] if len(shared) == 1 else None
    return loop
