"""Streaming reductions: order the accesses of a reduction that reads each matrix element once.

Memory bandwidth bounds such a reduction. If vectors lie along the reduction, one row after the
other is a single access stream, with enough accumulators to hide the latency of an addition.
Several rows at once are several streams, which some processors prefetch
(`ComputeCaps.read_streams`).

If vectors lie along the output, each row is read in runs. Long runs touch fewer pages, but enough
runs must be left to divide among threads. If a run needs more sums than there are registers, the
sums stay in a local array (KEEP), and several rows are added at once.

Source: none known; sound because only the order of the terms of a sum changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from weft.plugin import (
    Access,
    AxisKind,
    Kernel,
    MachineModel,
    Ops,
    OptKind,
    UOp,
    iteration_count,
    loops_of,
    trip_count,
)
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP, REDUCE, all_or_nothing, known_extent, loop_axis


def streaming_output_loop(kernel: Kernel, reduce: UOp, accesses: Iterable[Access]) -> UOp | None:
    """The loop over the outputs of a streaming reduction; None if it is none, or small."""
    own = frozenset(loops_of(reduce))
    outputs = kernel.nests[reduce] - own
    if len(outputs) != 1 or len(kernel.reduces) != 1:
        return None
    (loop,) = outputs
    if iteration_count((loop, *own)) < _large(kernel):
        return None
    loads = [access for access in accesses if access.node.op is Ops.LOAD]
    each_once = any(all(map(access.depends, (loop, *own))) for access in loads)
    hidden = any(access.irregular for access in loads)
    return loop if each_once and not hidden else None


def interleave_rows(kernel: Kernel, loop: UOp) -> bool:
    """Read as many rows at once as the processor prefetches access streams; False if that is one,
    or does not divide the rows. The Opt is applied, or nothing is."""
    known = loop_axis(kernel, loop)
    if known is None:
        return False
    (place, rows), most = known, kernel.target.compute.read_streams
    several = next((n for n in range(most, most // 2, -1) if rows % n == 0 and n > 1), 0)
    return several > 0 and kernel.attempt(OptKind.UPCAST, place, several)


def run_length(vectors: int, machine: MachineModel) -> int:
    """The number of vectors of a row in one run; 0: any number."""
    longest = min(thresholds.summed_run(machine), machine.registers - thresholds.SPARE_REGISTERS)
    for run in range(longest, machine.independent_operations - 1, -1):
        parts = vectors // run
        if vectors % run == 0 and (parts % 2 == 0 or parts >= thresholds.THREAD_PARTS):
            return run
    return 0


def reduce_in_runs(
    kernel: Kernel, reduce: UOp, lanes_of: dict[UOp, int], reads: Sequence[Access]
) -> bool:
    """Reduce the rows of a large matrix row by row, along runs whose sums are in a local array.

    Opts are applied, or nothing is. Runs of 1 KB, each in another page than the last, are read from
    memory at half the speed of longer ones of which sixteen rows are read at once. A matrix that a
    cache holds is read by runs in registers: rows whose stride is a power of two conflict in the
    sets of the L1 cache.
    """
    own, nest, lane = loops_of(reduce), kernel.nests[reduce], _output_lane(kernel, reduce, lanes_of)
    if lane is None or kernel.fills:
        return False
    if kernel.in_place or kernel.target.compute.limits.scratch_bytes < _strip_bytes(kernel):
        return False
    loads = [access for access in reads if access.node.op is Ops.LOAD]
    rows = [access for access in loads if access.depends(own[0]) and access.depends(lane)]
    if any(access.irregular for access in loads) or not _are_streamed_rows(
        kernel, rows, nest, own[0], lane
    ):
        return False
    nbytes = reduce.dtype.itemsize * lanes_of[lane]
    return all_or_nothing(
        kernel, lambda trial: _split_into_runs(trial, own[0], lane, nbytes, len(rows))
    )


def _output_lane(kernel: Kernel, reduce: UOp, lanes_of: dict[UOp, int]) -> UOp | None:
    """The output loop that has lanes, in a kernel of one reduction over one loop."""
    own = loops_of(reduce)
    if len(own) != 1 or len(kernel.reduces) != 1:
        return None
    return next((u for u in kernel.nests[reduce] if u in lanes_of and u not in own), None)


def reduce_short_rows(
    kernel: Kernel, reduce: UOp, lanes_of: dict[UOp, int], reads: Sequence[Access], registers: int
) -> bool:
    """Reduce rows whose sums fit in registers, of a matrix that comes from memory. One access
    stream is faster by one thread than parts of rows are by several. The Opt is applied, or nothing
    is."""
    own, nest, lane = loops_of(reduce), kernel.nests[reduce], _output_lane(kernel, reduce, lanes_of)
    if lane is None:
        return False
    columns, place = trip_count(lane), kernel.axis_of(lane, LOOP)
    vectors = columns // lanes_of[lane]
    if columns % lanes_of[lane] or not 1 < vectors <= registers - thresholds.OTHER_REGISTERS:
        return False
    loads = [access for access in reads if access.node.op is Ops.LOAD and access.depends(lane)]
    is_one_stream = all(
        not access.irregular and access.steps.get(lane) == 1 and access.steps.get(own[0]) == columns
        for access in loads
    )
    if len(loads) != 1 or not is_one_stream or not _exceeds_cache(kernel, nest, loads[0]):
        return False
    return kernel.attempt(OptKind.UPCAST, place, vectors)


def _exceeds_cache(
    kernel: Kernel, nest: frozenset[UOp], access: Access, least: int | None = None
) -> bool:
    """Whether every iteration of a nest reads another element, and all of them exceed the
    last-level cache, or `least` bytes."""
    if not all(map(access.depends, nest)):
        return False
    if least is None:
        least = thresholds.last_level_bytes(kernel.target.compute.machine)
    return iteration_count(nest) * access.node.dtype.itemsize > least


def _are_streamed_rows(
    kernel: Kernel, rows: Sequence[Access], nest: frozenset[UOp], loop: UOp, lane: UOp
) -> bool:
    """Whether vectors are read once, of long rows of large matrices."""
    compute = kernel.target.compute
    shortest = thresholds.page_share(compute.machine, thresholds.SUMMED_RUN)
    least = (
        thresholds.l2_share(compute.machine, thresholds.STREAMS)
        if compute.read_streams > 1
        else None
    )
    for access in rows:
        step = access.steps.get(loop)
        if access.steps.get(lane) != 1 or step is None:
            return False
        if not _exceeds_cache(kernel, nest, access, least):
            return False
        if abs(step) * access.node.dtype.itemsize < shortest:
            return False
    return bool(rows)


def _large(kernel: Kernel) -> int:
    """Elements of a matrix that does not stay in a cache."""
    return thresholds.l2_share(kernel.target.compute.machine, thresholds.MATRIX)


def _strip_bytes(kernel: Kernel) -> int:
    """Bytes of the longest run whose sums are in a local array."""
    return thresholds.l1_share(kernel.target.compute.machine, thresholds.STRIP)


def _split_into_runs(kernel: Kernel, loop: UOp, lane: UOp, nbytes: int, matrices: int) -> bool:
    """Split an output loop into runs whose sums are in a local array; return whether it is legal.

    nbytes: of the sums of one vector. matrices: how many are read for each term.
    """
    along, across = loop_axis(kernel, lane), loop_axis(kernel, loop, REDUCE)
    outputs = [axis for axis in kernel.axes if axis.kind is AxisKind.LOOP]
    if along is None or across is None or kernel.axes[along[0]] is not outputs[-1]:
        return False
    (place, vectors), (_, rows) = along, across
    outer = math.prod(map(known_extent, outputs[:-1]))
    few = thresholds.LEAST_STREAM_ROWS
    machine = kernel.target.compute.machine
    together = max(few, machine.fill_buffers // matrices)
    amount = next((n for n in range(together, few - 1, -1) if rows % n == 0), 0)
    if not amount:  # some at a time, the last time less of them; of several vectors then
        if vectors % few or not kernel.attempt(OptKind.UPCAST, place, few):
            return False
        vectors, nbytes = vectors // few, nbytes * few
    most = min(_strip_bytes(kernel), _max_run_bytes(kernel, vectors * nbytes, outer))
    several = kernel.target.compute.read_streams > 1
    narrowest = thresholds.NARROWER_RUN if several else thresholds.NARROWEST_RUN
    least = max(1, min(vectors, thresholds.page_share(machine, narrowest) // nbytes))
    run = thresholds.even_part(vectors, most // nbytes, least)
    if not run or (run < vectors and not kernel.attempt(OptKind.SPLIT, place, run)):
        return False
    rows_axis = kernel.axis_of(loop, REDUCE)
    kind = OptKind.UNROLL if amount else OptKind.SPLIT
    if not kernel.attempt(kind, rows_axis, amount or together):
        return False
    return kernel.attempt(OptKind.KEEP, rows_axis, place + (run < vectors))


def _max_run_bytes(kernel: Kernel, row: int, outer: int) -> int:
    """Return the most bytes of a run of a row of `row` bytes, so that threads have enough runs.

    A hardware prefetcher restarts at each page, so a run is a whole page even if fewer runs result.
    outer: iterations of the loops around the row.
    """
    if outer >= thresholds.THREAD_PARTS:
        return row
    machine = kernel.target.compute.machine
    part = min(machine.page_bytes, row // thresholds.PAGE_RUNS)
    narrowest = thresholds.page_share(machine, thresholds.NARROWEST_RUN)
    return max(row // thresholds.THREAD_PARTS, part, narrowest)
