"""Linear equations: solve, inverse, determinant.

LAPACK computes them where the host can access the memory of the device, and raises
LinearAlgebraError for singular matrices. Kernels compute them elsewhere, with infinities or NaN
instead of the error.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.base.promotion import least_upper_dtype
from weft.tensor.ops.linear_algebra.elimination import pivots_by_elimination, solve_by_elimination
from weft.tensor.ops.linear_algebra.host_lapack import computes_on_host, host_call
from weft.tensor.ops.linear_algebra.matrices import as_matrices, broadcast_batches
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.return_types import SlogdetResult


def solve(self: TensorT, other: TensorT) -> TensorT:
    """x with self @ x = other, by Gaussian elimination with partial pivoting.

    self (..., n, n); other (..., n, k), or (n,) for one right side of all.
    :raises ShapeError: where the shapes do not fit.
    :raises LinearAlgebraError: when LAPACK computes it, for singular matrices. Kernels give
        infinities or NaN.

    >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).solve(Tensor([[2.0], [2.0]])).tolist()
    [[1.0], [0.5]]
    """
    a, right, is_vector = equations(self, other, "solve")
    if len(a.shape) > 2 or len(right.shape) > 2:
        batch = broadcast_batches(a.shape[:-2], right.shape[:-2])
        right = right._expanded((*batch, *right.shape[-2:]))
        a = a._expanded((*batch, *a.shape[-2:]))
    if 0 in right.shape:
        solved = right
    elif computes_on_host(a, right):
        (solved,) = host_call("solve", [a, right], [right.shape])
    else:
        solved = solve_by_elimination(a, right)
    return solved.squeeze(-1) if is_vector else solved


def equations(
    matrix: TensorBase, other: Any, method: str, square: bool = True
) -> tuple[Any, Any, bool]:
    """(matrices, right sides as columns, whether the right side is a vector), of one dtype.

    :raises ShapeError: where the right side does not fit.
    """
    a = as_matrices(matrix, method, square)
    other = matrix._as_tensor(other, matrix)
    is_vector = len(other.shape) == 1
    right: Any = other.reshape(-1, 1) if is_vector else other
    size = a.shape[-2]
    if right.is_complex():
        a = a.cast(dtypes.complex_dtype(least_upper_dtype(a.dtype, right.dtype)))
    if len(right.shape) < 2 or right.shape[-2] != size:
        raise ShapeError(
            "the right side does not fit the matrix",
            asked=f"{method} {matrix.shape} with {other.shape}",
            because=f"it needs {size} rows",
            try_=f"give a right side of shape ({size},) or (..., {size}, k); "
            "of a vector for each matrix other.unsqueeze(-1)",
        )
    return a, right if right.dtype is a.dtype else right.cast(a.dtype), is_vector


def inv(self: TensorT) -> TensorT:
    """The inverse of every matrix, (..., n, n). See `solve`.

    >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).inv().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    a = as_matrices(self, "inv", square=True)
    if computes_on_host(a):
        return host_call("inv", [a], [a.shape])[0]
    return a.solve(self.__class__.eye(a.shape[-1], dtype=a.dtype, device=a.device))


def det(self: TensorT) -> TensorT:
    """The determinant of every matrix: (..., n, n) to (...).

    >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).det().round(decimals=4).item()
    -2.0
    """
    a = as_matrices(self, "det", square=True)
    if a.shape[-1] == 0:
        return self.__class__.ones(*a.shape[:-2], dtype=a.dtype, device=a.device)
    if computes_on_host(a):
        return host_call("det", [a], [a.shape[:-2]])[0]
    pivots, sign = pivots_by_elimination(a)
    return pivots.prod(-1) * sign


def slogdet(self: TensorT) -> SlogdetResult[TensorT]:
    """The sign of the determinant, and the logarithm of its size, which does not overflow.

    >>> [round(x.item(), 4) for x in Tensor([[0.0, 2.0], [3.0, 0.0]]).slogdet()]
    [-1.0, 1.7918]
    """
    a = as_matrices(self, "slogdet", square=True)
    if a.shape[-1] == 0:
        one = self.__class__.ones(*a.shape[:-2], dtype=a.dtype, device=a.device)
        return SlogdetResult(one, one.abs().zeros_like())
    if computes_on_host(a):
        return SlogdetResult(*host_call("slogdet", [a], [a.shape[:-2]] * 2))
    pivots, sign = pivots_by_elimination(a)
    return SlogdetResult(sign * pivots.sign().prod(-1), pivots.abs().log().sum(-1))


def logdet(self: TensorT) -> TensorT:
    """The logarithm of the determinant; NaN where that is below 0, complex for complex matrices.

    >>> Tensor([[2.0, 0.0], [0.0, 3.0]]).logdet().item()
    1.7918
    """
    sign, size = self.slogdet()
    if sign.is_complex():
        return sign.log() + size
    return (sign < 0).where(float("nan"), size)
