"""Row batching: process several short rows at once to hide the latency of their reductions.

The end of a row waits for its last sums, for the sum across lanes, and for a division or a root.
Rows are independent, but the processor does not look far enough ahead to start the next one.
Unroll-and-jam of the row loop lets them wait together.

This applies to rows that a second-level cache holds. For rows from memory it applies only if the
processor prefetches several access streams (`ComputeCaps.read_streams`).

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), unroll-and-jam.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.plugin import (
    Access,
    AxisKind,
    GroupOp,
    Kernel,
    Ops,
    OptKind,
    UOp,
    iteration_count,
    loops_of,
    trip_count,
)
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP

_COSTLY = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.POW})


def batch_rows(
    kernel: Kernel, inside: Mapping[UOp, Sequence[Access]], lanes_of: Mapping[UOp, int]
) -> bool:
    """Unroll and jam the loop over rows, if all nests iterate along rows. The Opt is applied, or
    nothing is."""
    if any(axis.kind is AxisKind.UPCAST for axis in kernel.axes):
        return False
    row = _row(kernel, lanes_of)
    if row is None:
        return _batch_prefix_scans(kernel)
    rows, place = trip_count(row), kernel.axis_of(row, LOOP)
    if rows < thresholds.LEAST_BATCHED_ROWS:
        return False
    nbytes = _row_bytes(kernel, inside, row)
    each = sum(nbytes.values())
    if not each:
        return False
    read = (access.node.src[0].src[0] for access in kernel.accesses if access.node.op is Ops.LOAD)
    whole = rows * sum(nbytes.get(buffer, 0) for buffer in set(read) if _is_global(buffer))
    machine = kernel.target.compute.machine
    nearest = thresholds.l1_share(machine, thresholds.NEAREST)
    batched = thresholds.batched_rows(machine)
    most = (
        min(thresholds.streaming_accumulators(machine), (nearest - 1) // each)
        if whole <= thresholds.l2_share(machine, thresholds.BATCHED_ROWS)
        else _rows_from_memory(kernel, whole, each)
    )
    waste = 1.0 if kernel.in_place or row in kernel.once else thresholds.OVERLAP_WASTE
    amount = thresholds.even_part(rows, min(most, batched), 2, waste)
    return amount > 0 and kernel.attempt(OptKind.UPCAST, place, amount)


def _batch_prefix_scans(kernel: Kernel) -> bool:
    """Batch rows of a multi-level prefix scan (`weft.codegen.vectorization.prefix_scan`).

    Each level waits for the one before. Only additions with few operations qualify: comparisons,
    conditions and exponentials hide that latency."""
    shared = _shared_loops(kernel)
    if len(shared) != 1 or len(kernel.reduces) < thresholds.SCAN_LEVELS or not kernel.fills:
        return False
    if _steps(kernel) > thresholds.SCAN_OPERATIONS * len(kernel.reduces):
        return False
    for reduce in kernel.reduces:
        terms = iteration_count(loops_of(reduce), thresholds.UNKNOWN_LONG)
        if reduce.arg.op is not Ops.ADD or terms > thresholds.SCAN_TERMS:
            return False
    (row,) = shared
    rows, place = trip_count(row), kernel.axis_of(row, LOOP)
    if rows < thresholds.LEAST_BATCHED_ROWS:
        return False
    counts = (n for n in range(kernel.target.compute.read_streams, 1, -1) if rows % n == 0)
    return any(kernel.attempt(OptKind.UPCAST, place, count) for count in counts)


def _shared_loops(kernel: Kernel) -> frozenset[UOp]:
    """The loops around everything in a kernel with reductions."""
    nests = kernel.nests.values()
    return frozenset[UOp].intersection(*nests) if kernel.reduces else frozenset()


def _rows_from_memory(kernel: Kernel, whole: int, each: int) -> int:
    """The largest number of rows of a body, of `each` bytes of `whole` that exceed the L2 cache."""
    compute, machine = kernel.target.compute, kernel.target.compute.machine
    if whole <= thresholds.last_level_bytes(machine):
        return 1
    is_long = each >= thresholds.l1_share(machine, thresholds.LONG_ROW)
    if is_long and _steps(kernel) >= thresholds.long_chain(machine):
        return 1  # arithmetic takes as long as memory
    return min(compute.read_streams, thresholds.l2_share(machine, thresholds.STREAMED_ROWS) // each)


def _steps(kernel: Kernel) -> int:
    """The number of operations of an element, roughly."""
    below, costly = kernel.sink.toposort(), thresholds.TRANSCENDENTAL_OPERATIONS
    return sum(costly if u.op in _COSTLY else u.op in GroupOp.ALU for u in below)


def _row(kernel: Kernel, lanes_of: Mapping[UOp, int]) -> UOp | None:
    """The loop over rows around all nests, if every reduction has lanes along the row or few terms,
    and something along the row waits for a reduction. None if there is none."""
    shared = _shared_loops(kernel)
    if len(shared) != 1 or not shared.isdisjoint(lanes_of):
        return None
    (row,) = shared
    for root, nest in kernel.nests.items():
        own = nest - shared
        summed = loops_of(root) if root in kernel.reduces else ()
        if row in summed or (summed and own != frozenset(summed)):
            return None
        if (
            own
            and not any(loop in lanes_of for loop in own)
            and iteration_count(own, thresholds.UNKNOWN_LONG) > thresholds.SCALAR_TRIPS
        ):
            return None
    return row if any(_has_dependent_use(kernel, root) for root in kernel.nests) else None


def _has_dependent_use(kernel: Kernel, root: UOp) -> bool:
    """Whether something that iterates along the row needs a reduction of it first."""
    if len(kernel.nests[root]) < 2:
        return False
    below = root.toposort()
    return any(reduce is not root and reduce in below for reduce in kernel.reduces)


def _row_bytes(
    kernel: Kernel, inside: Mapping[UOp, Sequence[Access]], row: UOp
) -> dict[UOp, int]:  # fmt: skip
    """The bytes of one row by buffer, as many as the loops access; none if an address is not known
    at compile time."""
    found: dict[UOp, int] = {}
    for root, nest in kernel.nests.items():
        for access in inside[root]:
            buffer = access.node.src[0].src[0]
            if not access.depends(row):
                continue
            if row in access.irregular and _is_global(buffer):
                return {}
            value = access.node if access.node.op is Ops.LOAD else access.node.src[1]
            loops = (loop for loop in nest if loop is not row and access.depends(loop))
            along = iteration_count(loops, thresholds.UNKNOWN_LONG)
            found[buffer] = max(found.get(buffer, 0), along * value.dtype.itemsize)
    return found


def _is_global(buffer: UOp) -> bool:
    """Whether it is a buffer in memory, and not a local array."""
    return buffer.op is Ops.DEFINE_GLOBAL
