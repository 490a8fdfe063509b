"""Sums over a matrix of which every element is read once: what counts is how memory is walked.

A product with a vector, at the speed of memory. Where vectors lie along the sum, one row after the
other is a single walk, and as many accumulators as hide the latency of an addition stand side by
side in it; rows side by side would be as many walks, none of them longer than a row. Where vectors
lie along the output, a row of memory is read in runs: the longer they are, the fewer pages and
stops; but there should be enough of them left to share them out evenly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from weft.codegen.opt.kernel import Access, Kernel
from weft.codegen.ranges import extent_of, loops_of
from weft.uop.node import UOp
from weft.uop.ops import Ops

_LARGE = 1 << 18  # elements: those of a smaller matrix stay in a cache
_LONGEST, _SHORTEST = 16, 10  # vectors of a run
_PARTS = 8  # runs that can be shared out, whatever their number


def walked(kernel: Kernel, reduce: UOp, accesses: Iterable[Access]) -> UOp | None:
    """The loop over the outputs of such a sum; None where it is none, or small."""
    own = frozenset(loops_of(reduce))
    outputs = kernel.nests[reduce] - own
    if len(outputs) != 1 or len(kernel.reduces) != 1:
        return None
    (loop,) = outputs
    extents = [extent_of(one) for one in (loop, *own)]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) < len(extents) or math.prod(known) < _LARGE:
        return None
    loads = [access for access in accesses if access.node.op is Ops.LOAD]
    each_once = any(all(map(access.depends, (loop, *own))) for access in loads)
    hidden = any(access.hidden for access in loads)
    return loop if each_once and not hidden else None


def run_of(vectors: int, most: int) -> int:
    """How many of so many vectors of a row are read one after the other; 0: as they come."""
    for run in range(min(_LONGEST, most - 2), _SHORTEST - 1, -1):
        parts = vectors // run
        if vectors % run == 0 and (parts % 2 == 0 or parts >= _PARTS):
            return run
    return 0
