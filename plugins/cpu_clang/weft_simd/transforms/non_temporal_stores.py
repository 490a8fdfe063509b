"""Non-temporal stores: write large outputs to memory without allocating cache lines.
Also: streaming stores, write combining.

in:  spec.lowered after expansion
out: the same, with NON_TEMPORAL as the argument of such STOREs

A regular store reads a cache line before it writes to it. A non-temporal store of full vectors does
not, and it evicts nothing from the cache. An output that exceeds the last-level cache would not be
in the cache for its next reader.

Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, non-temporal stores.
"""

from __future__ import annotations

from weft.plugin import (
    NON_TEMPORAL,
    AddrSpace,
    ComputeCaps,
    Ops,
    PtrDType,
    UOp,
    dtypes,
    nodes_of,
    replace_nodes,
)


def run(sink: UOp, compute: ComputeCaps) -> UOp:
    """The kernel with its large outputs streamed; itself where there are none."""
    if not compute.cache_bytes:
        return sink
    nodes = nodes_of(sink)
    read = {node.src[0].src[0] for node in nodes if node.op is Ops.LOAD}
    made = {
        node: node.replace(arg=NON_TEMPORAL)
        for node in nodes
        if node.op is Ops.STORE and node.src[0].src[0] not in read and _is_large(node, compute)
    }
    return replace_nodes(nodes, made) if made else sink


def _is_large(store: UOp, compute: ComputeCaps) -> bool:
    index, value = store.src
    pointer = index.src[0].dtype
    if not isinstance(pointer, PtrDType) or pointer.space is not AddrSpace.GLOBAL:
        return False
    if store.arg is not None or len(index.src) > 2 or pointer.base is dtypes.bool:
        return False
    whole = value.dtype.itemsize == compute.vector_bytes and pointer.base is value.dtype.scalar()
    return whole and pointer.size > 0 and pointer.nbytes > compute.cache_bytes
