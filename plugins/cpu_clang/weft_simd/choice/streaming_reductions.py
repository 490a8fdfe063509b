"""Streaming reductions: order the accesses of a reduction that reads each matrix element once.

Memory bandwidth bounds such a reduction. If vectors lie along the reduction, one row after the
other is a single access stream, with enough accumulators to hide the latency of an addition.
Several rows at once are several streams, which some processors prefetch (`ComputeCaps.walks`).

If vectors lie along the output, each row is read in runs. Long runs touch fewer pages, but enough
runs must be left to divide among threads. If a run needs more sums than there are registers, the
sums stay in a local array (KEEP), and several rows are added at once.

Source: none known; sound because only the order of the terms of a sum changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from weft.plugin import Access, AxisKind, Kernel, Ops, OptKind, UOp, extent_of, loops_of
from weft_simd import thresholds


def streaming_output_loop(kernel: Kernel, reduce: UOp, accesses: Iterable[Access]) -> UOp | None:
    """The loop over the outputs of a streaming reduction; None if it is none, or small."""
    own = frozenset(loops_of(reduce))
    outputs = kernel.nests[reduce] - own
    if len(outputs) != 1 or len(kernel.reduces) != 1:
        return None
    (loop,) = outputs
    extents = [extent_of(one) for one in (loop, *own)]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) < len(extents) or math.prod(known) < _large(kernel):
        return None
    loads = [access for access in accesses if access.node.op is Ops.LOAD]
    each_once = any(all(map(access.depends, (loop, *own))) for access in loads)
    hidden = any(access.hidden for access in loads)
    return loop if each_once and not hidden else None


def interleave_rows(kernel: Kernel, loop: UOp) -> bool:
    """Read as many rows at once as the processor prefetches access streams; False if that is one,
    or does not divide the rows. The Opt is applied, or nothing is."""
    place = kernel.axis_of(loop, frozenset({AxisKind.LOOP}))
    rows = kernel.axes[place].extent if place is not None else 0
    if place is None or not isinstance(rows, int):
        return False
    most = kernel.target.compute.walks
    several = next((n for n in range(most, most // 2, -1) if rows % n == 0 and n > 1), 0)
    return several > 0 and kernel.attempt(OptKind.UPCAST, place, several)


def run_of(vectors: int, most: int) -> int:
    """How many vectors of a row form one run; 0: any number."""
    for run in range(min(thresholds.LONGEST_RUN, most - 2), thresholds.SHORTEST_RUN - 1, -1):
        parts = vectors // run
        if vectors % run == 0 and (parts % 2 == 0 or parts >= thresholds.THREAD_PARTS):
            return run
    return 0


def strips(kernel: Kernel, reduce: UOp, lanes_of: dict[UOp, int], reads: Sequence[Access]) -> bool:
    """Reduce the rows of a large matrix row by row, along runs whose sums are in a local array.

    Opts are applied, or nothing is. Runs of 1 KB, each in another page than the last, are read from
    memory at half the speed of longer ones of which sixteen rows are read at once. A matrix that a
    cache holds is read by runs in registers: rows whose stride is a power of two conflict in the
    sets of the L1 cache.
    """
    own, nest = loops_of(reduce), kernel.nests[reduce]
    lane = next((loop for loop in nest if loop in lanes_of and loop not in own), None)
    if lane is None or len(own) != 1 or len(kernel.reduces) != 1 or kernel.fills:
        return False
    if kernel.in_place or kernel.target.compute.limits.scratch_bytes < _strip_bytes(kernel):
        return False
    loads = [access for access in reads if access.node.op is Ops.LOAD]
    rows = [access for access in loads if access.depends(own[0]) and access.depends(lane)]
    if any(access.hidden for access in loads) or not _are_streamed_rows(
        kernel, rows, nest, own[0], lane
    ):
        return False
    trial = kernel.copy()
    if not _split_into_runs(trial, own[0], lane, reduce.dtype.itemsize * lanes_of[lane], len(rows)):
        return False
    for opt in trial.applied[len(kernel.applied) :]:
        kernel.apply(opt)
    return True


def short_rows(
    kernel: Kernel, reduce: UOp, lanes_of: dict[UOp, int], reads: Sequence[Access], registers: int
) -> bool:
    """Reduce rows whose sums fit in registers, of a matrix that comes from memory. One access
    stream is faster by one thread than parts of rows are by several. The Opt is applied, or nothing
    is."""
    own, nest = loops_of(reduce), kernel.nests[reduce]
    lane = next((loop for loop in nest if loop in lanes_of and loop not in own), None)
    if lane is None or len(own) != 1 or len(kernel.reduces) != 1:
        return False
    columns, place = extent_of(lane), kernel.axis_of(lane, frozenset({AxisKind.LOOP}))
    if place is None or not isinstance(columns, int):
        return False
    vectors = columns // lanes_of[lane]
    if columns % lanes_of[lane] or not 1 < vectors <= registers - thresholds.BESIDE_SUMS:
        return False
    loads = [access for access in reads if access.node.op is Ops.LOAD and access.depends(lane)]
    is_one_stream = all(
        not access.hidden and access.steps.get(lane) == 1 and access.steps.get(own[0]) == columns
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
    extents = [extent_of(one) for one in nest]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) < len(extents) or not all(map(access.depends, nest)):
        return False
    if least is None:
        least = thresholds.last_level_bytes(kernel.target.compute.machine)
    return math.prod(known) * access.node.dtype.itemsize > least


def _are_streamed_rows(
    kernel: Kernel, rows: Sequence[Access], nest: frozenset[UOp], loop: UOp, lane: UOp
) -> bool:
    """Whether vectors are read once, of long rows of large matrices."""
    compute = kernel.target.compute
    least = thresholds.l2_share(compute.machine, thresholds.STREAMS) if compute.walks > 1 else None
    for access in rows:
        step = access.steps.get(loop)
        if access.steps.get(lane) != 1 or step is None:
            return False
        if not _exceeds_cache(kernel, nest, access, least):
            return False
        if abs(step) * access.node.dtype.itemsize < thresholds.STREAMED_ROW:
            return False
    return bool(rows)


def _large(kernel: Kernel) -> int:
    """Elements of a matrix that does not stay in a cache."""
    return thresholds.l2_share(kernel.target.compute.machine, thresholds.MATRIX)


def _strip_bytes(kernel: Kernel) -> int:
    """Bytes of the longest run whose sums are in a local array."""
    return thresholds.l1_share(kernel.target.compute.machine, thresholds.STRIP)


def _split_into_runs(kernel: Kernel, loop: UOp, lane: UOp, nbytes: int, matrices: int) -> bool:
    """nbytes: of the sums of one vector. matrices: how many are read for each term."""
    place = kernel.axis_of(lane, frozenset({AxisKind.LOOP}))
    across = kernel.axis_of(loop, frozenset({AxisKind.REDUCE}))
    outputs = [axis for axis in kernel.axes if axis.kind is AxisKind.LOOP]
    if place is None or across is None or kernel.axes[place] is not outputs[-1]:
        return False
    vectors, rows = kernel.axes[place].extent, kernel.axes[across].extent
    beside = math.prod(axis.extent for axis in outputs[:-1] if isinstance(axis.extent, int))
    if not isinstance(vectors, int) or not isinstance(rows, int):
        return False
    few = thresholds.LEAST_STREAM_ROWS
    together = max(few, thresholds.STREAM_ROWS // matrices)
    amount = next((n for n in range(together, few - 1, -1) if rows % n == 0), 0)
    if not amount:  # some at a time, the last time less of them; of several vectors then
        if vectors % few or not kernel.attempt(OptKind.UPCAST, place, few):
            return False
        vectors, nbytes = vectors // few, nbytes * few
    most = min(_strip_bytes(kernel), _max_run_bytes(kernel, vectors * nbytes, beside))
    several = kernel.target.compute.walks > 1
    narrowest = thresholds.NARROWER_RUN if several else thresholds.NARROWEST_RUN
    least = max(1, min(vectors, narrowest // nbytes))
    run = thresholds.even_part(vectors, most // nbytes, least)
    if not run or (run < vectors and not kernel.attempt(OptKind.SPLIT, place, run)):
        return False
    across = kernel.axis_of(loop, frozenset({AxisKind.REDUCE}))
    kind = OptKind.UNROLL if amount else OptKind.SPLIT
    if across is None or not kernel.attempt(kind, across, amount or together):
        return False
    return kernel.attempt(OptKind.KEEP, across, place + (run < vectors))


def _max_run_bytes(kernel: Kernel, row: int, beside: int) -> int:
    """The most bytes of a run of a row of `row` bytes, so that enough runs are left for threads.

    A hardware prefetcher restarts at each page, so a run is a whole page even if fewer runs result.
    """
    if beside >= thresholds.THREAD_PARTS:
        return row
    page = kernel.target.compute.machine.page_bytes
    part = min(page, row // thresholds.PAGE_RUNS)
    return max(row // thresholds.THREAD_PARTS, part, thresholds.NARROWEST_RUN)
