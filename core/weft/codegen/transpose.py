"""A square of a matrix that is turned in registers: rows are read, columns come out.

Lanes that lie a row apart would be read one by one, each line of memory as many times as columns of
it are needed. Here each row is one load, and `log2 n` rounds of interleaving exchange the rows of
an n x n square for its columns: a round interleaves row k with row k + n / 2, which moves the
highest bit of an element's row to be the lowest of its place in the row.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.uop.node import UOp
from weft.uop.ops import Ops


def columns_of(rows: Sequence[UOp]) -> list[UOp]:
    """The columns of a square of rows: as many vectors of as many lanes, a power of two."""
    count = len(rows)
    found = list(rows)
    for _ in range(count.bit_length() - 1):
        pairs = zip(found[: count // 2], found[count // 2 :])
        found = [part for low, high in pairs for part in _interleaved(low, high)]
    return found


def _interleaved(low: UOp, high: UOp) -> tuple[UOp, UOp]:
    """The lanes of two vectors in turns: the first half of both, and the second."""
    lanes = low.dtype.count
    both = UOp(Ops.CAT, low.dtype.scalar().vec(2 * lanes), (low, high))
    order = [place for lane in range(lanes) for place in (lane, lane + lanes)]
    return both.gep(tuple(order[:lanes])), both.gep(tuple(order[lanes:]))
