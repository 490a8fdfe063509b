"""Row dependence: decide whether a row of a reader depends on the same row of its source alone.

A value of n elements has P rows for every P that divides n: row r is the elements from r * n / P
on. A read is *row-local* for P where every row of the reader reads within the same row of the
source. A kernel all of whose reads are row-local can compute row by row, and values that have no
other reader need no global memory.

The analysis is over integers; symbolic shapes have no rows.

Source: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, chapter 2
(loop-independent dependences).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from weft.base.sequences import prod
from weft.shape import ShapeTracker

Rows = frozenset[int]
# the numbers of rows that a read allows; None: all of them
Allowed = Rows | None


def both(a: Allowed, b: Allowed) -> Allowed:
    """The numbers of rows that two reads allow together."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def rows_of_shape(shape: tuple[object, ...]) -> Rows:
    """The numbers of rows that are products of leading axes; none for a symbolic shape."""
    found, count = {1}, 1
    for extent in shape:
        if not isinstance(extent, int) or extent == 0:
            return frozenset()
        count *= extent
        found.add(count)
    return frozenset(found)


@lru_cache(4096)
def rows_of_view(st: ShapeTracker, size: object) -> Allowed:
    """For which numbers of rows `st`, over something of `size` elements, is row-local."""
    if not isinstance(size, int) or size == 0:
        return frozenset()
    allowed: Allowed = None
    views = st.views
    for number, view in enumerate(views):
        below = prod(views[number - 1].shape) if number else size
        if not isinstance(below, int):
            return frozenset()
        allowed = both(allowed, _rows_of_single_view(view, below))
    return allowed


def _rows_of_single_view(view: Any, size: int) -> Allowed:
    """The numbers of rows for which one view is row-local; None for all."""
    shape, strides, offset, mask = view.shape, view.strides, view.offset, view.mask
    if not view.static or 0 in shape:
        return frozenset()
    if view.contiguous and prod(shape) == size:
        return None
    # What the axes from each on can add to the address, at least and at most. That a mask excludes
    # some of it does not help: the address would still have to be cut in row and place.
    low, high = [offset] * (len(shape) + 1), [offset] * (len(shape) + 1)
    for axis in reversed(range(len(shape))):
        ends = (0, (shape[axis] - 1) * strides[axis])
        low[axis], high[axis] = low[axis + 1] + min(ends), high[axis + 1] + max(ends)
    allowed, count = set[int](), 1
    for outer in range(len(shape) + 1):
        if outer:
            count *= shape[outer - 1]
            if mask is not None and mask[outer - 1] != (0, shape[outer - 1]):
                break
        if size % count:
            continue
        length = size // count
        if (
            low[outer] >= 0
            and high[outer] < length
            and _steps_by_rows(shape, strides, outer, length)
        ):
            allowed.add(count)
    return frozenset(allowed)


def _steps_by_rows(
    shape: tuple[int, ...], strides: tuple[int, ...], outer: int, length: int
) -> bool:
    """Whether the first `outer` axes step from row to row of `length` elements, in order."""
    step = length
    for axis in reversed(range(outer)):
        if shape[axis] != 1:
            if strides[axis] != step:
                return False
            step *= shape[axis]
    return True
