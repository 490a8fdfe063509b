"""Resharding: slice, copy and concatenate the parts of a sharded value as its readers need them.

A `Sharded` is one graph per device. No device receives data that it has already. Constants and
counters are computed where they are needed. Expands are applied after the copy.

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021
(resharding).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, dtypes
from weft.schedule.constants import full
from weft.schedule.movement_lists import transfer_moves
from weft.uop import Cut, GroupOp, Ops, Shard, UOp

EVERYWHERE = Shard()
"""Every device has the whole value."""

# operations that read no memory, so that they are recomputed on any device
_RECOMPUTABLE = (
    GroupOp.Elementwise
    | GroupOp.Movement
    | GroupOp.Identity
    | {Ops.CONST, Ops.IOTA, Ops.DEVICE, Ops.BIND, Ops.DEFINE_VAR}
)
# movement that does not reduce the number of elements: it is applied after the copy
_AFTER_COPY = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.FLIP, Ops.PAD})


@dataclass(frozen=True, slots=True)
class Sharded:
    """A value on several devices: `parts[i]` is on `devices[i]`, laid out by `shard`."""

    parts: tuple[UOp, ...]
    devices: tuple[str, ...]
    shard: Shard = EVERYWHERE

    def each(self, change: Callable[[UOp], UOp]) -> Sharded:
        """Every part changed, in the same layout."""
        return Sharded(tuple(map(change, self.parts)), self.devices, self.shard)


def sharded(
    node: UOp, devices: tuple[str, ...], shard: Shard, part: Callable[[int], UOp]
) -> Sharded:
    """The value of `node` in parts: `part` gives those that have elements, by number."""
    parts: list[UOp] = []
    for place, device in enumerate(devices):
        shape = shard.local_shape(node.shape, place)
        parts.append(empty(node.dtype, shape, device) if 0 in shape else part(place))
    return Sharded(tuple(parts), devices, shard)


def empty(dtype: DType, shape: Sequence[Any], device: str) -> UOp:
    """A value without elements."""
    return constant(dtype, 0, shape, device)


def constant(dtype: DType, value: Any, shape: Sequence[Any], device: str | tuple[str, ...]) -> UOp:
    """`value` in every element of `shape`."""
    return full(tuple(shape), UOp.const(dtype, value, device))


def sliced(value: UOp, axis: int | None, start: int, stop: int) -> UOp:
    """`value` from start to stop along an axis; itself where that is all of it."""
    if axis is None or (start, stop) == (0, value.shape[axis]):
        return value
    if start == stop:
        shape = (*value.shape[:axis], 0, *value.shape[axis + 1 :])
        return empty(value.dtype, shape, value.device)
    window = [(0, extent) for extent in value.shape]
    window[axis] = (start, stop)
    return value.shrink(tuple(window))


def local_part(value: UOp, shard: Shard, place: int) -> UOp:
    """What device number `place` has of a whole value."""
    for cut in shard.cuts:
        value = sliced(value, cut.axis, *cut.window(place))
    return value


def copied(value: UOp, device: str) -> UOp:
    """A single-device value on `device`; movement that adds elements is applied after the copy."""
    below = value
    while below.device != device and below.op in _AFTER_COPY:
        if any(isinstance(size, UOp) for size in below.src[0].shape):
            break  # copies have one length
        below = below.src[0]
    if below.device == device:
        return value
    made = computed_on(below, device)
    there = below.copy_to_device(device) if made is None else made
    return transfer_moves(value, below, there)


def computed_on(value: UOp, device: str) -> UOp | None:
    """`value` computed on `device`; None where it reads memory."""
    if value.op is Ops.CONST:
        return UOp.const(value.dtype, value.arg, device)
    below = value.toposort(gate=lambda node: node.op in _RECOMPUTABLE)
    if any(node.op not in _RECOMPUTABLE for node in below):
        return None
    place = UOp(Ops.DEVICE, arg=device)
    moved = value.substitute({node: place for node in below if node.op is Ops.DEVICE})
    if moved.device == device:
        return moved
    placeless = {n: UOp.const(n.dtype, n.arg, device) for n in below if n.op is Ops.CONST}
    return value.substitute(placeless)


def concatenated(pieces: Sequence[tuple[int, UOp]], axis: int, extent: int) -> UOp:
    """(start, value) pieces that fill an axis of `extent`, as one value on their device."""
    start, result = pieces[0]
    result = _padded_to(result, axis, start, extent)
    for start, piece in pieces[1:]:
        inside = constant(dtypes.bool, True, piece.shape, piece.device)
        there = _padded_to(inside, axis, start, extent)
        result = there.alu(Ops.WHERE, _padded_to(piece, axis, start, extent), result)
    return result


def _padded_to(value: UOp, axis: int, start: int, extent: int) -> UOp:
    """`value` padded to `extent` along an axis."""
    own = value.shape[axis]
    if own == extent:
        return value
    padding = [(0, 0)] * len(value.shape)
    padding[axis] = (start, extent - start - own)
    return value.pad(tuple(padding))


def part_of(spread: Sharded, shape: tuple[Any, ...], device: str, shard: Shard, place: int) -> UOp:
    """Part `place` of `shard` of a value of `shape` with the layout of `spread`, on `device`."""
    if spread.shard.mesh or shard.mesh:
        return local_part(_joined(spread, spread.shard.cuts, device), shard, place)
    own, wanted = spread.shard, shard.axis
    low, high = shard.window(place)
    if wanted is not None and low == high:
        return empty(spread.parts[0].dtype, shard.local_shape(shape, place), device)
    if own.axis is None:
        nearest = spread.devices.index(device) if device in spread.devices else 0
        return copied(sliced(spread.parts[nearest], wanted, low, high), device)
    if own.axis != wanted:
        origin, extent = 0, own.bounds[-1]
    else:
        origin, extent = low, high - low
    pieces: list[tuple[int, UOp]] = []
    for part, start, stop in zip(spread.parts, own.bounds, own.bounds[1:]):
        if own.axis == wanted:
            first, last = max(start, low), min(stop, high)
            piece = (first, last, first - start, last - start)
        else:
            first, last = start, stop
            piece = (first, last, low, high)
        if first < last:
            held = sliced(part, wanted, *piece[2:])
            pieces.append((first - origin, copied(held, device)))
    if not pieces:
        return empty(spread.parts[0].dtype, shard.local_shape(shape, place), device)
    return concatenated(pieces, own.axis, extent)


def _joined(spread: Sharded, cuts: Sequence[Cut], device: str, place: int = 0) -> UOp:
    """The value that the parts of these cuts make, from device number `place` on, on `device`."""
    if not cuts:
        held = device in spread.devices and spread.shard.axis is None
        return copied(spread.parts[spread.devices.index(device) if held else place], device)
    cut, *rest = cuts
    pieces = [
        (start, _joined(spread, rest, device, place + number * cut.stride))
        for number, (start, stop) in enumerate(pairwise(cut.bounds))
        if start < stop
    ]
    return concatenated(pieces, cut.axis, cut.bounds[-1]) if pieces else spread.parts[place]


def resharded(
    spread: Sharded, shape: tuple[Any, ...], devices: tuple[str, ...], shard: Shard
) -> Sharded:
    """The same value of `shape` on `devices` with the layout `shard`."""
    if (spread.devices, spread.shard) == (devices, shard):
        return spread
    parts = [part_of(spread, shape, device, shard, i) for i, device in enumerate(devices)]
    return Sharded(tuple(parts), devices, shard)


def gathered(spread: Sharded, shape: tuple[Any, ...], device: str) -> UOp:
    """The whole value on one device."""
    return part_of(spread, shape, device, EVERYWHERE, 0)
