"""Non-temporal stores: write large outputs to memory without allocating cache lines.
Also: streaming stores, write combining.

in:  spec.lowered after expansion
out: the same, with NON_TEMPORAL as the argument of such STOREs

A regular store reads a cache line before it writes to it. Non-temporal stores that fill a line one
after the other do not, and they evict nothing from the cache. An output that exceeds the last-level
cache would not be in the cache for its next reader.

Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, non-temporal stores.
"""

from __future__ import annotations

from weft.plugin import (
    NON_TEMPORAL,
    AddrSpace,
    ComputeCaps,
    MachineModel,
    Ops,
    PtrDType,
    UOp,
    dtypes,
    loop_order,
    nodes_of,
    ranges_of,
    replace_nodes,
)
from weft_simd.prefetch.access_streams import AddressGroup, address_groups


def run(sink: UOp, compute: ComputeCaps) -> UOp:
    """The kernel with its large outputs streamed; itself where there are none."""
    machine = compute.machine
    if not machine.last_level_bytes:
        return sink
    nodes = nodes_of(sink)
    read = {node.src[0].src[0] for node in nodes if node.op is Ops.LOAD}
    large = [
        node
        for node in nodes
        if node.op is Ops.STORE and node.src[0].src[0] not in read and _is_large(node, machine)
    ]
    made = {
        store: store.replace(arg=NON_TEMPORAL)
        for group in address_groups(large)
        if _fills_lines(group, machine.line_bytes)
        for store in group.accesses
    }
    return replace_nodes(nodes, made) if made else sink


def _is_large(store: UOp, machine: MachineModel) -> bool:
    """Whether a STORE of a vector writes to a buffer that exceeds the last-level cache."""
    index, value = store.src
    pointer = index.src[0].dtype
    if not isinstance(pointer, PtrDType) or pointer.space is not AddrSpace.GLOBAL:
        return False
    if store.arg is not None or len(index.src) > 2 or pointer.base is dtypes.bool:
        return False
    is_vector = value.dtype.count > 1 and pointer.base is value.dtype.scalar()
    return is_vector and pointer.size > 0 and pointer.nbytes > machine.last_level_bytes


def _fills_lines(group: AddressGroup, line: int) -> bool:
    """Whether STOREs fill whole cache lines: in one iteration, or with the next ones."""
    lanes = group.accesses[0].src[1].dtype.count
    if any(store.src[1].dtype.count != lanes for store in group.accesses):
        return False
    runs, last = list[int](), None
    for offset in sorted(group.offsets):
        if offset == last:
            runs[-1] += lanes
        else:
            runs.append(lanes)
        last = offset + lanes
    loop = max(ranges_of(group.accesses[0]), key=loop_order, default=None)
    step = runs[0] if loop is None else group.strides.get(loop, runs[0])
    return all(run == step or run * group.itemsize % line == 0 for run in runs)
