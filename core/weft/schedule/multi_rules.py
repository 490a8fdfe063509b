"""Sharding propagation: partition each node by the sharding of its sources, sources first.

Elementwise operations work on parts with equal sharding. Movement carries the sharded axis along
where it can. Reduces over the sharded axis end in an all-reduce. Every part stays on the device of
its memory. `multi` starts the traversal and collects the results.

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from weft.base.errors import DeviceError, ScheduleError
from weft.schedule.allreduce import all_reduce, reduce_scatter
from weft.schedule.collectives import (
    all_reduced,
    applies,
    reduce_scattered,
    resharded_by_collective,
)
from weft.schedule.context import ScheduleContext
from weft.schedule.metadata import made_at
from weft.schedule.movement_lists import has_expand, is_whole, transfer_moves
from weft.schedule.multi_mesh import fraction, merged_layout, reduced_along, relaid
from weft.schedule.multi_movement import moved_parts, surviving_cuts
from weft.schedule.multi_parts import (
    EVERYWHERE,
    Sharded,
    computed_on,
    constant,
    copied,
    gathered,
    local_part,
    resharded,
    sharded,
)
from weft.schedule.use_def import MEMORY, SCALARS, is_stored
from weft.uop import GroupOp, Ops, Shard, UOp, identity_element, parts_of, shard_of_cuts

Found = UOp | Sharded
_UNARY = frozenset({Ops.CONTIGUOUS}) | GroupOp.Identity


def partitioned(
    order: Mapping[UOp, None], ctx: ScheduleContext
) -> tuple[dict[UOp, Found], dict[UOp, None]]:
    """The replacement of every node in `order` (sources first): a node on one device, or parts.

    Also the parts that processes compute together, each of which reads its own.

    Raises DeviceError for operands that are not on the same devices, ScheduleError for an operation
    that is not defined for parts, and for a write to what is no memory.
    """
    partitioner = _Partitioner(ctx)
    for node in order:
        partitioner.found[node] = partitioner.node(node)
    return partitioner.found, partitioner.together


class _Partitioner:
    """One traversal of a graph, sources first.

    everywhere: gathered values. partial: the partial results of reduces over the cut axis.
    together: the parts of which each process reads its own. own_copies: the parts on every device
    of which each process copied its own to a device that no other process has.
    """

    def __init__(self, ctx: ScheduleContext) -> None:
        self.ctx = ctx
        self.found: dict[UOp, Found] = {}
        self.everywhere: dict[UOp, Sharded] = {}
        self.partial: dict[UOp, Sharded] = {}
        self.together: dict[UOp, None] = {}
        self.own_copies: dict[UOp, Sharded] = {}

    def node(self, node: UOp) -> Found:
        """The replacement of one node; its sources are in `found`."""
        if is_stored(node) or not node.src:
            return node
        if node.op in (Ops.CONST, Ops.IOTA):
            return self._placed(node)
        rule = _RULES.get(node.op)
        found = [self.found[source] for source in node.src]
        if not any(isinstance(each, Sharded) for each in found):
            if rule is not None and _spans_devices(node):
                return rule(self, node)
            return node.over(tuple(found))  # type: ignore[arg-type]
        if rule is None:
            raise ScheduleError(
                f"{node.op.name} is not defined for values on several devices",
                asked=f"{node.op.name} on {node.device}" + made_at(node),
                try_="move it to one device first, x.to(...)",
            )
        return rule(self, node)

    def _placed(self, node: UOp) -> Found:
        """A constant, or a counter, on every one of its devices."""
        devices = names = node.src[0].arg
        if not isinstance(devices, tuple):
            return node
        places = [UOp(Ops.DEVICE, arg=name) for name in names]
        return Sharded(tuple(node.over((place,)) for place in places), names)

    # ---- layouts ------------------------------------------------------------------------------

    def resharded(self, node: UOp, shard: Shard, like: Sharded, user: UOp) -> Sharded:
        """The value of `node` laid out by `shard` on the devices of `like`."""
        found = self.found[node]
        if isinstance(found, UOp):
            return _recomputed(found, node, shard, like, user)
        if found.devices != like.devices:
            raise _device_mismatch(user, like.devices, found.devices)
        if found.shard == shard:
            return found
        if self.ctx.has_collectives(found.devices):
            scattered = self._scattered(node, found.devices, shard)
            if scattered is not None:
                return scattered
        if found.shard.mesh or shard.mesh:
            return self._relaid(found, node.shape, found.devices, shard)
        if found.shard.axis is not None and (shard.axis is None or has_expand(node)):
            found = self.whole(node)
        return self._relaid(found, node.shape, found.devices, shard)

    def whole(self, node: UOp) -> Sharded:
        """All of `node` on each of its devices. Expands are applied after the copy."""
        known = self.everywhere.get(node)
        if known is not None:
            return known
        below = node.base if has_expand(node) else node
        found = self.found[below]
        result = self._relaid(found, below.shape, found.devices, EVERYWHERE)  # type: ignore[union-attr, arg-type]
        result = result.each(lambda part: transfer_moves(node, below, part))
        self.everywhere[node] = result
        return result

    def _relaid(
        self, found: Sharded, shape: tuple[Any, ...], devices: tuple[str, ...], shard: Shard
    ) -> Sharded:
        """The same value with another layout: by a collective if the devices have them."""
        together = self.ctx.has_collectives(devices)
        if found.shard.mesh or (shard.mesh and devices == found.devices):
            own = shard if devices == found.devices else EVERYWHERE
            found = relaid(found, own, self.ctx.has_collectives(found.devices))
        if devices == found.devices and shard != found.shard and together:
            made = resharded_by_collective(found, shape, shard)
            if made is not None:
                return made
        return resharded(found, shape, devices, shard)

    # ---- rules: one per kind of node ----------------------------------------------------------

    def multi(self, node: UOp) -> Sharded:
        """Parts in memory."""
        parts = tuple(self.found[part] for part in parts_of(node))
        return Sharded(parts, tuple(part.device for part in parts), node.arg)  # type: ignore[arg-type]

    def stack(self, node: UOp) -> Found:
        """Its parts are the sources of the MULTI above."""
        return node

    def select(self, node: UOp) -> Found:
        """One of the parts."""
        found = self.found[node.src[0]]
        place: int = node.arg
        return found.parts[place] if isinstance(found, Sharded) else found

    def unary(self, node: UOp) -> Sharded:
        """Markers and contiguous copies, part by part."""
        found: Sharded = self.found[node.src[0]]  # type: ignore[assignment]
        return found.each(lambda part: part if 0 in part.shape else node.over((part,)))

    def elementwise(self, node: UOp) -> Sharded:
        """Every operand in the layout of the most evenly cut one."""
        if node.op is Ops.ADD and (total := self._added_before_reduced(node)) is not None:
            return total
        like = _common_layout(node, [self.found[source] for source in node.src])
        if node.op is Ops.BITCAST and (resized := self._resized(node, like)) is not None:
            return resized
        operands = list(zip(*(self._column(source, like, node) for source in node.src)))
        return sharded(node, like.devices, like.shard, lambda place: node.over(operands[place]))

    def _added_before_reduced(self, node: UOp) -> Sharded | None:
        """The sum of two reduces over the cut axis: added on each device, then reduced once.

        None where it is no such sum, or where the devices have no collectives.
        """
        parts: list[Sharded] = []
        for source in node.src:
            found = self.partial.get(source.base)
            if found is None or has_expand(source):
                return None
            if source.base.op is not Ops.ADD and source.base.arg.op is not Ops.ADD:
                return None
            parts.append(found.each(partial(transfer_moves, source, source.base)))
        first, second = parts
        if first.devices != second.devices or not self.ctx.has_collectives(first.devices):
            return None
        added = [node.over(pair) for pair in zip(first.parts, second.parts)]
        self.partial[node] = Sharded(tuple(added), first.devices)
        return Sharded(all_reduced(Ops.ADD, added, first.devices), first.devices)

    def _column(self, source: UOp, like: Sharded, user: UOp) -> tuple[UOp, ...]:
        if source.op not in SCALARS:
            return self.resharded(source, like.shard, like, user).parts
        found = self.found[source]
        if isinstance(found, Sharded):  # of constants among themselves one has to keep its place
            return found.parts
        bare = UOp(Ops.CONST, source.dtype, (), source.arg) if source.op is Ops.CONST else source
        return (bare,) * len(like.devices)

    def _resized(self, node: UOp, like: Sharded) -> Sharded | None:
        """A bitcast to elements of another size, where the last axis is cut."""
        old, new = node.src[0].dtype.itemsize, node.dtype.itemsize
        shard, last = like.shard, len(node.shape) - 1
        if old == new or all(cut.axis != last for cut in shard.cuts):
            return None
        if shard.mesh:
            rest = shard_of_cuts((c for c in shard.cuts if c.axis != last), len(like.devices))
            parts = self._relaid(like, node.src[0].shape, like.devices, rest).parts
            return sharded(node, like.devices, rest, lambda place: node.over((parts[place],)))
        if any(bound * old % new for bound in shard.bounds):
            whole = self.whole(node.src[0]).parts
            return Sharded(tuple(node.over((part,)) for part in whole), like.devices)
        cast = Shard(shard.axis, tuple(bound * old // new for bound in shard.bounds))
        return sharded(node, like.devices, cast, lambda place: node.over((like.parts[place],)))

    def movement(self, node: UOp) -> Sharded:
        """Part by part, or of the whole value on every device."""
        source = node.src[0]
        found: Sharded = self.found[source]  # type: ignore[assignment]
        if found.shard.mesh:
            kept = shard_of_cuts(surviving_cuts(node, found.shard), len(found.devices))
            found = self._relaid(found, source.shape, found.devices, kept)
        moved = moved_parts(node, found)
        return moved_parts(node, self.whole(source)) if moved is None else moved  # type: ignore[return-value]

    def reduce(self, node: UOp) -> Sharded:
        """Part by part; over the cut axis an all-reduce."""
        found: Sharded = self.found[node.src[0]]  # type: ignore[assignment]
        crossing = [cut for cut in found.shard.cuts if cut.axis in node.arg.axes]
        rest = (cut for cut in found.shard.cuts if cut not in crossing)
        shard = shard_of_cuts(rest, len(found.devices)) if crossing else found.shard

        def reduced(place: int) -> UOp:
            if 0 not in found.parts[place].shape:
                return node.over((found.parts[place],))
            identity = identity_element(node.arg.op, node.dtype)
            shape = shard.local_shape(node.shape, place)
            return constant(node.dtype, identity, shape, found.devices[place])

        made = sharded(node, found.devices, shard, reduced)
        if not crossing:
            return made
        if found.shard.mesh:
            together = self.ctx.has_collectives(found.devices)
            totals = reduced_along(node.arg.op, made, crossing, together)
            return Sharded(totals, found.devices, shard)
        if all(0 not in part.shape for part in found.parts):
            self.partial[node] = made
        if applies(made.parts) and applies(found.parts) and self.ctx.has_collectives(found.devices):
            totals = all_reduced(node.arg.op, made.parts, found.devices)
            return Sharded(totals, found.devices)
        return _all_reduced(node.arg.op, found, made.parts)

    def copy(self, node: UOp) -> Found:
        """To one device: gathered there. To several: in the requested layout."""
        source, target = node.src[0], node.src[1].arg
        found = self.found[source]
        if isinstance(target, str):
            if isinstance(found, UOp):
                return node.over((found, node.src[1]))
            return self._gathered(node, source, found, target)
        shard = node.arg if isinstance(node.arg, Shard) else EVERYWHERE
        if isinstance(found, UOp):
            return self._distributed(found, target, shard)
        if found.devices == target and node.arg is None:
            return found
        if (scattered := self._scattered(source, target, shard)) is not None:
            return scattered
        everywhere = shard.axis is None and target == found.devices
        if found.shard.axis is not None and (everywhere or has_expand(source)):
            found = self.whole(source)
        return self._relaid(found, node.shape, target, shard)

    def _scattered(self, source: UOp, target: tuple[str, ...], shard: Shard) -> Sharded | None:
        """A reduce over the cut axis with a cut result: a reduce-scatter sends what is kept."""
        below = source.base
        found = self.partial.get(below)
        if (
            found is None
            or shard.axis is None
            or shard.mesh
            or found.devices != target
            or has_expand(source)
        ):
            return None
        moved = found.each(lambda part: transfer_moves(source, below, part))
        together = applies(moved.parts) and self.ctx.has_collectives(target)
        reduced = reduce_scattered if together else reduce_scatter
        op = Ops.ADD if below.op is Ops.ADD else below.arg.op
        return Sharded(reduced(op, moved.parts, target, shard), target, shard)

    def _gathered(self, node: UOp, source: UOp, found: Sharded, target: str) -> UOp:
        own = self.ctx.addressable_place(found.devices)
        if own is not None and target not in found.devices:
            # every process reads the part that it holds
            everywhere = found if found.shard.axis is None else self.whole(source)
            parts = everywhere.each(UOp.contiguous).parts
            self.together.update(dict.fromkeys(parts))
            copy = node.over((parts[own], node.src[1]))
            self.own_copies[copy] = everywhere
            return copy
        if self.ctx.computes(target):
            return gathered(found, source.shape, target)
        # what only stores cannot join parts
        whole = gathered(found, source.shape, found.devices[0]).contiguous()
        return node.over((whole, node.src[1]))

    def _distributed(self, value: UOp, devices: tuple[str, ...], shard: Shard) -> Sharded:
        """A value on one device, or on none, distributed to several.

        What every process copied from a part of its own comes from these parts: the copies of one
        process would differ from those of another.
        """
        base = value.base
        if (everywhere := self.own_copies.get(base)) is not None:
            moved = everywhere.each(lambda part: transfer_moves(value, base, part))
            return resharded(moved, value.shape, devices, shard)
        value = _copy_source(value, shard)
        parts = [
            copied(local_part(_computed_on(value, device), shard, place), device)
            for place, device in enumerate(devices)
        ]
        return Sharded(tuple(parts), devices, shard)

    def assign(self, node: UOp) -> Sharded:
        """Each part of the value into the same part of the destination."""
        target, value = node.src
        found = self.found[target]
        if not isinstance(found, Sharded):
            raise _device_mismatch(node, (str(target.device),), _devices(self.found[value]))
        source = self.found[value.src[0]] if value.op is Ops.COPY else None
        if value.op in SCALARS:
            values = self._column(value, found, node)
        elif isinstance(source, UOp) and value.device == found.devices:
            # from one device: no more is sent to each than it keeps
            values = self._distributed(source, found.devices, found.shard).parts
        else:
            values = self.resharded(value, found.shard, found, node).parts
        parts = [_written(node, part, new) for part, new in zip(found.parts, values)]
        return Sharded(tuple(parts), found.devices, found.shard)


_RULES: dict[Ops, Callable[[_Partitioner, UOp], Found]] = {
    Ops.MULTI: _Partitioner.multi,
    Ops.MSTACK: _Partitioner.stack,
    Ops.MSELECT: _Partitioner.select,
    Ops.REDUCE_AXIS: _Partitioner.reduce,
    Ops.COPY: _Partitioner.copy,
    Ops.ASSIGN: _Partitioner.assign,
    **dict.fromkeys(_UNARY, _Partitioner.unary),
    **dict.fromkeys(GroupOp.Elementwise, _Partitioner.elementwise),
    **dict.fromkeys(GroupOp.Movement, _Partitioner.movement),
}


def _all_reduced(op: Ops, found: Sharded, parts: Sequence[UOp]) -> Sharded:
    """The all-reduce of the partial results that have elements, on every device."""
    given = [i for i, part in enumerate(found.parts) if 0 not in part.shape]
    given = given or list(range(len(parts)))
    devices = tuple(found.devices[i] for i in given)
    totals = dict(zip(devices, all_reduce(op, tuple(parts[i] for i in given), devices)))
    first = totals[devices[0]]
    everywhere = [totals[d] if d in totals else copied(first, d) for d in found.devices]
    return Sharded(tuple(everywhere), found.devices)


def _spans_devices(node: UOp) -> bool:
    """Whether a node is on several devices although its sources are on one."""
    if node.op is Ops.COPY:
        return isinstance(node.src[1].arg, tuple)
    return node.op in (Ops.MULTI, Ops.MSTACK)


def _devices(found: Found) -> Any:
    return found.devices if isinstance(found, Sharded) else found.device


def _computed_on(value: UOp, device: str) -> UOp:
    """A value without a device, computed on `device`."""
    made = computed_on(value, device) if value.device is None else None
    return value if made is None else made


def _copy_source(value: UOp, shard: Shard) -> UOp:
    """The source of a copy if each part of it is contiguous, so that each device copies only its
    part."""
    base = value
    while base.op is Ops.RESHAPE:
        base = base.src[0]
    leading = value.shape[: shard.axis or 0]
    if base.op is not Ops.COPY or not isinstance(base.device, str):
        return value
    source = base.src[0]
    if shard.mesh or any(extent != 1 for extent in leading) or source.base.op is not Ops.BUFFER:
        return value
    if source is not source.base and not source.st.contiguous:
        return value
    return transfer_moves(value, base, source)


def _common_layout(node: UOp, found: list[Found]) -> Sharded:
    """The operand whose layout the others take: cut, and as evenly as any."""
    spreads = [each for each in found if isinstance(each, Sharded)]
    for each in spreads:
        if each.devices != spreads[0].devices:
            raise _device_mismatch(node, spreads[0].devices, each.devices)
    # the largest part determines the run time: fractions of the value are compared
    cut_ones = sorted(
        (each for each in spreads if each.shard.axis is not None),
        key=lambda each: fraction(each.shard),
    )
    if not cut_ones:
        return spreads[0]
    first = cut_ones[0]
    shard = merged_layout([each.shard for each in cut_ones], len(first.devices))
    return first if shard == first.shard else Sharded(first.parts, first.devices, shard)


def _recomputed(found: UOp, node: UOp, shard: Shard, like: Sharded, user: UOp) -> Sharded:
    """A value of constants and counters, computed on all devices of `like`."""
    parts: list[UOp] = []
    for place, device in enumerate(like.devices):
        made = computed_on(found, device)
        if made is None:
            raise _device_mismatch(user, like.devices, found.device)
        parts.append(local_part(made, shard, place))
    return Sharded(tuple(parts), like.devices, shard)


def _device_mismatch(user: UOp, devices: tuple[str, ...], other: Any) -> DeviceError:
    """The error for operands on other devices."""
    return DeviceError(
        "the operands are on different devices",
        asked=f"{user.op.name} of a value on {devices} with one on {other}" + made_at(user),
        because="each device computes its part from memory of its own",
        try_=f"shard the other one in the same way: x.shard({devices!r}), with an axis or without",
    )


def _written(node: UOp, target: UOp, value: UOp) -> UOp:
    if 0 in target.shape:
        return target
    memory = target.base
    if memory.op not in MEMORY or not is_whole(target) or node.arg is not None:
        raise ScheduleError(
            "only the whole of a sharded value's memory can be written",
            asked=f"a write to {node.shape} on {node.device}" + made_at(node),
            because=f"each part has to be a buffer of its own, and one is {memory.op.name}",
            try_="replace the value instead: x.replace(...)",
        )
    if value.op not in SCALARS and value.shape != memory.shape:
        value = value.reshape(memory.shape)
    written = node.over((memory, value))
    return written if written.shape == target.shape else written.reshape(target.shape)
