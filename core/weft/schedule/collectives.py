"""Collectives: exchange the parts of a sharded value by COLLECTIVE nodes.
Also: all-reduce, reduce-scatter, all-gather, all-to-all.

Devices of one collective group have these operations (`weft_collective`). On other devices the
same exchanges are copies and reductions: see `allreduce` and `multi_parts`.

A collective reads and writes flat memory. Parts along the first axis are adjacent there; parts
along another axis are moved to the front first.

in:  one value per device
out: one value per device, of COLLECTIVE nodes and movement

Source: Message Passing Interface Forum, "MPI: A Message-Passing Interface Standard, Version 4.1",
2023, chapter 6; Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs",
2021 (resharding).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from weft.base.sequences import prod
from weft.schedule.multi_parts import EVERYWHERE, Sharded, concatenated, sliced
from weft.uop import AGAIN, Collective, CollectiveKind, Ops, Shard, UOp


def applies(parts: Sequence[UOp]) -> bool:
    """Whether a collective can exchange these values: their sizes are known and not zero."""
    return len(parts) > 1 and all(
        isinstance(size, int) and size > 0 for part in parts for size in part.shape
    )


def all_reduced(op: Ops, parts: Sequence[UOp], devices: tuple[str, ...]) -> tuple[UOp, ...]:
    """`parts`, one on each device and of one shape, reduced by `op`, on every device."""
    shape = parts[0].shape
    exchange = Collective(CollectiveKind.ALLREDUCE, len(parts), (prod(shape),), op)
    return tuple(part.reshape(shape) for part in _results(exchange, parts, devices))


def reduce_scattered(
    op: Ops, parts: Sequence[UOp], devices: tuple[str, ...], shard: Shard
) -> tuple[UOp, ...]:
    """`parts` reduced by `op`, of which each device gets what `shard`, a cut, gives it."""
    shape, axis = parts[0].shape, shard.axis
    assert axis is not None
    rest = prod(shape) // shape[axis]
    counts = tuple((stop - start) * rest for start, stop in pairwise(shard.bounds))
    exchange = Collective(CollectiveKind.REDUCE_SCATTER, len(parts), counts, op)
    fronted = [_axis_first(part, axis) for part in parts]
    found = _results(exchange, fronted, devices)
    return tuple(
        _axis_back(part, shard.local_shape(shape, place), axis) for place, part in enumerate(found)
    )


def all_gathered(spread: Sharded, shape: tuple[Any, ...]) -> Sharded:
    """The whole value of `shape` on every device of a cut one."""
    axis = spread.shard.axis
    assert axis is not None
    counts = tuple(prod(part.shape) for part in spread.parts)
    again = all(part.op is Ops.CONTIGUOUS and part.arg == AGAIN for part in spread.parts)
    exchange = Collective(CollectiveKind.ALLGATHER, len(counts), counts, again=again)
    given = [part.src[0] for part in spread.parts] if again else spread.parts
    fronted = [_axis_first(part, axis) for part in given]
    found = _results(exchange, fronted, spread.devices)
    return Sharded(tuple(_axis_back(whole, shape, axis) for whole in found), spread.devices)


def all_to_all(spread: Sharded, shape: tuple[Any, ...], shard: Shard) -> Sharded:
    """A value that is cut along one axis, cut along another one.

    Each device sends the parts of its own part to their devices, and joins what it receives.
    """
    own, devices = spread.shard, spread.devices
    assert own.axis is not None and shard.axis is not None
    pieces = [
        [sliced(part, shard.axis, *shard.window(place)) for place in range(len(devices))]
        for part in spread.parts
    ]
    counts = tuple(prod(piece.shape) for given in pieces for piece in given)
    exchange = Collective(CollectiveKind.ALL_TO_ALL, len(devices), counts)
    fronted = [_axis_first(part, shard.axis) for part in spread.parts]
    result: list[UOp] = []
    for place, flat in enumerate(_results(exchange, fronted, devices)):
        joined: list[tuple[int, UOp]] = []
        start = 0
        for giver, given in enumerate(pieces):
            local = given[place].shape
            piece = sliced(flat, 0, start, start + prod(local))
            joined.append((own.bounds[giver], _axis_back(piece, local, shard.axis)))
            start += prod(local)
        result.append(concatenated(joined, own.axis, shape[own.axis]))
    return Sharded(tuple(result), devices, shard)


def resharded_by_collective(
    spread: Sharded, shape: tuple[Any, ...], shard: Shard
) -> Sharded | None:
    """A cut value with another layout on the same devices; None where copies are to do it."""
    own = spread.shard
    if own.axis is None or not applies(spread.parts):
        return None
    if shard == EVERYWHERE:
        return all_gathered(spread, shape)
    if shard.axis == own.axis or any(a == b for a, b in pairwise(shard.bounds)):
        return None
    return all_to_all(spread, shape, shard)


def _results(
    exchange: Collective, parts: Sequence[UOp], devices: tuple[str, ...]
) -> tuple[UOp, ...]:
    """The flat result on each device."""
    # stored in its own shape: a kernel with flat loops would divide to find its indices
    flat = tuple(part.contiguous().reshape((prod(part.shape),)) for part in parts)
    return tuple(
        UOp(
            Ops.COLLECTIVE,
            flat[0].dtype,
            (*flat, UOp(Ops.DEVICE, arg=device)),
            replace(exchange, place=place),
        )
        for place, device in enumerate(devices)
    )


def _axis_first(part: UOp, axis: int) -> UOp:
    """A value with `axis` moved to the front: cuts of it are adjacent in memory then."""
    if all(size == 1 for size in part.shape[:axis]):
        return part
    others = tuple(i for i in range(len(part.shape)) if i != axis)
    return part.permute((axis, *others))


def _axis_back(flat: UOp, shape: tuple[Any, ...], axis: int) -> UOp:
    """The value of `shape` whose flat memory has `axis` at the front."""
    if all(size == 1 for size in shape[:axis]):
        return flat.reshape(shape)
    moved = (shape[axis], *shape[:axis], *shape[axis + 1 :])
    order = (*range(1, axis + 1), 0, *range(axis + 1, len(shape)))
    return flat.reshape(moved).permute(order)
