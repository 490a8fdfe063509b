"""Gaussian elimination by kernels, with the largest pivot of each column.

For devices whose memory the host cannot access: n steps of two small kernels, and two products for
every 16 of them.

Source: G. H. Golub and C. F. Van Loan, "Matrix Computations", sections 3.2.11 and 3.4.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes

_PANEL = 16
"""Columns that are eliminated before the others take part in it."""


def solve_by_elimination(a: Any, right: Any) -> Any:
    """x with a @ x = right, whose batches are equal; infinities or NaN for singular matrices."""
    upper, rest, _ = _eliminated(a.cat(right, dim=-1), a.shape[-1])
    return _back_substituted(upper, rest).transpose(-1, -2)


def pivots_by_elimination(a: Any) -> tuple[Any, Any]:
    """(the pivots of each matrix, the sign of the permutation of its rows)."""
    upper, _, order = _eliminated(a, a.shape[-1])
    return upper._diagonals(), _sign(order).cast(a.dtype)


def _eliminated(a: Any, size: int) -> tuple[Any, Any, Any]:
    """(upper, rest, order) of matrices with `size` rows, after the elimination of their first
    `size` columns with the largest pivot of each.

    upper (..., size, size): the columns of the upper triangle, as rows. rest (..., others, size):
    what became of the other columns, as rows too. order (..., 1, size): the rows in the order in
    which they were pivots, which is the order of both.

    Columns are eliminated in panels (Golub and Van Loan, 3.2.11). Rows are not exchanged: a row
    that was a pivot takes no further part. An eliminated column of the panel is replaced by the
    row operations of its step, as a column of G. All steps of a panel change another column c to
    c + G @ c[pivots], so that the other columns are updated by one matrix product. The panel is
    rotated by one column in each step, so that all steps of all panels use the same kernels.
    """
    columns = a.transpose(-1, -2)
    batch, others = a.shape[:-2], columns[..., size:, :].contiguous()
    place = a.__class__.arange(size, device=a.device)
    free = a.__class__.ones(*batch, 1, size, dtype=dtypes.bool, device=a.device).contiguous()
    rest, upper, order = columns[..., :size, :].contiguous(), [], []
    for start in range(0, size, _PANEL):
        width = min(_PANEL, size - start)
        panel, left = rest[..., :width, :].contiguous(), rest[..., width:, :]
        heads, taken = [], []
        for _ in range(width):
            head = panel[..., :1, :]
            best = free.where(head.detach().abs(), -1.0).argmax(-1, keepdim=True).contiguous()
            row = panel.gather(-1, best._expanded((*batch, width, 1))).contiguous()
            pivot, is_best = row[..., :1, :], place == best
            some = pivot != 0
            factor = (free & ~is_best & some).where(head / some.where(pivot, 1.0), 0.0)
            heads.append(head)
            taken.append(best)
            free = (free & ~is_best).contiguous()
            panel = (panel[..., 1:, :] - factor * row[..., 1:, :]).cat(-factor, dim=-2).contiguous()
        upper.append(_joined(heads, -2))
        pivots = _joined(taken, -1)
        order.append(pivots)
        rest = _taken(left, pivots, panel)
        others = _taken(others, pivots, panel)
    places = _joined(order, -1)
    return _ordered(_joined(upper, -2), places), _ordered(others, places), places


def _joined(parts: list[Any], axis: int) -> Any:
    first, *others = parts
    return (first.cat(*others, dim=axis) if others else first).contiguous()


def _ordered(rows: Any, places: Any) -> Any:
    """rows (..., m, n) with their elements in the order of places (..., 1, k)."""
    return rows.gather(-1, places._expanded((*rows.shape[:-1], places.shape[-1]))).contiguous()


def _taken(rows: Any, pivots: Any, steps: Any) -> Any:
    """What the steps of a panel, (..., width, n), make of other columns, (..., m, n)."""
    if rows.shape[-2] == 0:
        return rows
    return (rows + _ordered(rows, pivots) @ steps).contiguous()


def _sign(order: Any) -> Any:
    """The sign of the permutation `order` (..., 1, n): 1 or -1."""
    size = order.shape[-1]
    place = order.__class__.arange(size, device=order.device)
    inversions = (order > order.transpose(-1, -2)) & (place < place.reshape(size, 1))
    return 1 - inversions.sum((-1, -2), dtype=dtypes.int32) % 2 * 2


def _back_substituted(upper: Any, right: Any) -> Any:
    """x with U @ x = r: upper (..., n, n) has the columns of U as rows, right (..., k, n) those of
    r; the result those of x. From the last panel to the first, and in each from the last row."""
    size = upper.shape[-1]
    solved: Any = None
    for start in reversed(range(0, size, _PANEL)):
        stop = min(start + _PANEL, size)
        part = right[..., start:stop]
        if solved is not None:
            part = part - solved @ upper[..., stop:, start:stop]
        triangle = upper[..., start:stop, start:stop].contiguous()
        part = _solved_in_panel(triangle, part.contiguous())
        solved = part if solved is None else part.cat(solved, dim=-1).contiguous()
    return solved


def _solved_in_panel(triangle: Any, part: Any) -> Any:
    width = triangle.shape[-1]
    place = part.__class__.arange(width, device=part.device)
    for k in reversed(range(width)):
        column = triangle[..., k : k + 1, :]
        x = part[..., k : k + 1] / column[..., k : k + 1]
        part = (place == k).where(x, (place < k).where(part - x * column, part)).contiguous()
    return part
