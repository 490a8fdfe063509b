"""Traversal order of permuting copies: choose the loop order of a large copy that moves whole rows.

A row has at least one cache line. Either the reads or the writes of rows can be contiguous. Loads
wait for memory and stores do not, so contiguous reads are preferred. They are not used if they
need more open rows at once than the other order. A processor that prefetches several access
streams (`ComputeCaps.read_streams`) reads two rows at once.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), loop interchange.
"""

from __future__ import annotations

from weft.plugin import AxisKind, Kernel, Ops, OptKind, UOp, trip_count
from weft_simd.choice.axes import output_bytes


def order_by_reads(kernel: Kernel, lanes: dict[UOp, int]) -> bool:
    """Interchange the two loops over rows if that is profitable; whether it was done."""
    if kernel.reduces or kernel.fills or len(kernel.stores) != 1 or len(lanes) != 1:
        return False
    (lane,) = lanes
    accesses = kernel.accesses
    loads = [access for access in accesses if access.node.op is Ops.LOAD]
    stores = [access for access in accesses if access.node.op is Ops.STORE]
    if len(loads) != 1 or len(stores) != 1 or loads[0].irregular or stores[0].irregular:
        return False
    loops = [
        (place, axis)
        for place, axis in enumerate(kernel.axes)
        if axis.kind is AxisKind.LOOP and axis.loop is not lane
    ]
    if len(loops) < 2:
        return False
    (first, outer), (second, inner) = loops[-2:]
    is_large = 0 < kernel.target.compute.cache_bytes <= 2 * output_bytes(kernel)  # with the input
    if outer.loop is inner.loop or not is_large:
        return False
    row, few, many = trip_count(lane), outer.extent, inner.extent
    if not (isinstance(few, int) and isinstance(many, int)):
        return False
    line = kernel.target.compute.machine.line_bytes
    if few > many or row * stores[0].node.src[1].dtype.itemsize < line:
        return False
    if any(access.steps.get(lane) != 1 for access in (loads[0], stores[0])):
        return False
    if loads[0].steps.get(outer.loop) != row or stores[0].steps.get(inner.loop) != row:
        return False
    if not kernel.attempt(OptKind.SWAP, first, second):
        return False
    around = loops[-3][0] if len(loops) > 2 else None
    if around is not None and kernel.target.compute.read_streams > 1:
        kernel.attempt(OptKind.UPCAST, around, 2)
    return True
