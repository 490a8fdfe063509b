"""Meshes of several axes: exchanges among the devices of one axis, and resharding cut by cut.

A cut along one axis of a mesh divides the devices into groups, which differ in their part of that
cut alone. Within a group the value is cut along one axis, so the exchanges of such values apply.

in:  a value that is cut along several axes, or has equal parts on some devices
out: the same value in another layout, or reduced along some of its cuts

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021
(partial tiling, resharding by mesh axis).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.schedule.allreduce import all_reduce
from weft.schedule.collectives import all_reduced, applies, resharded_by_collective
from weft.schedule.multi_parts import EVERYWHERE, Sharded, resharded, sliced
from weft.uop import Cut, Ops, Shard, UOp, shard_of_cuts


def relaid(spread: Sharded, shard: Shard, has_collectives: bool) -> Sharded:
    """The same value with another layout on its devices.

    A cut that the new layout lacks moves to another axis by an all-to-all if the new layout has
    such a cut, and is gathered otherwise. What the old layout lacks is sliced, without exchange.
    """
    for cut in spread.shard.cuts:
        if cut not in shard.cuts:
            target = _moved_cut(cut, spread.shard, shard)
            spread = _changed_cut(spread, cut, target, has_collectives)
    parts = list(spread.parts)
    for cut in shard.cuts:
        if cut not in spread.shard.cuts:
            parts = [sliced(part, cut.axis, *cut.window(n)) for n, part in enumerate(parts)]
    return Sharded(tuple(parts), spread.devices, shard)


def _moved_cut(cut: Cut, own: Shard, shard: Shard) -> Cut | None:
    """The cut of the new layout along the same axis of the mesh, if its axis is not cut yet."""
    taken = {other.axis for other in own.cuts}
    return next(
        (
            other
            for other in shard.cuts
            if (other.stride, other.parts) == (cut.stride, cut.parts) and other.axis not in taken
        ),
        None,
    )


def _changed_cut(spread: Sharded, cut: Cut, target: Cut | None, has_collectives: bool) -> Sharded:
    """The value with one cut replaced, or gathered if there is no target."""
    wanted = EVERYWHERE if target is None else Shard(target.axis, target.bounds)

    def changed(group: Sharded) -> Sequence[UOp]:
        local = group.parts[0].shape
        shape = (*local[: cut.axis], cut.bounds[-1], *local[cut.axis + 1 :])
        if has_collectives:
            made = resharded_by_collective(group, shape, wanted)
            if made is not None:
                return made.parts
        return resharded(group, shape, group.devices, wanted).parts

    parts = _in_groups(spread, cut, changed)
    cuts = [other for other in spread.shard.cuts if other != cut]
    cuts += [] if target is None else [target]
    return Sharded(parts, spread.devices, shard_of_cuts(cuts, len(parts)))


def reduced_along(
    op: Ops, spread: Sharded, cuts: Iterable[Cut], has_collectives: bool
) -> tuple[UOp, ...]:
    """`spread`, partial results along some cuts, reduced by `op` in the groups of each of them."""

    def total(group: Sharded) -> Sequence[UOp]:
        if 0 in group.parts[0].shape:
            return group.parts
        if has_collectives and applies(group.parts):
            return all_reduced(op, group.parts, group.devices)
        return all_reduce(op, group.parts, group.devices)

    for cut in cuts:
        spread = Sharded(_in_groups(spread, cut, total), spread.devices, spread.shard)
    return spread.parts


def _in_groups(
    spread: Sharded, cut: Cut, change: Callable[[Sharded], Sequence[UOp]]
) -> tuple[UOp, ...]:
    """The parts after `change` of each group of devices that differ in one cut alone."""
    parts = list(spread.parts)
    for places in cut.groups(len(parts)):
        group = Sharded(
            tuple(spread.parts[place] for place in places),
            tuple(spread.devices[place] for place in places),
            Shard(cut.axis, cut.bounds),
        )
        for place, part in zip(places, change(group)):
            parts[place] = part
    return tuple(parts)


def merged_layout(layouts: Sequence[Shard], devices: int) -> Shard:
    """The layout of operands together: the cuts of the first, and those of the others that are
    independent of them and along other axes of the value."""
    found: list[Cut] = []
    for layout in layouts:
        for cut in layout.cuts:
            fits = all(cut.axis != known.axis and cut.is_independent(known) for known in found)
            if fits:
                found.append(cut)
    return shard_of_cuts(found, devices)


def fraction(shard: Shard) -> float:
    """The largest part of a layout as a fraction of the value."""
    share = 1.0
    for cut in shard.cuts:
        largest: Any = Shard(cut.axis, cut.bounds).largest
        share *= largest / max(cut.bounds[-1], 1)
    return share
