"""Linear equations: solve, inv, det, by elimination with the largest pivot of each column."""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.tensor.ops.linear_algebra.factorizations import as_matrices
from weft.tensor.protocol import TensorT
from weft.tensor.return_types import SlogdetResult

_PANEL = 16
"""Columns that are eliminated before the others take part in it."""


def solve(self: TensorT, other: TensorT) -> TensorT:
    """x with self @ x = other.

    self (..., n, n); other (..., n, k), or (n,) for one right side of all. Gaussian elimination
    with partial pivoting (Golub and Van Loan, 3.4), in n steps of two small kernels, and two
    products for every 16 of them. Singular matrices give infinities or NaN.
    :raises ShapeError: where the shapes do not fit.

    >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).solve(Tensor([[2.0], [2.0]])).tolist()
    [[1.0], [0.5]]
    """
    a = as_matrices(self, "solve", square=True)
    other = self._as_tensor(other, self)
    vector = len(other.shape) == 1
    right: Any = other.reshape(-1, 1) if vector else other
    size = a.shape[-1]
    if len(right.shape) < 2 or right.shape[-2] != size:
        raise ShapeError(
            "the right side does not fit the matrix",
            asked=f"solve {self.shape} with {other.shape}",
            because=f"it needs {size} rows",
            try_=f"give a right side of shape ({size},) or (..., {size}, k); "
            "of a vector for each matrix other.unsqueeze(-1)",
        )
    batch = _broadcast(a.shape[:-2], right.shape[:-2])
    right = right.cast(a.dtype)._expanded((*batch, size, right.shape[-1]))
    a = a._expanded((*batch, size, size))
    if 0 in right.shape:
        return right.squeeze(-1) if vector else right
    upper, rest, _ = _eliminated(a.cat(right, dim=-1), size)
    solved = _back_substituted(upper, rest).transpose(-1, -2)
    return solved.squeeze(-1) if vector else solved


def inv(self: TensorT) -> TensorT:
    """The inverse of every matrix, (..., n, n). See `solve`.

    >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).inv().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    a = as_matrices(self, "inv", square=True)
    return a.solve(self.__class__.eye(a.shape[-1], dtype=a.dtype, device=a.device))


def det(self: TensorT) -> TensorT:
    """The determinant of every matrix: (..., n, n) to (...). See `solve`.

    >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).det().item()
    -2.0
    """
    a = as_matrices(self, "det", square=True)
    size = a.shape[-1]
    if size == 0:
        return self.__class__.ones(*a.shape[:-2], dtype=a.dtype, device=a.device)
    upper, _, order = _eliminated(a, size)
    return upper._diagonals().prod(-1) * _sign(order).cast(a.dtype)


def slogdet(self: TensorT) -> SlogdetResult[TensorT]:
    """The sign of the determinant, and the logarithm of its size, which does not overflow.

    >>> [x.item() for x in Tensor([[0.0, 2.0], [3.0, 0.0]]).slogdet()]
    [-1.0, 1.7918]
    """
    a = as_matrices(self, "slogdet", square=True)
    size = a.shape[-1]
    if size == 0:
        one = self.__class__.ones(*a.shape[:-2], dtype=a.dtype, device=a.device)
        return SlogdetResult(one, one.zeros_like())
    upper, _, order = _eliminated(a, size)
    diagonal = upper._diagonals()
    sign = _sign(order).cast(a.dtype) * diagonal.sign().prod(-1)
    return SlogdetResult(sign, diagonal.abs().log().sum(-1))


def logdet(self: TensorT) -> TensorT:
    """The logarithm of the determinant; NaN where that is below 0.

    >>> Tensor([[2.0, 0.0], [0.0, 3.0]]).logdet().item()
    1.7918
    """
    sign, size = self.slogdet()
    return (sign < 0).where(float("nan"), size)


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    short = (1,) * (len(long) - len(short)) + short
    if any(x != y and 1 not in (x, y) for x, y in zip(long, short)):
        raise ShapeError(
            "the batches do not fit together",
            asked=f"solve a batch of {a} with a batch of {b}",
            because="each axis must be equal, or 1",
        )
    return tuple(max(x, y) if 0 not in (x, y) else 0 for x, y in zip(long, short))


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
