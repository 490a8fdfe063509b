"""Large outputs go to memory past the caches, where whole registers of them are written at once.

in:  spec.lowered after expansion
out: the same, with STREAM as the argument of such STOREs

A line that is written in part is first read; one that is stored past the cache is not, and pushes
nothing out. What is larger than the last cache would not be found there by who reads it next.
"""

from __future__ import annotations

from weft.base.dtype import AddrSpace, PtrDType, dtypes
from weft.codegen.analysis.substitution import replace_nodes
from weft.codegen.analysis.traversal import nodes_of
from weft.device.capabilities import ComputeCaps
from weft.uop.args import STREAM
from weft.uop.node import UOp
from weft.uop.ops import Ops


def run(sink: UOp, compute: ComputeCaps) -> UOp:
    """The kernel with its large outputs streamed; itself where there are none."""
    if not compute.cache_bytes:
        return sink
    nodes = nodes_of(sink)
    read = {node.src[0].src[0] for node in nodes if node.op is Ops.LOAD}
    made = {
        node: node.replace(arg=STREAM)
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
