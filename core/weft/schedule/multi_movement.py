"""Sharded movement: apply a movement op to each part alone where the sharding allows it.

in:  a movement node and the parts of its source
out: the parts of the result, or None where every device needs the whole source first (the caller
gathers it)

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

from weft.base.sequences import prod
from weft.schedule.multi_parts import Sharded, constant, copied, sharded
from weft.uop import Cut, Ops, Shard, UOp, shard_of_cuts


def moved_parts(node: UOp, source: Sharded) -> Sharded | None:
    """The parts of movement `node` over `source`, or None where the cut does not survive it."""
    if source.shard.axis is None:
        return source.each(lambda part: node.over((part,)))
    if source.shard.mesh:
        return _moved_by_cuts(node, source)
    return _RULES[node.op](node, source)


def surviving_cuts(node: UOp, shard: Shard) -> list[Cut]:
    """The cuts of a layout that a movement node keeps, each along an axis of its own then."""
    found = {cut: _moved_cut(node, cut) for cut in shard.cuts}
    taken: set[int] = set()
    kept: list[Cut] = []
    for cut, moved in found.items():
        if moved is not None and moved.axis not in taken:
            taken.add(moved.axis)
            kept.append(cut)
    return kept


def _moved_cut(node: UOp, cut: Cut) -> Cut | None:
    """A cut after movement; None where it does not survive."""
    axis, bounds = cut.axis, cut.bounds
    if node.op is Ops.RESHAPE:
        found = reshaped_bounds(Shard(axis, bounds), node.src[0].shape, node.shape)
        return None if found is None else Cut(cast(int, found.axis), found.bounds, cut.stride)
    if node.op is Ops.PERMUTE:
        return Cut(node.arg.index(axis), bounds, cut.stride)
    if node.op is Ops.EXPAND:
        return cut if node.shape[axis] == bounds[-1] else None
    if node.op is Ops.FLIP:
        return None if node.arg[axis] else cut
    if not all(isinstance(number, int) for number in node.arg[axis]):
        return None
    change = _padded_bounds if node.op is Ops.PAD else _shrunk_bounds
    return Cut(axis, change(bounds, *node.arg[axis]), cut.stride)


def _moved_by_cuts(node: UOp, source: Sharded) -> Sharded | None:
    """The movement of every part of a value with several cuts; None where one does not survive."""
    cuts, count = source.shard.cuts, len(source.parts)
    moved = [_moved_cut(node, cut) for cut in surviving_cuts(node, source.shard)]
    if len(moved) < len(cuts):
        return None
    shard = shard_of_cuts([cut for cut in moved if cut is not None], count)
    args: list[Any] = []
    for place in range(count):
        if node.op in (Ops.RESHAPE, Ops.EXPAND):
            args.append(shard.local_shape(node.shape, place))
            continue
        own = list(node.arg)
        for cut in cuts if node.op in (Ops.PAD, Ops.SHRINK) else ():
            own[cut.axis] = _local_pair(node, cut, place)
        args.append(tuple(own))
    return _apply_to_parts(node, source, shard, args)


def _local_pair(node: UOp, cut: Cut, place: int) -> tuple[int, int]:
    """The padding or the window of one part along its cut."""
    number, (first, second) = cut.part(place), node.arg[cut.axis]
    if node.op is Ops.PAD:
        return (first if number == 0 else 0, second if number == cut.parts - 1 else 0)
    start, stop = cut.window(place)
    low, high = (min(max(bound, first), second) for bound in (start, stop))
    return (low - start, high - start)


def _padded_bounds(bounds: tuple[int, ...], before: int, after: int) -> tuple[int, ...]:
    """The first part grows in front, the last one at the end."""
    return (0, *[before + bound for bound in bounds[1:-1]], before + bounds[-1] + after)


def _shrunk_bounds(bounds: tuple[int, ...], start: int, stop: int) -> tuple[int, ...]:
    """Every part keeps what it has of the window."""
    return tuple(min(max(bound, start), stop) - start for bound in bounds)


def _apply_to_parts(node: UOp, source: Sharded, shard: Shard, args: list[Any]) -> Sharded:
    """The movement of every part with its own argument; a part without elements is a constant."""

    def moved(place: int) -> UOp:
        part, shape = source.parts[place], shard.local_shape(node.shape, place)
        if 0 in part.shape:
            return constant(node.dtype, 0, shape, source.devices[place])
        if shape == part.shape and node.op in (Ops.RESHAPE, Ops.SHRINK, Ops.PAD):
            return part
        return UOp(node.op, node.dtype, (part,), args[place])

    return sharded(node, source.devices, shard, moved)


def _reshape(node: UOp, source: Sharded) -> Sharded | None:
    """Whole blocks of the new shape have to lie in one part each."""
    old, new = node.src[0].shape, node.shape
    found = reshaped_bounds(source.shard, old, new)
    if found is None:
        return None
    args = [found.local_shape(new, place) for place in range(len(source.parts))]
    return _apply_to_parts(node, source, found, args)


def reshaped_bounds(shard: Shard, old: tuple[Any, ...], new: tuple[Any, ...]) -> Shard | None:
    """The bounds of a cut of shape `old` in shape `new`; None where it does not survive."""
    axis = shard.axis
    if axis is None:
        return shard
    before, block = prod(old[:axis]), prod(old[axis + 1 :])
    for candidate in reversed(range(len(new))):
        if prod(new[:candidate]) != before:
            continue
        inner = prod(new[candidate + 1 :])
        if block == inner and old[axis] == new[candidate]:
            return Shard(candidate, shard.bounds)
        if not (isinstance(block, int) and isinstance(inner, int)) or inner == 0:
            continue
        if shard.bounds[-1] * block != new[candidate] * inner:
            continue  # there are no elements at all
        if all(bound * block % inner == 0 for bound in shard.bounds):
            return Shard(candidate, tuple(bound * block // inner for bound in shard.bounds))
    return None


def _permute(node: UOp, source: Sharded) -> Sharded | None:
    shard = Shard(node.arg.index(source.shard.axis), source.shard.bounds)
    return _apply_to_parts(node, source, shard, [node.arg] * len(source.parts))


def _expand(node: UOp, source: Sharded) -> Sharded | None:
    """One element that becomes many is wanted by all."""
    shard = source.shard
    if node.shape[cast(int, shard.axis)] != shard.bounds[-1]:
        return None
    args = [shard.local_shape(node.shape, place) for place in range(len(source.parts))]
    return _apply_to_parts(node, source, shard, args)


def _pad(node: UOp, source: Sharded) -> Sharded | None:
    """The first part grows in front, the last one at the end."""
    axis, bounds = cast(int, source.shard.axis), source.shard.bounds
    before, after = node.arg[axis]
    if not (isinstance(before, int) and isinstance(after, int)):
        return None
    last = len(source.parts) - 1
    shard = Shard(axis, _padded_bounds(bounds, before, after))
    args: list[Any] = []
    for place in range(len(source.parts)):
        pairs = list(node.arg)
        pairs[axis] = (before if place == 0 else 0, after if place == last else 0)
        args.append(tuple(pairs))
    return _apply_to_parts(node, source, shard, args)


def _shrink(node: UOp, source: Sharded) -> Sharded | None:
    """Every part keeps what it has of the window."""
    axis, bounds = cast(int, source.shard.axis), source.shard.bounds
    start, stop = node.arg[axis]
    if not (isinstance(start, int) and isinstance(stop, int)):
        return None
    shard = Shard(axis, _shrunk_bounds(bounds, start, stop))
    args: list[Any] = []
    for bound, (low, high) in zip(bounds, pairwise(shard.bounds)):
        window = list(node.arg)
        window[axis] = (low + start - bound, high + start - bound)
        args.append(tuple(window))
    return _apply_to_parts(node, source, shard, args)


def _flip(node: UOp, source: Sharded) -> Sharded | None:
    """Along the cut the parts change places too."""
    shard, parts = source.shard, source.parts
    if not node.arg[shard.axis]:
        return _apply_to_parts(node, source, shard, [node.arg] * len(parts))
    total = shard.bounds[-1]
    mirrored = Shard(shard.axis, tuple(total - bound for bound in reversed(shard.bounds)))
    swapped = tuple(map(copied, reversed(parts), source.devices))
    moved = Sharded(swapped, source.devices, mirrored)
    return _apply_to_parts(node, moved, mirrored, [node.arg] * len(parts))


_RULES = {
    Ops.RESHAPE: _reshape,
    Ops.PERMUTE: _permute,
    Ops.EXPAND: _expand,
    Ops.PAD: _pad,
    Ops.SHRINK: _shrink,
    Ops.FLIP: _flip,
}
