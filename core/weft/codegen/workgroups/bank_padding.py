"""Bank padding: pad the rows of shared arrays so that the lanes of a warp use different banks.
Also: bank conflict avoidance.

Shared memory has one bank for each lane of a warp, each one word wide. Accesses to different words
of one bank are serialized. If lanes copy contiguous memory to addresses that are one row apart,
they conflict in few banks. A few padding elements between the rows prevent this.

The pass counts the bank conflicts of all writes and reads for each possible position and size of
the padding. It takes the cheapest layout.

Source: NVIDIA, "CUDA C++ Best Practices Guide", shared memory and memory banks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

BANKS = 32
WORD = 4  # bytes of a bank
AT_ONCE = BANKS * WORD


class Access(NamedTuple):
    """One access of all lanes of a warp.

    lanes: (axis, part, step) for each digit of a lane's number, the fastest first: it moves `axis`
    by `step` per turn, of which there are `part`. nbytes: of each lane; times: how often.
    """

    lanes: tuple[tuple[int, int, int], ...]
    nbytes: int
    times: int


@lru_cache(maxsize=4096)
def strides_of(
    extents: tuple[int, ...], itemsize: int, unit: int, accesses: tuple[Access, ...]
) -> tuple[tuple[int, ...], int]:
    """Strides of an array's axes (outermost first), and its size, with the gap that costs least.

    unit: elements that a gap is a multiple of, since they are accessed together.
    """
    layouts = _layouts(extents, unit)
    return min(layouts, key=lambda layout: (_cost(layout[0], itemsize, accesses), layout[1]))


def _layouts(extents: Sequence[int], unit: int) -> Iterator[tuple[tuple[int, ...], int]]:
    yield _with_gap(extents, 0, 0)
    for axis in range(1, len(extents)):
        for gap in (unit, 2 * unit):
            strides, size = _with_gap(extents, axis, gap)
            if strides[axis - 1] % unit == 0 and strides[axis - 1] > unit:
                yield strides, size


def _with_gap(extents: Sequence[int], axis: int, gap: int) -> tuple[tuple[int, ...], int]:
    """The gap is behind each row of what lies from `axis` on."""
    strides, size = [0] * len(extents), 1
    for place in range(len(extents) - 1, -1, -1):
        strides[place] = size
        size *= extents[place]
        if place == axis:
            size += gap
    return tuple(strides), size


def _cost(strides: Sequence[int], itemsize: int, accesses: Sequence[Access]) -> int:
    return sum(access.times * waits(strides, itemsize, access) for access in accesses)


def waits(strides: Sequence[int], itemsize: int, access: Access) -> int:
    """How many turns the banks need for one access of a warp."""
    places: list[int] = []
    for lane in range(BANKS):
        at = 0
        for axis, part, step in access.lanes:
            at += lane % part * step * strides[axis]
            lane //= part
        places.append(at * itemsize)
    together = max(1, min(BANKS, AT_ONCE // access.nbytes))
    total = 0
    for first in range(0, BANKS, together):
        banks: dict[int, set[int]] = {}
        for at in places[first : first + together]:
            for word in range(at // WORD, (at + access.nbytes - 1) // WORD + 1):
                banks.setdefault(word % BANKS, set()).add(word)
        total += max(map(len, banks.values()))
    return total
