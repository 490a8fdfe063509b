"""Sums over the rows of a matrix that comes from memory: two rows at once, half a matrix apart.

A row after the other is one long walk, and a row of the upper and one of the lower half are two,
each as long as the half: not slower, on processors that follow so many (`ComputeCaps.walks`), and
there is time to ask for what comes next in a way that leaves the caches alone (`codegen/ahead.py`).
What whoever called the kernel had in them is still there when it returns.

On one core of a Zen 4, 4096 x 4096: a product with a vector takes 2.07 ms where it took 2.25, a sum
of rows 2.0 as before; but what runs next for 0.2 ms over memory that it used before takes 0.1. A
maximum compares too much beside its loads, and is slower by 8 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.codegen.opt.kernel import Access, Kernel
from weft.codegen.opt.opts import OptKind
from weft.codegen.ranges import extent_of, loops_of, values_of
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops

_ROWS = 128  # so that half as many can be shared out
_ROW = 1 << 12  # bytes of a row: shorter ones are mostly their beginnings and ends
_VECTORS = 2  # of a turn, in each walk


def side_by_side(
    kernel: Kernel, reduce: UOp, reads: Sequence[Access], lanes_of: Mapping[UOp, int]
) -> bool:
    """Whether this is such a sum; Opts are then applied.

    reads: what is read in its loop. lanes_of: those of the loops that have some.
    """
    compute, own = kernel.target.compute, loops_of(reduce)
    outputs = kernel.nests[reduce].difference(own)
    if compute.walks < 2 or not compute.cache_bytes or kernel.in_place or kernel.fills:
        return False
    if len(kernel.reduces) != 1 or len(own) != 1 or len(outputs) != 1 or not _is_sum(reduce):
        return False
    (along,), (across,) = own, outputs
    row, rows = extent_of(along), extent_of(across)
    if not isinstance(row, int) or not isinstance(rows, int) or rows % 2 or rows < _ROWS:
        return False
    if along not in lanes_of or row % (_VECTORS * lanes_of[along]):
        return False
    if any(kernel.nests[store] != outputs for store in kernel.stores):
        return False  # rows are gone through again
    if not _is_read_once(reads, along, across, (rows, row), compute.cache_bytes):
        return False
    trial = kernel.copy()
    place = trial.axis_of(across, (AxisKind.LOOP,))
    if place is None or trial.axes[place].extent != rows:
        return False
    if not trial.attempt(OptKind.SPLIT, place, rows // 2):
        return False
    if not trial.attempt(OptKind.UPCAST, trial.axis_of(across, (AxisKind.LOOP,)), 0):
        return False
    if not trial.attempt(OptKind.UNROLL, trial.axis_of(along, (AxisKind.REDUCE,)), _VECTORS):
        return False
    for opt in trial.applied[len(kernel.applied) :]:
        kernel.apply(opt)
    return True


def _is_sum(reduce: UOp) -> bool:
    """Whether elements are added up as they are, or products of two."""
    value, *others = values_of(reduce)
    below = value.src if value.op is Ops.MUL else (value,)
    plain = all(node.op is Ops.LOAD for node in below)
    return reduce.arg.op is Ops.ADD and plain and not others


def _is_read_once(
    reads: Sequence[Access], along: UOp, across: UOp, shape: tuple[int, int], least: int
) -> bool:
    """Whether one operand is a matrix of more than `least` bytes, row after row, and the other, if
    there is one, is the same for all rows."""
    loads = [access for access in reads if access.node.op is Ops.LOAD]
    if not 1 <= len(loads) <= 2 or any(access.hidden for access in loads):
        return False
    matrices = [access for access in loads if access.depends(across)]
    if len(matrices) != 1 or any(access.steps.get(along) != 1 for access in loads):
        return False
    (matrix,), (rows, row) = matrices, shape
    nbytes = row * matrix.node.dtype.itemsize
    return matrix.steps[across] == row and nbytes >= _ROW and rows * nbytes > least
