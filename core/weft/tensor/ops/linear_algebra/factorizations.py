"""Matrices as products of simpler ones: QR, SVD, Cholesky, eigenvalues.

LAPACK computes them where the host can access the memory of the device, and raises
LinearAlgebraError for a matrix without a result. Kernels compute them elsewhere, with NaN instead
of the error.
"""

from __future__ import annotations

from weft.base.arguments import shown
from weft.base.errors import ArgumentError
from weft.tensor.ops.linear_algebra.factorization_kernels import (
    cholesky_by_columns,
    householder_qr,
    jacobi_eigh,
    jacobi_svd,
)
from weft.tensor.ops.linear_algebra.host_lapack import (
    computes_on_host,
    host_call,
    host_call_of_copies,
)
from weft.tensor.ops.linear_algebra.matrices import adjoint, as_matrices, symmetric
from weft.tensor.protocol import TensorT
from weft.tensor.return_types import EighResult, EigResult, QRResult, SVDResult


def qr(self: TensorT, mode: str = "complete") -> QRResult[TensorT]:
    """(Q, R) with self = Q @ R, the columns of Q orthonormal, R upper triangular.

    Shape (..., m, n) gives Q (..., m, m) and R (..., m, n); with mode="reduced" the first
    min(m, n) columns of Q and rows of R.
    :raises ShapeError: for less than two axes. :raises ArgumentError: for another mode.

    >>> q, r = Tensor([[3.0, 1.0], [4.0, 2.0]]).qr()
    >>> (q @ r).round().tolist()
    [[3.0, 1.0], [4.0, 2.0]]
    >>> q.shape, r.shape
    ((2, 2), (2, 2))
    """
    if mode not in ("complete", "reduced"):
        raise ArgumentError(
            "QR has two forms",
            asked=f"qr(mode={shown(mode)})",
            because="Q is square, or has as many columns as R has rows that matter",
            try_="'complete' or 'reduced'",
        )
    a = as_matrices(self, "qr")
    *batch, rows, columns = a.shape
    kept = rows if mode == "complete" else min(rows, columns)
    if computes_on_host(a):
        shapes = (*batch, rows, kept), (*batch, kept, columns)
        return QRResult(*host_call("qr", [a], shapes, mode=mode))
    q, r = householder_qr(a)
    return QRResult(q[..., :kept], r[..., :kept, :])


def svd(self: TensorT, full_matrices: bool = True) -> SVDResult[TensorT]:
    """(U, S, Vh) with self = U[..., :k] * S @ Vh[..., :k, :], k = min(m, n), and S in falling
    order.

    Shape (..., m, n) gives U (..., m, m), S (..., k), Vh (..., n, n), which holds the right
    singular vectors as rows; without full_matrices U (..., m, k), Vh (..., k, n). Signs of vectors,
    and bases for equal singular values, are arbitrary. Gradients are those of functions that do
    not depend on them.
    :raises ShapeError: for less than two axes.
    :raises LinearAlgebraError: when computed, for NaN, if LAPACK computes it.

    >>> u, s, v = Tensor([[3.0, 0.0], [0.0, -2.0]]).svd()
    >>> s.tolist()
    [3.0, 2.0]
    >>> (u * s @ v).round().tolist()
    [[3.0, 0.0], [0.0, -2.0]]
    """
    a = as_matrices(self, "svd")
    if computes_on_host(a):
        *batch, rows, columns = a.shape
        k = min(rows, columns)
        left, right = (rows, columns) if full_matrices else (k, k)
        shapes = (*batch, rows, left), (*batch, k), (*batch, right, columns)
        return SVDResult(*host_call("svd", [a], shapes, full_matrices=bool(full_matrices)))
    return SVDResult(*jacobi_svd(a, full_matrices))


def svdvals(self: TensorT) -> TensorT:
    """The singular values of every matrix in falling order: (..., m, n) to (..., min(m, n)).

    >>> Tensor([[3.0, 0.0], [0.0, -2.0]]).svdvals().tolist()
    [3.0, 2.0]
    """
    a = as_matrices(self, "svdvals")
    if computes_on_host(a):
        return host_call("svdvals", [a], [(*a.shape[:-2], min(a.shape[-2:]))])[0]
    return jacobi_svd(a, False)[1]


def cholesky(self: TensorT, upper: bool = False) -> TensorT:
    """The lower triangular L with self = L @ L^H, or with `upper` its conjugate transpose.

    Shape (..., n, n), symmetric (complex: Hermitian) and positive definite; only the lower triangle
    is read, the gradient is symmetric. A matrix that is not positive definite raises
    LinearAlgebraError when it is computed by LAPACK, and gives NaN elsewhere.
    :raises ShapeError: for matrices that are not square.

    >>> Tensor([[4.0, 2.0], [2.0, 5.0]]).cholesky().tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    a = as_matrices(self, "cholesky", square=True)
    if computes_on_host(a):
        (lower,) = host_call("cholesky", [a], [a.shape])
    else:
        lower = cholesky_by_columns(symmetric(a, a))
    return adjoint(lower) if upper else lower


def eigh(self: TensorT) -> EighResult[TensorT]:
    """(values in rising order, vectors as columns) of symmetric or Hermitian matrices.

    Shape (..., n, n) gives (..., n) and (..., n, n); only the lower triangle is read, and the
    gradient is symmetric.
    :raises ShapeError: for matrices that are not square.
    :raises LinearAlgebraError: when computed, for NaN, if LAPACK computes it.

    >>> values, vectors = Tensor([[2.0, 0.0], [0.0, 1.0]]).eigh()
    >>> values.tolist()
    [1.0, 2.0]
    """
    a = as_matrices(self, "eigh", square=True)
    if computes_on_host(a):
        return EighResult(*host_call("eigh", [a], [a.shape[:-1], a.shape]))
    return EighResult(*jacobi_eigh(_from_lower_triangle(a)))


def eigvalsh(self: TensorT) -> TensorT:
    """The eigenvalues of symmetric or Hermitian matrices in rising order: (..., n, n) to (..., n).
    See `eigh`.

    >>> Tensor([[2.0, 0.0], [0.0, 1.0]]).eigvalsh().tolist()
    [1.0, 2.0]
    """
    a = as_matrices(self, "eigvalsh", square=True)
    if computes_on_host(a):
        return host_call("eigvalsh", [a], [a.shape[:-1]])[0]
    return jacobi_eigh(_from_lower_triangle(a))[0]


def eig(self: TensorT) -> EigResult[TensorT]:
    """(eigenvalues, eigenvectors as columns) of square matrices: real ones with real eigenvalues,
    or complex ones.

    Shape (..., n, n) gives (..., n) and (..., n, n). LAPACK computes them for all devices.
    :raises ShapeError: for matrices that are not square.
    :raises LinearAlgebraError: when computed, for a matrix with complex eigenvalues.

    >>> values, vectors = Tensor([[2.0, 1.0], [0.0, 3.0]]).eig()
    >>> values.tolist()
    [2.0, 3.0]
    """
    a = as_matrices(self, "eig", square=True)
    shapes = [a.shape[:-1], a.shape]
    if 0 in a.shape:
        return EigResult(a.sum(-1), +a)
    if computes_on_host(a):
        return EigResult(*host_call("eig", [a], shapes))
    return EigResult(*host_call_of_copies("eig", [a], shapes))


def _from_lower_triangle(a: TensorT) -> TensorT:
    """The symmetric matrix with the lower triangle of `a`; its gradient is symmetric."""
    low = a.tril()
    return symmetric(low + low.tril(-1).transpose(-1, -2), a)
