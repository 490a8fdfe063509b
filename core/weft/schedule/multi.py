"""SPMD partitioning: replace a graph over sharded values by one graph per device.

Every value on several devices is replaced by its parts, from the buffers up (see `multi_rules`).
All later passes see values on one device, with COPY between devices. Afterwards the stored parts
are collected into the sharded values that tensors hold.

in:  spec.tensor, values on several devices among them
out: spec.tensor, each value on one device, and what the nodes of the old graph became

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.device import registry
from weft.schedule.context import ScheduleContext
from weft.schedule.multi_parts import Spread, constant
from weft.schedule.multi_rules import Found, taken_apart
from weft.schedule.simplify import constant_of
from weft.schedule.storage import APART
from weft.schedule.use_def import is_stored
from weft.uop import GroupOp, Ops, Shard, UOp
from weft.uop.sharding import parts_of, stacked

_STRUCTURE = frozenset({Ops.SINK, Ops.MSTACK, Ops.DEVICE, Ops.UNIQUE, Ops.KERNEL})

# memory that a window of it keeps alive
_HELD = frozenset({Ops.BUFFER, Ops.BUFFER_VIEW, Ops.ASSIGN, Ops.CONTIGUOUS})


@dataclass
class Expansion:
    """A graph taken apart.

    sink: the parts of what is asked for, each on one device. found: what every node has become.
    """

    sink: UOp
    found: dict[UOp, Found] = field(default_factory=dict)

    def collected(self, becomes: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
        """What the nodes of the whole graph become, from what those of the parts do."""
        result: dict[UOp, UOp] = {}
        for node, found in self.found.items():
            if node.op in GroupOp.Movement or node.op in _STRUCTURE or is_stored(node):
                continue
            if isinstance(found, UOp):
                new = _final(found, becomes) if found is not node else becomes.get(node)
            else:
                new = _whole(node, found, [_final(part, becomes) for part in found.parts])
            if new is not None and new is not node:
                result[node] = new
        return result


def _final(part: UOp, becomes: Mapping[UOp, UOp]) -> UOp | None:
    """What holds the value of a part; None where nothing does."""
    base = part.base
    new = becomes.get(base)
    if new is not None:
        return new if part is base else part.substitute({base: new})
    return part if is_stored(base) or base.op is Ops.CONST else None


def _whole(node: UOp, found: Spread, parts: list[UOp | None]) -> UOp | None:
    """The parts, where all are held, as the one value that people see."""
    if any(part is None for part in parts):
        return None
    if node.op is Ops.CONST or (node.op is Ops.MULTI and tuple(parts) == parts_of(node)):
        return None
    numbers = [constant_of(part) for part in parts]
    if numbers[0] is not None and all(n is not None and _same(n, numbers[0]) for n in numbers):
        return constant(node.dtype, numbers[0].arg, node.shape, found.devices)
    return stacked(parts, found.shard)


def _same(a: UOp, b: UOp) -> bool:
    return a.arg == b.arg and str(a.arg) == str(b.arg)


def expand(sink: UOp, ctx: ScheduleContext) -> Expansion | None:
    """`sink` taken apart; None where all of it is on single devices.

    Raises DeviceError for operands that are not on the same devices, ScheduleError for a write to
    what is no memory.
    """
    order = sink.toposort(gate=lambda u: not is_stored(u))
    if not any(node.op is Ops.DEVICE and isinstance(node.arg, tuple) for node in order):
        if not any(node.op is Ops.MSTACK for node in order):
            return None
    del order[sink]
    found = taken_apart(order, ctx)
    return Expansion(_asked_for(sink, found), found)


def placement_of(node: UOp, ctx: ScheduleContext | None = None) -> Shard | None:
    """How a value lies on its devices; None where it is on one."""
    if node.op is Ops.MULTI:
        return node.arg
    taken = expand(UOp.sink(node), ctx or ScheduleContext(registry.capabilities))
    found = None if taken is None else taken.found.get(node)
    return found.shard if isinstance(found, Spread) else None


def _asked_for(sink: UOp, found: dict[UOp, Found]) -> UOp:
    """What has to be computed of the parts."""
    # a write is carried out on every device, even if one part of its result is all that is read
    asked: dict[UOp, None] = {
        part: None
        for node, parts in found.items()
        if node.op is Ops.ASSIGN and isinstance(parts, Spread)
        for part in parts.parts
    }
    for source in sink.src:
        base = source.base
        new = found[base]
        if isinstance(new, Spread):
            new = found[base] = _asked(base, new)
            asked.update(dict.fromkeys(new.parts))
        else:
            # what came of movement keeps its movement: only what is below is to be stored
            asked[source if new is base else new] = None
    return UOp.sink(*asked)


def _asked(base: UOp, found: Spread) -> Spread:
    """What was only laid out anew gets memory of its own, as much as each part needs: a window of
    the whole on its device would keep all of that alive."""
    if base.op is not Ops.COPY:
        return found
    parts = [part if part.base is part else _with_own_memory(part) for part in found.parts]
    return Spread(tuple(parts), found.devices, found.shard)


def _with_own_memory(part: UOp) -> UOp:
    """A part in memory that holds nothing else."""
    whole = part.base
    is_window = whole.op in _HELD and part.size != whole.size
    return UOp(Ops.CONTIGUOUS, part.dtype, (part,), APART if is_window else None)
