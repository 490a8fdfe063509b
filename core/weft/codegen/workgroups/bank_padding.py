"""Bank padding: pad the rows of shared arrays so that the lanes of a warp use different banks.
Also: bank conflict avoidance.

Shared memory consists of banks, each of which serves one word in a cycle. Accesses to different
words of one bank are serialized. If lanes copy contiguous memory to addresses that are one row
apart, they conflict in few banks. A few padding elements between the rows prevent this.

The pass counts the bank conflicts of all writes and reads for each possible position and size of
the padding. It takes the cheapest layout. The number and width of banks are in the machine model.

Source: NVIDIA, "CUDA C++ Best Practices Guide", shared memory and memory banks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from weft.device.machine import MachineModel


class Banks(NamedTuple):
    """Shared memory: how many banks, bytes of the word of each, lanes that access it together."""

    number: int
    word: int
    lanes: int


def banks_of(machine: MachineModel) -> Banks:
    """The shared memory of a machine; if its warps are unknown, there is one bank for each lane."""
    return Banks(machine.banks, machine.bank_bytes, machine.warp_size or machine.banks)


class Access(NamedTuple):
    """One access of all lanes of a warp.

    lanes: (axis, extent, step) for each digit of a lane's number, the fastest first: it moves
    `axis` by `step` in each of `extent` iterations. nbytes: of each lane; times: how often.
    """

    lanes: tuple[tuple[int, int, int], ...]
    nbytes: int
    times: int


@lru_cache(maxsize=4096)
def strides_of(
    extents: tuple[int, ...], itemsize: int, unit: int, accesses: tuple[Access, ...], banks: Banks
) -> tuple[tuple[int, ...], int]:
    """Strides of an array's axes (outermost first), and its size, with the cheapest padding.

    unit: elements that the padding is a multiple of, since they are accessed together.
    """
    layouts = _layouts(extents, unit)
    return min(layouts, key=lambda layout: (_cost(layout[0], itemsize, accesses, banks), layout[1]))


def _layouts(extents: Sequence[int], unit: int) -> Iterator[tuple[tuple[int, ...], int]]:
    yield _padded(extents, 0, 0)
    for axis in range(1, len(extents)):
        for padding in (unit, 2 * unit):
            strides, size = _padded(extents, axis, padding)
            if strides[axis - 1] % unit == 0 and strides[axis - 1] > unit:
                yield strides, size


def _padded(extents: Sequence[int], axis: int, padding: int) -> tuple[tuple[int, ...], int]:
    """Strides and size with padding after each row of the axes from `axis` on."""
    strides, size = [0] * len(extents), 1
    for place in range(len(extents) - 1, -1, -1):
        strides[place] = size
        size *= extents[place]
        if place == axis:
            size += padding
    return tuple(strides), size


def _cost(strides: Sequence[int], itemsize: int, accesses: Sequence[Access], banks: Banks) -> int:
    return sum(access.times * cycles(strides, itemsize, access, banks) for access in accesses)


def cycles(strides: Sequence[int], itemsize: int, access: Access, banks: Banks) -> int:
    """Cycles that the banks need for one access of a warp."""
    addresses: list[int] = []
    for lane in range(banks.lanes):
        element = 0
        for axis, extent, step in access.lanes:
            element += lane % extent * step * strides[axis]
            lane //= extent
        addresses.append(element * itemsize)
    together = max(1, min(banks.lanes, banks.number * banks.word // access.nbytes))
    total = 0
    for first in range(0, banks.lanes, together):
        words: dict[int, set[int]] = {}
        for address in addresses[first : first + together]:
            for word in range(
                address // banks.word, (address + access.nbytes - 1) // banks.word + 1
            ):
                words.setdefault(word % banks.number, set()).add(word)
        total += max(map(len, words.values()))
    return total
