"""Software prefetch: load what later iterations read, for access patterns that hardware misses.

in:  spec.lowered after expansion
out: the same, with LOADs whose values are unused (PREFETCH_L1, PREFETCH_L2) among the sources of
     the SINK, and with PREFETCH_STREAM as the argument of LOADs that the renderer prefetches

One mechanism serves all patterns. A pattern finds access streams: addresses, and the induction
variables that advance them. The pass computes the address some iterations later and inserts a LOAD
of it. It inserts none for a buffer that the kernel writes, or that a mark prefetches already.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from weft.plugin import (
    PREFETCH_L1,
    PREFETCH_L2,
    PREFETCH_STREAM,
    ComputeCaps,
    MachineModel,
    Ops,
    UOp,
    replace_nodes,
)
from weft_simd import thresholds
from weft_simd.prefetch import patterns
from weft_simd.prefetch.access_streams import (
    AccessStream,
    KernelReads,
    Product,
    element_of,
    later_address,
)

Where = TypeVar("Where", KernelReads, Product)


@dataclass(frozen=True)
class Pattern(Generic[Where]):
    """One row of a table.

    :ivar streams: finds the access streams of the pattern in a kernel, or in one product of it.
    :ivar hint: the mark of its LOADs: into which cache memory is loaded.
    :ivar distance: iterations between a prefetch and the read of the same address, on a machine.
    :ivar skips_end: the last iterations do not prefetch; otherwise they stay in their range.
    """

    streams: Callable[[Where], Iterable[AccessStream]]
    hint: str
    distance: Callable[[MachineModel], int] = lambda machine: 1
    skips_end: bool = False


PRODUCT_PATTERNS = {
    "panel": Pattern(patterns.packed_panels, PREFETCH_L1),
    "tile row": Pattern(patterns.tile_rows, PREFETCH_L1),
    "tile column": Pattern(patterns.tile_columns, PREFETCH_L1, thresholds.term_distance, True),
}
KERNEL_PATTERNS = {
    "stream": Pattern(patterns.contiguous_reductions, PREFETCH_STREAM),
    "window": Pattern(patterns.windows, PREFETCH_L1, thresholds.window_distance),
    "row": Pattern(patterns.rows_of_several_passes, PREFETCH_L2),
    "block": Pattern(patterns.transposed_blocks, PREFETCH_L2, thresholds.block_distance),
    "iteration": Pattern(patterns.rows_of_iterations, PREFETCH_L2),
}
"""The patterns by what is prefetched, in the order in which a loop body has their LOADs."""


def run(sink: UOp, compute: ComputeCaps) -> UOp:
    """The kernel with prefetches; the same kernel if it has no stream of a pattern."""
    if not compute.cache_bytes:
        return sink
    reads = KernelReads(sink, compute.machine)
    excluded, marked, added = set(reads.stored), dict[UOp, UOp](), dict[UOp, None]()
    for stream, pattern in _found(reads):
        if pattern.hint == PREFETCH_STREAM:
            loads = [load for load in reads.loads if load.src[0] is stream.index]
            marked.update((load, load.replace(arg=pattern.hint)) for load in loads)
            excluded.add(stream.index.src[0])
        elif stream.index.src[0] not in excluded:
            added[_prefetch(stream, pattern, compute.machine)] = None
    if marked:
        sink = replace_nodes(reads.nodes, marked)
    return UOp(Ops.SINK, sink.dtype, (*added, *sink.src), sink.arg) if added else sink


def _found(reads: KernelReads) -> Iterator[tuple[AccessStream, Pattern[Any]]]:
    for product in (one for one in reads.products if not one.is_windowed):
        for each in PRODUCT_PATTERNS.values():
            yield from ((stream, each) for stream in each.streams(product))
    for pattern in KERNEL_PATTERNS.values():
        yield from ((stream, pattern) for stream in pattern.streams(reads))


def _prefetch(stream: AccessStream, pattern: Pattern[Any], machine: MachineModel) -> UOp:
    """The LOAD of one element, whose value is unused."""
    index = later_address(stream, pattern.distance(machine), pattern.skips_end)
    element = element_of(index.src[0]).base
    other = [UOp.const(element, 0)] if len(index.src) > 2 else []
    return UOp(Ops.LOAD, element, (index, *other), pattern.hint)
