"""Skinny GEMM: read the large matrix of a product with few rows once, in the order of memory.
Also: GEMV, matrix-vector product.

in:  a kernel whose vectors and tiles are chosen, and for which no packing is profitable
out: SPLIT and KEEP: a run of columns is read row by row for all rows of the result, and the partial
     sums stay in a local array

The usual tile order reads column by column, and each vector of the matrix is then in another page.
The length of a run is bounded by the bytes of the partial sums, and by the number of runs that
threads need.

Source: none known; sound because SPLIT and KEEP only reorder the terms of a sum.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import Access, Kernel, Ops, OptKind, UOp, loops_of, trip_count
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP, REDUCE, all_or_nothing, instances_of


def apply_skinny_gemm(kernel: Kernel, reduce: UOp, lane: UOp, accesses: Sequence[Access]) -> bool:
    """Apply what has such a matrix read row by row; False where there is none."""
    loops, nest = loops_of(reduce), kernel.nests[reduce]
    rows = [one for one in nest if one is not lane and one not in loops]
    if len(loops) != 1 or len(kernel.reduces) != 1 or len(rows) != 1 or kernel.fills:
        return False
    (loop,), (row,) = loops, rows
    terms, columns, height = map(trip_count, (loop, lane, row))
    matrix = next((a for a in accesses if _is_matrix(a, loop, lane, row)), None)
    few = height < thresholds.SKINNY_LEAST_ROWS or terms < thresholds.SKINNY_LEAST_TERMS
    if matrix is None or few or not _has_local_array(kernel):
        return False
    size = matrix.node.dtype.itemsize
    machine = kernel.target.compute.machine
    stride = thresholds.page_share(machine, thresholds.SKINNY_STRIDE)
    least = thresholds.l2_share(machine, thresholds.SKINNY)
    if terms * columns * size < least or matrix.steps[loop] * size < stride:
        return False
    nbytes = height * reduce.dtype.itemsize
    return all_or_nothing(kernel, lambda trial: _apply_opts(trial, loop, lane, row, nbytes))


def _has_local_array(kernel: Kernel) -> bool:
    return kernel.target.compute.limits.scratch_bytes >= _kept_bytes(kernel) and not kernel.in_place


def _kept_bytes(kernel: Kernel) -> int:
    """Bytes of the partial sums of a run."""
    return thresholds.l2_share(kernel.target.compute.machine, thresholds.KEPT_SUMS)


def _is_matrix(access: Access, loop: UOp, lane: UOp, row: UOp) -> bool:
    """Whether it is read once for all rows of the result, along its own rows."""
    plain = access.node.op is Ops.LOAD and not access.irregular and not access.depends(row)
    return plain and access.steps.get(lane) == 1 and access.steps.get(loop, 0) > 0


def _apply_opts(kernel: Kernel, loop: UOp, lane: UOp, row: UOp, nbytes: int) -> bool:
    """nbytes: of the sums of one column."""
    first, second = kernel.axis_of(lane, LOOP), kernel.axis_of(row, LOOP)
    if first is None or kernel.axis_of(loop, REDUCE) is None:
        return False
    if second is not None and second < first:
        if not kernel.attempt(OptKind.SWAP, second, first):
            return False
        first, second = second, first
    tiles, wide = kernel.axes[first].extent, instances_of(kernel, lane)
    if not isinstance(tiles, int):
        return False
    most = min(thresholds.SKINNY_RUN, tiles // 2, _kept_bytes(kernel) // (wide * nbytes))
    run = thresholds.even_part(tiles, most, thresholds.SKINNY_SHORTEST_RUN)
    if not run or not kernel.attempt(OptKind.SPLIT, first, run):
        return False
    place = kernel.axis_of(loop, REDUCE)
    return (
        place is not None
        and kernel.attempt(OptKind.SPLIT, place, thresholds.SKINNY_ROWS)
        and kernel.attempt(OptKind.KEEP, place, first + 1)
    )
