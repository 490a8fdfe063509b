"""Thread parallelism: divide the outermost loops of a kernel among threads.
Also: loop parallelization, auto-parallelization.

This is the last decision. Vectors, register tiles, packed operands and the order of additions stay
as they are. If the outermost loop has few iterations, the next loop is divided as well. The kernel
does not depend on the number of threads, and gives the same bits for any number.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), coarse-grained
parallelism.
"""

from __future__ import annotations

import math

from weft.plugin import (
    AxisKind,
    Feature,
    GroupOp,
    Kernel,
    Ops,
    Opt,
    OptError,
    OptKind,
    UOp,
    max_trip_count,
)
from weft_simd import thresholds

_COUNTED = frozenset({Ops.LOAD, Ops.STORE, Ops.REDUCE})


def parallelize(kernel: Kernel) -> None:
    """Divide the outermost loops among threads, if the target has them and it is profitable."""
    if not kernel.target.compute.has(Feature.THREADS):
        return
    left, trip_count = work(kernel), 1
    if left < thresholds.THREADED:
        return
    for axis in [axis for axis in kernel.axes if axis.kind is AxisKind.LOOP]:
        extent = axis.extent if isinstance(axis.extent, int) else thresholds.SHARED_ITERATIONS
        left //= extent
        is_fine = trip_count > 1 and left < thresholds.THREAD_GRAIN
        if trip_count >= thresholds.SHARED_ITERATIONS or is_fine:
            return
        try:
            kernel.apply(Opt(OptKind.THREAD, kernel.axes.index(axis)))
        except OptError:
            return
        trip_count *= extent


def work(kernel: Kernel) -> int:
    """The number of operations and accesses of a kernel, element by element, roughly."""
    total = 0
    for root, nest in kernel.nests.items():
        below = root.toposort(gate=lambda u, root=root: u is root or _is_in_same_iteration(u))
        counted = sum(u.op in GroupOp.ALU or u.op in _COUNTED for u in below)
        total += counted * math.prod(max_trip_count(loop) for loop in nest)
    return total


def _is_in_same_iteration(node: UOp) -> bool:
    """Whether a node is computed in the same loop, and is no address."""
    return node.op not in (Ops.REDUCE, Ops.FILL, Ops.INDEX)
