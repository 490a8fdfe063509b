"""Memory planning: reuse memory for temporary buffers with disjoint lifetimes.
Also: liveness analysis, buffer reuse, register allocation of buffers, lifetime analysis, live
ranges, arena allocation.

On devices with sub-buffers all temporaries go into one *arena*, a single allocation. The largest
is placed first, each at the lowest offset where it overlaps nothing that is live at the same time.
Elsewhere whole buffers are reused for others of their size. Memory that outlives the process is
never planned, nor is memory that a tensor holds afterwards: the caller leaves it out.

in:  which memory is needed, and when
out: `Layout`, the place of each

Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020
(greedy by size).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import NamedTuple

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import dtypes
from weft.base.intmath import round_up
from weft.device import Buffer, MemoryCaps, registry

# bytes of a cache line and of the widest vector, at whose multiples buffers start
_APART = 64
# buffers up to which each is compared with each
_MOST_IN_ARENA = 1500


class Lifetime(NamedTuple):
    """`nbytes` on `device`, in use from step `first` to step `last`, both included; named
    `number`."""

    number: int
    device: str
    nbytes: int
    first: int
    last: int


class Place(NamedTuple):
    """The place of a buffer: the number of an arena, and the first byte in it."""

    arena: int
    start: int


@dataclass(frozen=True, slots=True)
class Layout:
    """spots: by the number of a need; what has none gets memory of its own.

    arenas: (device, bytes) of each. planned: bytes of all arenas. unplanned: bytes of all buffers
    in them.
    """

    spots: dict[int, Place] = field(default_factory=dict[int, Place])
    arenas: tuple[tuple[str, int], ...] = ()
    unplanned: int = 0

    @property
    def planned(self) -> int:
        return sum(nbytes for _, nbytes in self.arenas)

    def allocate(self) -> list[Buffer]:
        """A buffer for each arena; its memory is taken when first touched."""
        return [Buffer(device, nbytes, dtypes.uint8) for device, nbytes in self.arenas]


def plan_memory(needs: Iterable[Lifetime]) -> Layout:
    """A place for all memory that can be shared, by device."""
    by_device: dict[str, list[Lifetime]] = {}
    for need in needs:
        if need.nbytes:
            by_device.setdefault(need.device, []).append(need)
    spots: dict[int, Place] = {}
    arenas: list[tuple[str, int]] = []
    unplanned = 0
    for device, wanted in by_device.items():
        caps = registry.capabilities(device).memory
        if caps.persistent or len(wanted) < 2:
            continue
        offsets, sizes = _plan_device(wanted, caps)
        for need, (arena, start) in zip(wanted, offsets):
            spots[need.number] = Place(len(arenas) + arena, start)
            unplanned += need.nbytes
        arenas.extend((device, nbytes) for nbytes in sizes)
    return Layout(spots, tuple(arenas), unplanned)


def _plan_device(
    needs: Sequence[Lifetime], caps: MemoryCaps
) -> tuple[list[tuple[int, int]], list[int]]:
    """((arena, first byte) of each lifetime, bytes of each arena) on one device."""
    if caps.alignment is not None and len(needs) <= _MOST_IN_ARENA:
        starts, size = pack_arena(needs, round_up(_APART, caps.alignment))
        if caps.max_allocation is None or size <= caps.max_allocation:
            return [(0, start) for start in starts], [size]
    numbers, sizes = reuse_buffers(needs)
    return [(number, 0) for number in numbers], sizes


def pack_arena(needs: Sequence[Lifetime], alignment: int) -> tuple[list[int], int]:
    """(first byte of each lifetime, bytes of the arena): no two overlap in both time and space."""
    starts = [0] * len(needs)
    placed: list[tuple[int, int, int, int]] = []  # first byte, byte after, first step, last step
    total = 0
    order = sorted(range(len(needs)), key=lambda i: (-needs[i].nbytes, needs[i].first))
    for index in order:
        need = needs[index]
        first, last = need.first, need.last
        start = 0
        for low, high, begin, end in placed:  # by first byte
            if begin > last or end < first:
                continue
            if start + need.nbytes <= low:
                break
            if high > start:
                start = round_up(high, alignment)
        starts[index] = start
        placed.append((start, start + need.nbytes, first, last))
        placed.sort()
        total = max(total, start + need.nbytes)
    return starts, total


def reuse_buffers(needs: Sequence[Lifetime]) -> tuple[list[int], list[int]]:
    """(number of the buffer of each lifetime, bytes of each buffer): buffers are reused for the
    same size."""
    numbers = [0] * len(needs)
    sizes: list[int] = []
    free: dict[int, list[int]] = {}
    in_use: list[tuple[int, int]] = []  # last step, buffer
    for index in sorted(range(len(needs)), key=lambda i: needs[i].first):
        need = needs[index]
        while in_use and in_use[0][0] < need.first:
            _, number = heapq.heappop(in_use)
            free.setdefault(sizes[number], []).append(number)
        if found := free.get(need.nbytes):
            number = found.pop()
        else:
            number = len(sizes)
            sizes.append(need.nbytes)
        numbers[index] = number
        heapq.heappush(in_use, (need.last, number))
    return numbers, sizes
