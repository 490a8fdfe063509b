"""Linear equations, inverses, determinants."""

from __future__ import annotations

from typing import Any

from weft.base.errors import ShapeError
from weft.base.sequences import prod
from weft.linalg.matrices import floats, matrices, square
from weft.tensor import Tensor
from weft.tensor.return_types import LstsqResult, SlogdetResult

__all__ = [
    "det", "inv", "lstsq", "slogdet", "solve", "solve_triangular", "tensorinv", "tensorsolve",
]  # fmt: skip


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The X with A @ X = B, or X @ A = B. B: vectors, or matrices.

    >>> weft.linalg.solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([2.0, 4.0])).tolist()
    [1.0, 1.0]
    """
    a, b = floats("solve", square("solve", A)), floats("solve", B)
    if not left:
        found: Tensor = a.mT.solve(b.mT).mT
        return found
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and tuple(b.shape) == tuple(a.shape[:-1]))
    solved: Tensor = a.solve(b.unsqueeze(-1)).squeeze(-1) if is_vector else a.solve(b)
    return solved


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """`solve` of a triangle of A. unitriangular: its diagonal counts as ones.

    >>> a = Tensor([[2.0, 9.0], [1.0, 1.0]])
    >>> weft.linalg.solve_triangular(a, Tensor([[2.0], [3.0]]), upper=False).tolist()
    [[1.0], [2.0]]
    """
    a = floats("solve_triangular", square("solve_triangular", A))
    unit = 1 if unitriangular else 0
    triangle = a.triu(unit) if upper else a.tril(-unit)
    if unitriangular:
        triangle = triangle + Tensor.eye(a.shape[-1], dtype=triangle.abs().dtype, device=a.device)
    return solve(triangle, matrices("solve_triangular", B), left=left)


def inv(A: Tensor) -> Tensor:
    """The inverse of square matrices.

    >>> weft.linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    found: Tensor = floats("inv", square("inv", A)).inv()
    return found


def det(A: Tensor) -> Tensor:
    """The determinant of square matrices.

    >>> weft.linalg.det(Tensor([[2.0, 0.0], [0.0, 4.0]])).item()
    8.0
    """
    found: Tensor = floats("det", square("det", A)).det()
    return found


def slogdet(A: Tensor) -> SlogdetResult[Tensor]:
    """(sign, logarithm of the size) of the determinant.

    >>> weft.linalg.slogdet(Tensor([[-1.0]])).sign.item()
    -1.0
    """
    found: SlogdetResult[Tensor] = floats("slogdet", square("slogdet", A)).slogdet()
    return found


def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> LstsqResult[Tensor]:
    """The X that minimizes the length of A @ X - B. driver: without effect.

    >>> a, b = Tensor([[1.0], [1.0]]), Tensor([[1.0], [3.0]])
    >>> weft.linalg.lstsq(a, b).solution.tolist()
    [[2.0]]
    """
    a, b = floats("lstsq", matrices("lstsq", A)), floats("lstsq", B)
    found: LstsqResult[Tensor] = a.lstsq(b, rcond)
    return found


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse with respect to `tensordot` over `ind` axes.

    :raises ShapeError: if the first axes do not have as many elements as the others.

    >>> weft.linalg.tensorinv(Tensor.eye(4).reshape(4, 2, 2), ind=1).shape
    (2, 2, 4)
    """
    shape = tuple(A.shape)
    rows, columns = prod(shape[:ind]), prod(shape[ind:])
    if ind < 1 or rows != columns:
        raise ShapeError(
            "the first axes have as many elements as the others",
            asked=f"tensorinv of {shape}, ind={ind}",
        )
    return inv(A.reshape(rows, columns)).reshape(*shape[ind:], *shape[:ind])


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """The X with `tensordot(A, X, X.ndim)` equal to B. dims: axes of A that are moved to the end.

    >>> weft.linalg.tensorsolve(Tensor.eye(4).reshape(2, 2, 4), Tensor.ones(2, 2)).shape
    (4,)
    """
    a = A if dims is None else A.movedim(tuple(dims), tuple(range(-len(dims), 0)))
    rest = tuple(a.shape[B.ndim :])
    if prod(tuple(B.shape)) != prod(rest) or prod(rest) ** 2 != prod(tuple(a.shape)):
        raise ShapeError(
            "A has as many elements beside each element of B as B has",
            asked=f"tensorsolve of {A.shape} and {B.shape}, dims={dims}",
        )
    size = prod(rest)
    return solve(a.reshape(size, size), B.reshape(size)).reshape(*rest)
