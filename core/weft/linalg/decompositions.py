"""Decompositions of matrices, and functions of eigenvalues and singular values."""

from __future__ import annotations

from typing import Any, Literal

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.linalg.matrices import floats, matrices, square
from weft.tensor import Tensor
from weft.tensor.return_types import EighResult, EigResult, QRResult, SVDResult

__all__ = [
    "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "matrix_exp", "matrix_rank", "pinv", "qr",
    "svd", "svdvals",
]  # fmt: skip

_MOST_SQUARINGS = 16
_TERMS = {True: 18, False: 11}


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with A = L @ L^H, or its conjugate transpose.

    :raises ShapeError: if A are no square matrices.

    >>> weft.linalg.cholesky(Tensor([[4.0, 2.0], [2.0, 2.0]])).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    found: Tensor = floats("cholesky", square("cholesky", A)).cholesky(upper)
    return found


def qr(A: Tensor, mode: str = "reduced") -> QRResult[Tensor]:
    """(Q, R) with A = Q @ R. mode: "reduced", "complete", or "r", whose Q is empty.

    >>> q, r = weft.linalg.qr(Tensor([[3.0, 1.0], [4.0, 2.0], [0.0, 1.0]]))
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    a = floats("qr", matrices("qr", A))
    if mode == "r":
        _, r = a.qr("reduced")
        return QRResult(Tensor.zeros(0, dtype=a.dtype, device=a.device), r)
    found: QRResult[Tensor] = a.qr(mode)
    return found


def svd(A: Tensor, full_matrices: bool = True) -> SVDResult[Tensor]:
    """(U, S, Vh) with A = U[..., :k] * S @ Vh[..., :k, :].

    >>> weft.linalg.svd(Tensor([[0.0, 2.0], [1.0, 0.0]])).S.tolist()
    [2.0, 1.0]
    """
    found: SVDResult[Tensor] = floats("svd", matrices("svd", A)).svd(full_matrices)
    return found


def svdvals(A: Tensor) -> Tensor:
    """Singular values in falling order.

    >>> weft.linalg.svdvals(Tensor([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [2.0, 1.0]
    """
    found: Tensor = floats("svdvals", matrices("svdvals", A)).svdvals()
    return found


def eig(A: Tensor) -> EigResult[Tensor]:
    """(eigenvalues, eigenvectors as columns), complex, of any square matrices.

    >>> weft.linalg.eig(Tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues.abs().tolist()
    [1.0, 1.0]
    """
    a = floats("eig", square("eig", A))
    found: EigResult[Tensor] = a.cast(dtypes.complex_dtype(a.dtype)).eig()
    return found


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of `eig`.

    >>> weft.linalg.eigvals(Tensor([[2.0, 0.0], [0.0, 2.0]])).tolist()
    [(2+0j), (2+0j)]
    """
    return eig(A)[0]


def eigh(A: Tensor, UPLO: Literal["L", "U"] = "L") -> EighResult[Tensor]:
    """(eigenvalues in rising order, eigenvectors as columns) of symmetric or Hermitian matrices.

    :param UPLO: the triangle that is read, the lower or the upper one.

    >>> weft.linalg.eigh(Tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues.tolist()
    [1.0, 3.0]
    """
    found: EighResult[Tensor] = _lower("eigh", A, UPLO).eigh()
    return found


def eigvalsh(A: Tensor, UPLO: Literal["L", "U"] = "L") -> Tensor:
    """The eigenvalues of `eigh`.

    >>> weft.linalg.eigvalsh(Tensor([[2.0, 1.0], [1.0, 2.0]])).tolist()
    [1.0, 3.0]
    """
    found: Tensor = _lower("eigvalsh", A, UPLO).eigvalsh()
    return found


def pinv(
    A: Tensor,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    hermitian: bool = False,
) -> Tensor:
    """The pseudo-inverse. Singular values of at most max(atol, rtol * the largest) count as 0.

    Without `rtol` it is 0 for a positive `atol`, else the larger extent times the machine epsilon.

    :param hermitian: the matrices are symmetric or Hermitian; their lower triangle is read.

    >>> weft.linalg.pinv(Tensor([[2.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    a = _whole("pinv", A, hermitian)
    found: Tensor = a.pinv(_relative(a, atol, rtol))
    return found


def matrix_rank(
    A: Tensor,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    hermitian: bool = False,
) -> Tensor:
    """How many singular values are larger than max(atol, rtol * the largest).

    >>> weft.linalg.matrix_rank(Tensor([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    a = _whole("matrix_rank", A, hermitian)
    found: Tensor = a.matrix_rank(_relative(a, atol, rtol))
    return found


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices: a Taylor polynomial of A / 2**s, squared s times.

    Source: C. Moler, C. Van Loan, "Nineteen dubious ways to compute the exponential of a matrix,
    twenty-five years later", SIAM Review (2003), method 3.

    >>> weft.linalg.matrix_exp(Tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    a = floats("matrix_exp", square("matrix_exp", A))
    size = a.shape[-1]
    if 0 in a.shape:
        return a * 1.0
    length = a.abs().sum(-1).max(-1)
    count = length.maximum(1e-30).log2().ceil().clamp(-1, _MOST_SQUARINGS - 1) + 1
    factor = (-count).exp2().reshape((*count.shape, 1, 1))
    scaled = a * factor
    unit = Tensor.eye(size, dtype=length.dtype, device=a.device)
    total = unit + scaled * 0.0
    for k in range(_TERMS[length.dtype.itemsize == 8], 0, -1):
        total = unit + scaled.matmul(total) / k
    for k in range(_MOST_SQUARINGS):
        again = (count > k).reshape((*count.shape, 1, 1))
        total = again.where(total.matmul(total), total)
    return total


def _lower(name: str, A: Any, UPLO: str) -> Any:
    a = floats(name, square(name, A))
    if UPLO not in ("L", "U", "l", "u"):
        raise ArgumentError('UPLO is "L" or "U"', asked=f"linalg.{name}(UPLO={shown(UPLO)})")
    return a if UPLO in "Ll" else a.conj().mT


def _whole(name: str, A: Any, hermitian: bool) -> Any:
    """The matrices; Hermitian ones as their lower triangle says."""
    if not hermitian:
        return floats(name, matrices(name, A))
    a = floats(name, square(name, A)).tril()
    return a + a.tril(-1).conj().mT


def _relative(a: Any, atol: Any, rtol: Any) -> Any:
    """The threshold as a share of the largest singular value; None: the usual one."""
    if atol is None:
        return rtol
    largest = a.svdvals().max(-1)
    share = (largest > 0).where(largest, 1.0).reciprocal() * atol
    if rtol is None:  # where atol is 0 it is the usual one
        usual = max(a.shape[-2:]) * dtypes.finfo(largest.dtype).eps
        rtol = (share > 0).where(0.0, usual)
    return share.maximum(rtol)
