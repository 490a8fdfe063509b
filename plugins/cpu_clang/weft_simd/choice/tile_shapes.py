"""Tile shapes: enumerate register tiles and estimate the memory costs of one.

Lanes with a stride are stored one by one, each into its own cache line. A tile that also covers the
neighbours of an element fills these lines. This matters for short sums, and for lanes whose lines
conflict in one cache set.

A strip of an operand that is longer than the first-level cache is fetched again for each tile. A
tile of few rows and many vectors then waits for the second-level cache.

Source: Lam, Rothberg & Wolf, "The cache performance and optimizations of blocked algorithms"
(ASPLOS 1991), for cache conflicts of tiles; Stengel, Treibig, Hager & Wellein, "Quantifying
performance bottlenecks of stencil computations using the execution-cache-memory model" (ICS 2015),
for transfers that do not overlap.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence

from weft.plugin import MachineModel
from weft_simd import thresholds


def tilings(choices: Sequence[Sequence[int]], most: int) -> Iterator[tuple[int, ...]]:
    """One factor of each of `choices`, in order, whose product is `most` at most."""
    if not choices:
        yield ()
        return
    for factor in choices[0]:
        if factor <= most:
            for rest in tilings(choices[1:], most // factor):
                yield (factor, *rest)


def by_instances(factors: Sequence[int]) -> list[int]:
    """The places of these factors, the one that varies fastest first: the smallest.

    Operands of the fast loops are held in registers while those of the slow ones pass by.
    """
    return sorted(range(len(factors)), key=factors.__getitem__)


def operand_registers(operands: Iterable[Collection[int]], factors: Sequence[int]) -> int:
    """Registers for the operands of a tile whose instances follow one another `by_instances`.

    operands: for each one the places of the factors along which it has several vectors. A vector
    lives until the slowest loop that reads it again has passed it.
    """
    order = by_instances(factors)
    count = 0
    for of in operands:
        again = [at for at, place in enumerate(order) if factors[place] > 1 and place not in of]
        slowest = max(again, default=0)
        count += math.prod(factors[place] for place in order[:slowest] if place in of)
    return count


def strip_bytes(
    strips: Sequence[tuple[int, Sequence[int]]], terms: int, factors: Sequence[int], near: int
) -> int:
    """The bytes of vectors that each iteration of a product of `terms` terms fetches from beyond
    the L1 cache: those of a long strip, which the next tile reads again.

    strips: the bytes of a vector, and the places among `factors` of those it is multiplied by.
    near: bytes of the L1 cache.
    """
    count = 0
    for each, of in strips:
        for place in of:
            each *= factors[place]
        count += each if terms * each > near else 0
    return count


def fetched_cost(cost: float, nbytes: int, work: int, machine: MachineModel) -> float:
    """Cycles per multiply-add of a tile whose vectors come from the second-level cache.

    cost: the cycles without that; nbytes: bytes from that cache in each iteration; work: the
    multiply-adds of an iteration. Few of them do not hide that latency. Most of the shorter of both
    overlaps the longer.
    """
    cost += thresholds.WAITING * max(0.0, thresholds.HIDING * machine.registers / work - 1.0)
    fetched = thresholds.fetched_byte_cycles(machine) * nbytes / work
    return max(cost, fetched) + thresholds.OVERLAPPED * min(cost, fetched)


def streamed_cost(
    streamed: Sequence[tuple[int, Sequence[int]]], factors: Sequence[int], machine: MachineModel
) -> float:
    """Cycles per multiply-add to fetch elements of an operand from the last-level cache, once for
    each strip of vectors. They are added to those of arithmetic: transfers between caches overlap
    little with the loads of a tile.

    streamed: the bytes of an element, and the places among `factors` of the tile's elements.
    """
    work = math.prod(factors)
    nbytes = sum(each * math.prod(factors[place] for place in of) for each, of in streamed)
    return nbytes / work / machine.last_level_bytes_per_cycle


def scattered_cost(
    itemsize: int, apart: int, lanes: int, parts: Sequence[tuple[int, int]], machine: MachineModel
) -> float:
    """Cycles of a scattered store of one vector whose lanes are `apart` elements from each other.

    parts: (step, factor) of every loop in the tile, in elements.
    """
    if apart in (0, 1):
        return 0.0
    line = machine.load_latency
    if apart * itemsize % thresholds.conflict_bytes(machine) == 0:
        line = thresholds.evicted_line_cycles(machine)
    run = 1
    for step, factor in sorted(parts):
        if step == run:
            run *= factor
    return lanes * (1.0 + line / run)
