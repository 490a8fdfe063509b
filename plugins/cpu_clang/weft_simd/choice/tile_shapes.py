"""Tile shapes: enumerate register tiles and estimate the memory costs of one.

Lanes with a stride are stored one by one, each into its own cache line. A tile that also covers the
neighbours of an element fills these lines. This matters for short sums, and for lanes whose lines
conflict in one cache set.

A strip of an operand that is longer than the first-level cache is fetched again for each tile. A
tile of few rows and many vectors then waits for the second-level cache.

Source: Lam, Rothberg & Wolf, "The cache performance and optimizations of blocked algorithms"
(ASPLOS 1991), for cache conflicts of tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

SAME_SET = 2048  # bytes apart at which lines get in each other's way in a first-level cache
NEAREST = 1 << 15  # bytes that a first-level cache holds
_FETCHED = 0.025  # cycles for a byte of a vector from the second-level cache
_MANY, _WAITING = 3 / 8, 0.15  # of all registers hide that as sums, and what half as many wait
_LINE = 8.0  # cycles for a line that is not in the first-level cache yet
_LINE_AGAIN = 30.0  # and for one that was thrown out of it before all of it was stored


def tilings(choices: Sequence[Sequence[int]], most: int) -> Iterator[tuple[int, ...]]:
    """One factor of each of `choices`, in order, whose product is `most` at most."""
    if not choices:
        yield ()
        return
    for factor in choices[0]:
        if factor <= most:
            for rest in tilings(choices[1:], most // factor):
                yield (factor, *rest)


def strip_bytes(
    strips: Sequence[tuple[int, Sequence[int]]], terms: int, factors: Sequence[int]
) -> int:
    """How many bytes of vectors each turn of a product of `terms` turns fetches from further than
    the nearest cache: those of a long strip, which the next tile reads again.

    strips: the bytes of a vector, and the places among `factors` of those it is multiplied by.
    """
    count = 0
    for each, of in strips:
        for place in of:
            each *= factors[place]
        count += each if terms * each > NEAREST else 0
    return count


def fetched_cost(cost: float, nbytes: int, work: int, registers: int) -> float:
    """Cycles per multiply-add of a tile whose vectors come from the second-level cache.

    cost: what it takes without that; nbytes: what comes from there each turn; work: multiply-adds
    of a turn. Few of them wait for what is fetched as they wait for each other. Among tiles
    that wait for that cache alone the better one by `cost` is better.
    """
    cost += _WAITING * max(0.0, _MANY * registers / work - 1.0)
    fetched = _FETCHED * nbytes / work
    return cost if fetched <= cost else fetched + 0.1 * cost


def scattered_cost(
    itemsize: int, apart: int, lanes: int, parts: Sequence[tuple[int, int]]
) -> float:
    """Cycles of putting down one vector whose lanes lie `apart` elements from each other.

    parts: (step, factor) of every loop in the tile, in elements.
    """
    if apart in (0, 1):
        return 0.0
    line = _LINE if apart * itemsize % SAME_SET else _LINE_AGAIN
    run = 1
    for step, factor in sorted(parts):
        if step == run:
            run *= factor
    return lanes * (1.0 + line / run)
