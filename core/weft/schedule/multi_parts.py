"""Resharding: slice, copy and concatenate the parts of a sharded value as its readers need them.

A `Spread` is one graph per device. No device receives data that it has already. Constants and
counters are computed where they are needed. Expands are applied after the copy.

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021
(resharding).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.uop import GroupOp, Ops, Shard, UOp

EVERYWHERE = Shard()
"""Every device has the whole value."""

# what computes nothing and reads no memory: made anew on any device
_MADE_ANYWHERE = (
    GroupOp.Elementwise
    | GroupOp.Movement
    | GroupOp.Identity
    | {Ops.CONST, Ops.IOTA, Ops.DEVICE, Ops.BIND, Ops.DEFINE_VAR}
)
# movement after which there are no fewer elements than before: it waits until after the journey
_AFTER_THE_JOURNEY = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.FLIP, Ops.PAD})


@dataclass(frozen=True, slots=True)
class Spread:
    """A value on several devices: `parts[i]` is on `devices[i]`, as `shard` says."""

    parts: tuple[UOp, ...]
    devices: tuple[str, ...]
    shard: Shard = EVERYWHERE


def nothing(dtype: DType, shape: Sequence[Any], device: str) -> UOp:
    """A value without elements."""
    return constant(dtype, 0, shape, device)


def constant(dtype: DType, value: Any, shape: Sequence[Any], device: str) -> UOp:
    """`value` in every element of `shape`."""
    node = UOp.const(dtype, value, device)
    return node.reshape((1,) * len(shape)).expand(tuple(shape)) if shape else node


def cut(value: UOp, axis: int | None, start: int, stop: int) -> UOp:
    """`value` from start to stop along an axis; itself where that is all of it."""
    if axis is None or (start, stop) == (0, value.shape[axis]):
        return value
    if start == stop:
        shape = (*value.shape[:axis], 0, *value.shape[axis + 1 :])
        return nothing(value.dtype, shape, value.device)
    window = [(0, extent) for extent in value.shape]
    window[axis] = (start, stop)
    return value.shrink(tuple(window))


def carried(value: UOp, device: str) -> UOp:
    """A single-device value on `device`."""
    moves: list[UOp] = []
    while value.device != device and value.op in _AFTER_THE_JOURNEY:
        if any(isinstance(size, UOp) for size in value.src[0].shape):
            break  # copies have one length
        moves.append(value)
        value = value.src[0]
    if value.device != device:
        made = made_on(value, device)
        value = value.copy_to_device(device) if made is None else made
    for move in reversed(moves):
        value = UOp(move.op, move.dtype, (value,), move.arg)
    return value


def made_on(value: UOp, device: str) -> UOp | None:
    """`value` computed on `device` in the first place; None where it reads memory."""
    if value.op is Ops.CONST:
        return UOp.const(value.dtype, value.arg, device)
    below = value.toposort(gate=lambda node: node.op in _MADE_ANYWHERE)
    if any(node.op not in _MADE_ANYWHERE for node in below):
        return None
    place = UOp(Ops.DEVICE, arg=device)
    moved = value.substitute({node: place for node in below if node.op is Ops.DEVICE})
    if moved.device == device:
        return moved
    placeless = {n: UOp.const(n.dtype, n.arg, device) for n in below if n.op is Ops.CONST}
    return value.substitute(placeless)


def joined(pieces: Sequence[tuple[int, UOp]], axis: int, extent: int) -> UOp:
    """(start, value) pieces that fill an axis of `extent`, as one value on their device."""
    start, result = pieces[0]
    result = _placed(result, axis, start, extent)
    for start, piece in pieces[1:]:
        inside = constant(dtypes.bool, True, piece.shape, piece.device)
        there = _placed(inside, axis, start, extent)
        result = there.alu(Ops.WHERE, _placed(piece, axis, start, extent), result)
    return result


def _placed(value: UOp, axis: int, start: int, extent: int) -> UOp:
    own = value.shape[axis]
    if own == extent:
        return value
    padding = [(0, 0)] * len(value.shape)
    padding[axis] = (start, extent - start - own)
    return value.pad(tuple(padding))


def part_of(spread: Spread, shape: tuple[Any, ...], device: str, shard: Shard, place: int) -> UOp:
    """Part `place` of `shard` of a value of `shape` that lies as `spread` says, on `device`."""
    own, wanted = spread.shard, shard.axis
    low, high = (0, 0) if wanted is None else shard.bounds[place : place + 2]
    if wanted is not None and low == high:
        return nothing(spread.parts[0].dtype, shard.local_shape(shape, place), device)
    if own.axis is None:
        nearest = spread.devices.index(device) if device in spread.devices else 0
        return carried(cut(spread.parts[nearest], wanted, low, high), device)
    if own.axis != wanted:
        origin, extent = 0, own.bounds[-1]
    else:
        origin, extent = low, high - low
    pieces = []
    for part, start, stop in zip(spread.parts, own.bounds, own.bounds[1:]):
        if own.axis == wanted:
            first, last = max(start, low), min(stop, high)
            piece = (first, last, first - start, last - start)
        else:
            first, last = start, stop
            piece = (first, last, low, high)
        if first < last:
            held = cut(part, wanted, *piece[2:])
            pieces.append((first - origin, carried(held, device)))
    if not pieces:
        return nothing(spread.parts[0].dtype, shard.local_shape(shape, place), device)
    return joined(pieces, own.axis, extent)


def arranged(
    spread: Spread, shape: tuple[Any, ...], devices: tuple[str, ...], shard: Shard
) -> Spread:
    """The same value of `shape` on `devices` as `shard` says."""
    if (spread.devices, spread.shard) == (devices, shard):
        return spread
    parts = [part_of(spread, shape, device, shard, i) for i, device in enumerate(devices)]
    return Spread(tuple(parts), devices, shard)


def gathered(spread: Spread, shape: tuple[Any, ...], device: str) -> UOp:
    """The whole value on one device."""
    return part_of(spread, shape, device, EVERYWHERE, 0)
