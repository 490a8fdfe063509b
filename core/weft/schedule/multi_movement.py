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
from weft.uop import Ops, Shard, UOp


def moved_parts(node: UOp, source: Sharded) -> Sharded | None:
    """The parts of movement `node` over `source`, or None where the cut does not survive it."""
    if source.shard.axis is None:
        return source.each(lambda part: node.over((part,)))
    return _RULES[node.op](node, source)


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
    inner = [before + bound for bound in bounds[1:-1]]
    shard = Shard(axis, (0, *inner, before + bounds[-1] + after))
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
    kept = [min(max(bound, start), stop) for bound in bounds]
    shard = Shard(axis, tuple(bound - start for bound in kept))
    args: list[Any] = []
    for bound, (low, high) in zip(bounds, pairwise(kept)):
        window = list(node.arg)
        window[axis] = (low - bound, high - bound)
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
