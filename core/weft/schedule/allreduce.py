"""All-reduce: combine one value per device and give every device the same result.
Also: ring all-reduce.

The naive algorithm sends every value to every device. It takes the fewest steps and serves small
values. The ring algorithm is a reduce-scatter and an all-gather over as many chunks as there are
devices. Each of n devices sends 2 (n - 1) / n of the value, so it serves large ones.

Both consist of COPY and ALU nodes alone. Both give every device the same bits: the naive algorithm
uses one order of operations everywhere, the ring computes each chunk once.

in:  one single-device value of one shape on each device
out: the same, all of them reduced

Source: Patarasu and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations",
Journal of Parallel and Distributed Computing 69, 2009.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import itemgetter

from weft.base.sequences import prod
from weft.base.settings import settings
from weft.schedule.multi_parts import EVERYWHERE, concatenated, copied, sliced
from weft.uop import Ops, Shard, UOp, even_bounds


def all_reduce(op: Ops, parts: tuple[UOp, ...], devices: tuple[str, ...]) -> tuple[UOp, ...]:
    """`parts`, one on each of `devices`, reduced by `op` (ADD, MUL or MAX), on each of them."""
    if len(parts) == 1:
        return parts
    if uses_ring(parts[0], len(devices)):
        return _ring_all_reduce(op, parts, devices)
    return reduce_scatter(op, parts, devices, EVERYWHERE)


def uses_ring(part: UOp, devices: int) -> bool:
    """Whether a value is reduced in a ring: the setting RING, or its size."""
    size = prod(part.shape)
    if not isinstance(size, int) or size < devices or settings.RING == 0:
        return False
    # between two, a ring sends as many bytes as the plain way, in more steps
    return settings.RING == 2 or (devices > 2 and size > settings.RING_ALLREDUCE_THRESHOLD)


def reduce_scatter(
    op: Ops, parts: tuple[UOp, ...], devices: tuple[str, ...], shard: Shard
) -> tuple[UOp, ...]:
    """`parts`, one on each of `devices`, reduced, of which each device gets what `shard` gives it.

    Every device reduces its part of all values, in the order of the devices. For a result that is
    cut this sends half of what an all-reduce sends.
    """
    held = [_materialized(part) for part in parts]
    result: list[UOp] = []
    for place, device in enumerate(devices):
        there = [copied(sliced(part, shard.axis, *shard.window(place)), device) for part in held]
        result.append(reduce(lambda total, part: total.alu(op, part), there))
    return tuple(result)


def _ring_all_reduce(op: Ops, parts: tuple[UOp, ...], devices: tuple[str, ...]) -> tuple[UOp, ...]:
    """Chunk c starts at device c, is summed up on its way around the ring, then goes around
    again."""
    count, shape = len(devices), parts[0].shape
    size = prod(shape)
    flat = [_materialized(part).reshape((size,)) for part in parts]
    chunks: list[list[tuple[int, UOp]]] = [[] for _ in devices]
    for number, (start, stop) in enumerate(pairwise(even_bounds(size, count))):
        travelling = sliced(flat[number], 0, start, stop)
        for step in range(1, count):
            place = (number + step) % count
            arrived = copied(travelling, devices[place])
            travelling = arrived.alu(op, sliced(flat[place], 0, start, stop))
        for step in range(count):
            place = (number + count - 1 + step) % count
            travelling = copied(travelling, devices[place])
            chunks[place].append((start, travelling))
    return tuple(
        concatenated(sorted(found, key=itemgetter(0)), 0, size).reshape(shape) for found in chunks
    )


def _materialized(part: UOp) -> UOp:
    """A partial result in memory: its own device reads it, and it is copied to others."""
    return part if part.base.op in (Ops.BUFFER, Ops.CONST) else part.contiguous()
