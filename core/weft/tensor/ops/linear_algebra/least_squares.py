"""Pseudo-inverse, least squares and rank: functions of singular values above a threshold.

Source: G. H. Golub and C. F. Van Loan, "Matrix Computations", section 5.5.
"""

from __future__ import annotations

from typing import Any

from weft.autograd import with_function_vjp
from weft.base.dtype import dtypes
from weft.tensor.ops.linear_algebra.host_lapack import computes_on_host, host_call
from weft.tensor.ops.linear_algebra.linear_equations import equations
from weft.tensor.ops.linear_algebra.matrices import adjoint, as_matrices, broadcast_batches
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.return_types import LstsqResult
from weft.uop import UOp


def pinv(self: TensorT, rtol: float | TensorT | None = None) -> TensorT:
    """The pseudo-inverse (Moore-Penrose inverse) of every matrix: (..., m, n) to (..., n, m).

    :param rtol: singular values of at most rtol times the largest count as 0; None: max(m, n) times
        the precision of the dtype; a tensor: one for each matrix.
    :raises ShapeError: for less than two axes.

    >>> Tensor([[2.0, 0.0], [0.0, 0.0]]).pinv().tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    a = as_matrices(self, "pinv")
    if 0 in a.shape:
        return adjoint(a)
    if not isinstance(rtol, TensorBase) and computes_on_host(a):
        *batch, rows, columns = a.shape
        limit = _default_rtol(a) if rtol is None else float(rtol)
        return host_call("pinv", [a], [(*batch, columns, rows)], rtol=limit)[0]
    return _of_singular_values(a, rtol) if a.is_complex() else _with_own_derivative(a, rtol)


def _of_singular_values(a: Any, rtol: Any) -> Any:
    u, s, vh = a.svd(full_matrices=False)
    kept = s > _threshold(a, s, rtol)
    inverse = kept.where(kept.where(s, 1).reciprocal(), 0).unsqueeze(-2)
    return (adjoint(vh) * inverse) @ adjoint(u)


def _with_own_derivative(a: Any, rtol: Any) -> Any:
    """The pseudo-inverse of real matrices; its derivative is not that of singular vectors, which
    does not exist where singular values are equal."""
    kind, value = type(a), _of_singular_values(a.detach(), rtol)
    kept = kind._from_node(a._uop)  # a tensor: its node follows when it is realized

    def vjp(_number: int, upstream: UOp) -> list[UOp | None]:
        found = pinv_gradient(kept, kept.pinv(rtol), kind._from_node(upstream))
        return [found._uop]

    return a._wrap(with_function_vjp(value._uop, (a._uop,), 0, vjp))


def pinv_gradient(a: Any, p: Any, g: Any) -> Any:
    """The gradient by a of p = pinv(a), given g, that by p.

    It is -p^H g p^H + (I - a p) g^H p p^H + p^H p g^H (I - p a).

    Source: G. Golub, V. Pereyra, "The Differentiation of Pseudo-Inverses", SIAM J. Numer. Anal. 10
    (1973).
    """
    left, right = adjoint(g) @ p @ adjoint(p), adjoint(p) @ p @ adjoint(g)
    return left - a @ (p @ left) + right - (right @ p) @ a - adjoint(p) @ g @ adjoint(p)


def matrix_rank(self: TensorT, rtol: float | TensorT | None = None) -> TensorT:
    """The rank of every matrix as an int32: how many singular values exceed rtol times the largest.
    See `pinv`.

    >>> Tensor([[1.0, 2.0], [2.0, 4.0]]).matrix_rank().item()
    1
    """
    a = as_matrices(self, "matrix_rank")
    if 0 in a.shape:
        return self.__class__.zeros(*a.shape[:-2], dtype=dtypes.int32, device=a.device)
    if not isinstance(rtol, TensorBase) and computes_on_host(a):
        limit = _default_rtol(a) if rtol is None else float(rtol)
        (rank,) = host_call("matrix_rank", [a], [a.shape[:-2]], rtol=limit)
        return rank.cast(dtypes.int32)
    s = a.svdvals()
    return (s > _threshold(a, s, rtol)).sum(-1, dtype=dtypes.int32)


def lstsq(self: TensorT, b: TensorT, rtol: float | None = None) -> LstsqResult[TensorT]:
    """The x with the least norm of self @ x - b, and of these the x of least norm.

    self (..., m, n); b (..., m, k) or (m,). Results: solution (..., n, k) or (n,); residuals, the
    squared norms of the columns of self @ solution - b; rank (int32); singular_values.
    :param rtol: as in `pinv`. :raises ShapeError: where the shapes do not fit.

    >>> Tensor([[1.0], [1.0]]).lstsq(Tensor([1.0, 3.0])).solution.round(decimals=4).tolist()
    [2.0]
    """
    a, right, is_vector = equations(self, b, "lstsq", square=False)
    batch = broadcast_batches(a.shape[:-2], right.shape[:-2])
    rows, columns = a.shape[-2:]
    a = a._expanded((*batch, rows, columns))
    right = right._expanded((*batch, rows, right.shape[-1]))
    limit = _default_rtol(a) if rtol is None else float(rtol)
    solution, residuals, rank, values = _minimized(a, right, limit)
    if is_vector:
        solution, residuals = solution.squeeze(-1), residuals.squeeze(-1)
    return LstsqResult(solution, residuals, rank, values)


def _minimized(a: Any, right: Any, rtol: float) -> tuple[Any, Any, Any, Any]:
    """(solution, residuals, rank, singular values)."""
    *batch, _, columns = a.shape
    count = right.shape[-1]
    if computes_on_host(a, right):
        shapes = (*batch, columns, count), (*batch, count), batch, (*batch, min(a.shape[-2:]))
        shapes = [tuple(shape) for shape in shapes]
        solution, residuals, rank, values = host_call("lstsq", [a, right], shapes, rtol=rtol)
        return solution, residuals, rank.cast(dtypes.int32), values
    solution = a.pinv(rtol) @ right
    residuals = (a @ solution - right).square().sum(-2)
    return solution, residuals, a.matrix_rank(rtol), a.svdvals()


def _default_rtol(a: Any) -> float:
    return max(a.shape[-2:]) * dtypes.finfo(dtypes.real_dtype(a.dtype)).eps


def _threshold(a: Any, values: Any, rtol: Any) -> Any:
    """What singular values have to exceed, one for each matrix."""
    if rtol is None:
        rtol = _default_rtol(a)
    elif isinstance(rtol, TensorBase):
        rtol = rtol.cast(values.dtype).unsqueeze(-1)
    return values.max(-1, True) * rtol
