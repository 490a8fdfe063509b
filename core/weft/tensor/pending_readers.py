"""Pending readers (write-after-read hazards): live tensors that read memory before a write.

A write changes the value of views of its target (see `alias`), and of no other tensor. The
scheduler orders and copies inside of one graph. This module handles the live tensors outside of
that graph: they are computed before the write, or get a copy.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from weft.device import binding, registry
from weft.engine.capture import recording
from weft.schedule import kernel_writes, kernelize_map, preserved_copy
from weft.schedule.structural_key import traversal
from weft.schedule.use_def import is_stored
from weft.tensor.live_tensors import (
    live_tensors,
    replace_in_graphs,
    set_node,
    shares_bytes,
    waiting_tensors,
)
from weft.uop import GroupOp, Ops, UOp, parts_of, sharding_seen

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

_COMPUTED = GroupOp.ALU | {Ops.CAST, Ops.REDUCE_AXIS}
_THROUGH = GroupOp.Movement | GroupOp.Identity


def sink_of(tensors: Sequence[TensorBase]) -> UOp:
    """SINK over the graphs of tensors, and over writes to several devices below them.

    Such a write runs on all of its devices or on none: one of them may read memory that another one
    overwrites, even if the tensors do not use its part.
    """
    sink = UOp(Ops.SINK, src=tuple(dict.fromkeys([t._uop for t in tensors])))
    if not sharding_seen():
        return sink
    wide = [n for n in traversal(sink) if n.op is Ops.ASSIGN and isinstance(n.device, tuple)]
    return UOp(Ops.SINK, src=tuple(dict.fromkeys([*sink.src, *wide]))) if wide else sink


def holds_value(version: UOp) -> bool:
    """Whether a version of memory has a value, which a write to it overwrites."""
    return version.op is Ops.ASSIGN or binding.is_bound(version)


def protect_readers(tensors: Sequence[TensorBase]) -> list[TensorBase]:
    """Preserve the old value for live tensors that read memory which is about to be overwritten.

    A tensor with pending work on it is computed in the same schedule, before the write. One that
    only moves it gets a copy. Returns these tensors.
    """
    return protected_graph(tensors)[0]


def protected_graph(
    tensors: Sequence[TensorBase],
) -> tuple[list[TensorBase], UOp, Mapping[UOp, None]]:
    """`protect_readers`; also the SINK over these and `tensors`, and its `traversal`."""
    protected: dict[int, TensorBase] = {}
    copies: dict[UOp, UOp] = {}
    sink, order = _graph_of(tensors)
    writes = _pending_writes(order)
    while writes:
        computed: dict[UOp, None] = {}
        for tensor in _readers(writes, sink):
            set_node(tensor, _protected(tensor._uop, writes, copies, computed))
            protected[id(tensor)] = tensor
        if not _is_stored_without_copy(computed, order, writes):
            replace_in_graphs(_stored_once(computed))
        # the readers may have pending writes too
        before = writes
        sink, order = _graph_of([*tensors, *protected.values()])
        writes = _pending_writes(order)
        if writes.keys() <= before.keys():
            break
    return list(protected.values()), sink, order


def _graph_of(tensors: Sequence[TensorBase]) -> tuple[UOp, Mapping[UOp, None]]:
    """`sink_of` and its `traversal`, with copies for late readers of pending kernels."""
    sink = sink_of(tensors)
    order = traversal(sink)
    if any(node.op is Ops.KERNEL for node in order) and _copy_for_late_readers(sink):
        sink = sink_of(tensors)
        order = traversal(sink)
    return sink, order


def _copy_for_late_readers(sink: UOp) -> bool:
    """Copy memory that a pending kernel below `sink` overwrites, for live tensors that read it and
    are in no kernel yet. Returns whether there are any.

    Readers that existed when the writer became a kernel are kernels themselves. Late ones are
    gradients, which read a saved graph. The copy is a pending kernel, scheduled with the writer.
    """
    overwritten = {write.src[0].base for write in kernel_writes(sink) if holds_value(write.src[0])}
    waiting = waiting_tensors()
    graphs = UOp(Ops.SINK, src=tuple(dict.fromkeys([tensor._uop for tensor in waiting])))
    order = graphs.toposort(gate=lambda node: not is_stored(node))
    late = [n for n in order if n in overwritten and is_stored(n) and not _is_persistent(n)]
    if not late:
        return False
    copies = [preserved_copy(node) for node in late]
    becomes = kernelize_map(UOp(Ops.SINK, src=tuple(copies)))
    done = {node: becomes[copy] for node, copy in zip(late, copies)}
    for node in order:
        if is_stored(node):
            done.setdefault(node, node)
        else:
            done[node] = node.over(tuple([done[source] for source in node.src]))
    for tensor in waiting:
        set_node(tensor, done[tensor._uop])
    return True


def _pending_writes(order: Iterable[UOp]) -> dict[UOp, list[UOp]]:
    """The ASSIGN nodes among these that are not kernels yet, by the version that they overwrite."""
    writes: dict[UOp, list[UOp]] = {}
    for node in order:
        if node.op is Ops.ASSIGN and node.src[1].op is not Ops.KERNEL:
            version = node.src[0].base
            writes.setdefault(version, []).append(node)
            if version.op is Ops.MULTI:  # a reader of one shard reads memory that is overwritten
                for part in parts_of(version):
                    writes.setdefault(part.base, []).append(node)
    return writes


def _readers(writes: Mapping[UOp, list[UOp]], sink: UOp) -> list[TensorBase]:
    """The live tensors that read a version of memory which is about to be overwritten.

    Simplification may remove a write below `sink` whose value is not needed there. So a tensor with
    a write that reads what another write overwrites is a reader, unless `sink` has it. If several
    tensors write the same version, each of them reads it, and so do all values computed from them.
    """
    several = {version for version, found in writes.items() if len(set(found)) > 1}
    own: dict[UOp, set[UOp]] = {}
    for version, found in writes.items():
        if version not in several:
            own.setdefault(found[0], set()).add(version)
    kept = {node.base for node in sink.src}
    live = live_tensors()
    reads: dict[UOp, UOp | None] = {}  # the version that a node reads; None: several
    shares: set[UOp] = set(several)
    for node in traversal(sink_of(live)):
        if reads.keys().isdisjoint(node.src):
            if node in writes:
                reads[node] = node
        else:
            read = {reads[source] for source in node.src if source in reads}
            if node in own and (node in kept or own[node] >= read):
                read = set()  # it runs, or reads what it overwrites itself
            if node in writes:
                read.add(node)
            if read:
                reads[node] = read.pop() if len(read) == 1 else None
        if several:
            for source in node.src:
                if source in shares:
                    shares.add(node)
                    break
    return [tensor for tensor in live if tensor._uop in reads or tensor._uop in shares]


def _protected(
    node: UOp,
    writes: Mapping[UOp, list[UOp]],
    copies: dict[UOp, UOp],
    computed: dict[UOp, None],
) -> UOp:
    """`node` over a copy of the memory that it views; a node to compute is added to `computed`."""
    if _is_persistent(node):
        return node
    below = node
    while below.op in _THROUGH or (below.op is Ops.BITCAST and shares_bytes(below)):
        below = below.src[0]
    if below in writes or _has_part_in(writes, below):
        if below not in copies:
            copies[below] = preserved_copy(below)
        return node.substitute({below: copies[below]})
    base = node.base
    if base.op is Ops.ASSIGN or (base.op is Ops.CONTIGUOUS and base.arg is not None):
        return node
    computed[base] = None
    return node


def _is_persistent(node: UOp) -> bool:
    """Whether a value is in persistent memory, which is shared with other processes."""
    device = node.device
    return isinstance(device, str) and registry.capabilities(device).memory.persistent


def _has_part_in(writes: Mapping[UOp, list[UOp]], node: UOp) -> bool:
    """Whether a sharded value has a shard in memory that is about to be overwritten."""
    return node.op is Ops.MULTI and any(part.base in writes for part in parts_of(node))


def _is_stored_without_copy(
    computed: Iterable[UOp], order: Container[UOp], writes: Mapping[UOp, list[UOp]]
) -> bool:
    """Whether a schedule stores these values of readers, and before the writes: it computes them
    for the requested tensors anyway, and there is one write to each memory.

    A recording computes its values again with other memory: there copies say what is stored.
    """
    if recording() is not None or any(len(set(found)) > 1 for found in writes.values()):
        return False
    return all(node in order and node.op in _COMPUTED for node in computed)


def _stored_once(computed: Mapping[UOp, None]) -> dict[UOp, UOp]:
    """By value the copy that replaces it in all readers, so that none is computed twice."""
    done: dict[UOp, UOp] = {}
    for node in UOp(Ops.SINK, src=tuple(computed)).toposort():
        rebuilt = node.over(tuple([done.get(source, source) for source in node.src]))
        if node in computed:
            value = rebuilt.src[0] if node.op is Ops.CONTIGUOUS else rebuilt
            rebuilt = preserved_copy(value, node.dtype)
        done[node] = rebuilt
    return {node: done[node] for node in computed}
