"""SPMD partitioning: replace a graph over sharded values by one graph per device.
Also: sharding.

Every value on several devices is replaced by its parts, from the buffers up (see `multi_rules`).
All later passes see values on one device, with COPY between devices. Afterwards the stored parts
are collected into the sharded values that tensors hold.

in:  spec.tensor, values on several devices among them
out: spec.tensor, each value on one device, and what the nodes of the old graph became

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from weft.base.deferred_dataclass import dataclass
from weft.device import registry
from weft.schedule.constants import constant_of
from weft.schedule.context import ScheduleContext
from weft.schedule.multi_parts import Sharded, constant
from weft.schedule.multi_rules import Found, partitioned
from weft.schedule.storage import APART
from weft.schedule.use_def import MEMORY, is_pending, is_stored
from weft.uop import GroupOp, Ops, Shard, UOp, parts_of, stacked

_STRUCTURE = frozenset({Ops.SINK, Ops.MSTACK, Ops.DEVICE, Ops.UNIQUE, Ops.KERNEL})


@dataclass
class PartitionedGraph:
    """A graph with one part per device.

    sink: the parts of the requested values, each on one device. found: the replacement of each
    node. together: the parts that processes compute together, each of which reads its own.
    """

    sink: UOp
    found: dict[UOp, Found] = field(default_factory=dict[UOp, Found])
    together: dict[UOp, None] = field(default_factory=dict[UOp, None])

    def requested(
        self, whole: UOp, collected: Mapping[UOp, UOp], becomes: Mapping[UOp, UOp]
    ) -> UOp:
        """The sink `whole` with its values stored, and the parts of other processes."""
        own = [source.substitute(dict(collected)) for source in whole.src]
        parts = [_stored_value(part, becomes) for part in self.together]
        # first: the order of these parts is the order of all processes
        return UOp.sink(*(part for part in parts if part is not None), *own)

    def collected(self, becomes: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
        """The replacements of nodes of the whole graph, from those of the parts."""
        result: dict[UOp, UOp] = {}
        for node, found in self.found.items():
            if node.op in GroupOp.Movement or node.op in _STRUCTURE or is_stored(node):
                continue
            if isinstance(found, UOp):
                new = _stored_value(found, becomes) if found is not node else becomes.get(node)
            else:
                new = _sharded_value(
                    node, found, [_stored_value(part, becomes) for part in found.parts]
                )
            if new is not None and new is not node:
                result[node] = new
        return result


def _stored_value(part: UOp, becomes: Mapping[UOp, UOp]) -> UOp | None:
    """The node that holds the value of a part; None where it is not stored."""
    base = part.base
    new = becomes.get(base)
    if new is not None:
        return new if part is base else part.substitute({base: new})
    return part if is_stored(base) or base.op is Ops.CONST else None


def _sharded_value(node: UOp, found: Sharded, parts: list[UOp | None]) -> UOp | None:
    """The parts, if all are stored, as one sharded value."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if node.op is Ops.CONST or (node.op is Ops.MULTI and tuple(known) == parts_of(node)):
        return None
    numbers = [constant_of(part) for part in known]
    same = {None if n is None else str(n.arg) for n in numbers}  # equal to the bit
    if numbers[0] is not None and len(same) == 1:
        return constant(node.dtype, numbers[0].arg, node.shape, found.devices)
    return stacked(known, found.shard)


def partition(sink: UOp, ctx: ScheduleContext) -> PartitionedGraph | None:
    """The graph with one part per device; None where all of it is on single devices.

    Raises DeviceError for operands that are not on the same devices, ScheduleError for a write to
    what is no memory.
    """
    order = sink.toposort(gate=is_pending)
    if not any(node.op is Ops.DEVICE and isinstance(node.arg, tuple) for node in order):
        if not any(node.op is Ops.MSTACK for node in order):
            return None
    del order[sink]
    found, together = partitioned(order, ctx)
    return PartitionedGraph(_requested_parts(sink, found, together), found, together)


def layout_of(node: UOp, ctx: ScheduleContext | None = None) -> Shard | None:
    """The sharding of a value; None where it is on one device."""
    if node.op is Ops.MULTI:
        return node.arg
    taken = partition(UOp.sink(node), ctx or ScheduleContext(registry.capabilities))
    found = None if taken is None else taken.found.get(node)
    return found.shard if isinstance(found, Sharded) else None


def _requested_parts(sink: UOp, found: dict[UOp, Found], together: dict[UOp, None]) -> UOp:
    """The parts that must be computed: of the sink, of writes, and those of other processes."""
    # a write is carried out on every device, even if one part of its result is all that is read
    asked: dict[UOp, None] = {
        part: None
        for node, parts in found.items()
        if node.op is Ops.ASSIGN and isinstance(parts, Sharded)
        for part in parts.parts
    } | together
    for source in sink.src:
        base = source.base
        new = found[base]
        if isinstance(new, Sharded):
            new = found[base] = _with_memory(base, new)
            asked.update(dict.fromkeys(new.parts))
        else:
            # what came of movement keeps its movement: only what is below is to be stored
            asked[source if new is base else new] = None
    return UOp.sink(*asked)


def _with_memory(base: UOp, found: Sharded) -> Sharded:
    """The parts of a value; what was only copied gets memory of its own size, since a view would
    keep the whole alive."""
    if base.op is not Ops.COPY:
        return found
    parts = [part if part.base is part else _with_own_memory(part) for part in found.parts]
    return Sharded(tuple(parts), found.devices, found.shard)


def _with_own_memory(part: UOp) -> UOp:
    """A part in memory that holds nothing else."""
    whole = part.base
    # a window keeps memory alive
    is_window = whole.op in MEMORY - {Ops.COPY} and part.size != whole.size
    return UOp(Ops.CONTIGUOUS, part.dtype, (part,), APART if is_window else None)
