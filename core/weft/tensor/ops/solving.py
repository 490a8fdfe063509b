"""Linear equations: solve, inv, det, by elimination with the largest pivot of each column."""

from __future__ import annotations

from typing import Any, Self

from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.tensor.ops.decompositions import DecompositionsMixin


class SolvingMixin(DecompositionsMixin):
    """Methods that solve."""

    __slots__ = ()

    def solve(self, other: Self) -> Self:
        """x with self @ x = other.

        self (..., n, n); other (..., n, k), or (n,) for one right side of all. Gaussian elimination
        with partial pivoting (Golub and Van Loan, 3.4), n steps of a few kernels. Singular matrices
        give infinities or NaN. :raises ShapeError: where the shapes do not fit.

        >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).solve(Tensor([[2.0], [2.0]])).tolist()
        [[1.0], [0.5]]
        """
        a = self._as_matrices("solve", square=True)
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
        upper, _ = _eliminated(a.cat(right, dim=-1), size)
        solved = _back_substituted(upper, size)
        return solved.squeeze(-1) if vector else solved

    def inv(self) -> Self:
        """The inverse of every matrix, (..., n, n). See `solve`.

        >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).inv().tolist()
        [[0.5, 0.0], [0.0, 0.25]]
        """
        a = self._as_matrices("inv", square=True)
        return a.solve(self.__class__.eye(a.shape[-1], dtype=a.dtype, device=a.device))

    def det(self) -> Self:
        """The determinant of every matrix: (..., n, n) to (...). See `solve`.

        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).det().item()
        -2.0
        """
        a = self._as_matrices("det", square=True)
        size = a.shape[-1]
        if size == 0:
            return self.__class__.ones(*a.shape[:-2], dtype=a.dtype, device=a.device)
        upper, sign = _eliminated(a, size)
        return upper._diagonals().prod(-1) * sign

    def slogdet(self) -> tuple[Self, Self]:
        """The sign of the determinant, and the logarithm of its size, which does not overflow.

        >>> [x.item() for x in Tensor([[0.0, 2.0], [3.0, 0.0]]).slogdet()]
        [-1.0, 1.7918]
        """
        a = self._as_matrices("slogdet", square=True)
        size = a.shape[-1]
        if size == 0:
            one = self.__class__.ones(*a.shape[:-2], dtype=a.dtype, device=a.device)
            return one, one.zeros_like()
        upper, sign = _eliminated(a, size)
        diagonal = upper._diagonals()
        return sign * diagonal.sign().prod(-1), diagonal.abs().log().sum(-1)

    def logdet(self) -> Self:
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


def _eliminated(a: Any, size: int) -> tuple[Any, Any]:
    """(upper triangular in its first `size` columns, 1 or -1 for the exchanges of rows)"""
    place = a.__class__.arange(size, device=a.device)
    rows = place.reshape(size, 1)
    sign: Any = a.__class__.ones(*a.shape[:-2], dtype=a.dtype, device=a.device)
    for k in range(size - 1):
        heights = (place >= k).where(a[..., :, k].detach().abs(), -1.0)
        best = heights.argmax(-1, keepdim=True).unsqueeze(-1).contiguous()
        source = (rows == k).where(best, (rows == best).where(k, rows)).cast(dtypes.int32)
        a = a.gather(-2, source._expanded(a.shape)).contiguous()
        sign = sign * (best.reshape(sign.shape) == k).where(1.0, -1.0)
        pivot = a[..., k : k + 1, k : k + 1]
        factor = ((rows > k) & (pivot != 0)).where(a[..., :, k : k + 1] / pivot, 0.0)
        a = (a - factor * a[..., k : k + 1, :]).contiguous()
    return a, sign


def _back_substituted(upper: Any, size: int) -> Any:
    """From the last row to the first; right sides stand behind the matrix."""
    right = upper[..., size:]
    solved: Any = None
    for k in reversed(range(size)):
        row = right[..., k : k + 1, :]
        if solved is not None:
            row = row - upper[..., k : k + 1, k + 1 : size] @ solved
        row = (row / upper[..., k : k + 1, k : k + 1]).contiguous()
        solved = row if solved is None else row.cat(solved, dim=-2).contiguous()
    return right if solved is None else solved
