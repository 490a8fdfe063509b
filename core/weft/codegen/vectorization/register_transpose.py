"""Register transpose: load the rows of a matrix block and interleave them into columns.

A strided access by lanes would load each element alone, and each cache line once for each column.
Here each row is one load, and `log2 n` rounds of interleaving transpose an n x n square. A round
interleaves row k with row k + n / 2. This moves the highest bit of the row number to the lowest bit
of the lane number. If a block has fewer columns than rows, consecutive rows are concatenated first,
so that all vectors are full.

Vectors whose lanes are stored to different rows are transposed too, if they are adjacent in memory.
One store then writes the elements that several vectors hold of one row.

Source: none known; each round is a perfect shuffle, and `log2 n` of them exchange row bits for lane
bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.codegen.thresholds import SHUFFLE_BYTES
from weft.uop import Ops, UOp


class _Vector(NamedTuple):
    """A value, and of which (row, lane) its lanes are."""

    value: UOp
    held: list[tuple[int, int]]


def columns_of(rows: Sequence[UOp]) -> list[UOp]:
    """Return the columns of these rows.

    The numbers of rows and of lanes are powers of two, with at least as many rows as lanes.
    """
    count, columns = len(rows), rows[0].dtype.count
    found = _with_positions(_concatenated(rows, count // columns))
    for _ in range(_log(count)):
        found = _interleaved(found, count, 1)
    return [vector.value for vector in found]


def _concatenated(rows: Sequence[UOp], many: int) -> list[UOp]:
    """Concatenate each `many` consecutive rows to one vector."""
    if many == 1:
        return list(rows)
    wide = rows[0].dtype.scalar().vec(2 * rows[0].dtype.count)
    pairs = [UOp(Ops.CAT, wide, pair) for pair in zip(rows[::2], rows[1::2])]
    return _concatenated(pairs, many // 2)


def runs_of(rows: Sequence[UOp]) -> list[tuple[UOp, int]]:
    """Return for each lane a vector with that lane of all rows in order, and where it begins.

    :param rows: vectors of one dtype; a power of two of them, at most as many as they have lanes.
    """
    dtype, count = rows[0].dtype, len(rows)
    within = min(dtype.count, max(1, SHUFFLE_BYTES // dtype.scalar().itemsize))
    together = min(within, count)
    vectors = _with_positions(rows)
    groups: list[list[_Vector]] = []
    for first in range(0, count, together):
        group = vectors[first : first + together]
        for _ in range(_log(together)):
            group = _interleaved(group, within, 1)
        groups.append(group)
    found: dict[int, tuple[UOp, int]] = {}
    for parts in zip(*groups):
        pieces = list(parts)
        for _ in range(_log(len(groups))):
            pieces = _interleaved(pieces, dtype.count, within)
        for value, held in pieces:
            found |= {lane: (value, at) for at, (row, lane) in enumerate(held) if row == 0}
    return [found[lane] for lane in range(dtype.count)]


def _with_positions(rows: Sequence[UOp]) -> list[_Vector]:
    lanes = range(rows[0].dtype.count)
    return [_Vector(value, [(row, lane) for lane in lanes]) for row, value in enumerate(rows)]


def _log(count: int) -> int:
    return count.bit_length() - 1


def _interleaved(vectors: list[_Vector], block: int, size: int) -> list[_Vector]:
    """Interleave each vector of the first half with its partner in the second half.

    Runs of `size` lanes alternate: those of the first half of each block of lanes make one vector,
    those of the second half another.
    """
    lanes, half = vectors[0].value.dtype.count, block // 2
    halves: list[list[int]] = [[], []]
    for start in range(0, lanes, half):
        for place in range(start, start + half, size):
            run = range(place, place + size)
            halves[start // half % 2] += [*run, *(lanes + lane for lane in run)]
    found: list[_Vector] = []
    for low, high in zip(vectors[: len(vectors) // 2], vectors[len(vectors) // 2 :]):
        both = UOp(Ops.CAT, low.value.dtype.scalar().vec(2 * lanes), (low.value, high.value))
        held = low.held + high.held
        found += [_Vector(both.gep(tuple(order)), [held[i] for i in order]) for order in halves]
    return found
