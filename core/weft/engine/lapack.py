"""LAPACK: linear algebra of the host, by NumPy's interface to it.

Every function takes batches of matrices in its last two axes, float32 or float64, and fills arrays
of the shapes of its results. With `interleaved` the matrices are complex: the last axis of an
argument, and of a complex result, has the real and the imaginary part. Errors are those of NumPy,
as LinearAlgebraError.

LAPACK uses the threads of the BLAS library that NumPy was built with; OPENBLAS_NUM_THREADS or
MKL_NUM_THREADS limit them.

Source: E. Anderson et al., "LAPACK Users' Guide", 3rd edition, SIAM 1999.
"""

from __future__ import annotations

from functools import cache, wraps
from typing import TYPE_CHECKING, Any

from weft.base.errors import LinearAlgebraError
from weft.engine.host_functions import HostFunction, host_function

if TYPE_CHECKING:
    import numpy

Arrays = list["numpy.ndarray[Any, Any]"]

_ADVICE = {
    "cholesky": "a symmetric positive definite matrix; x + 1e-6 * eye for rounding errors",
    "eig": "eigh for symmetric matrices; x.cast(dtypes.complex64).eig() gives complex numbers",
}
_SINGULAR = "pinv, lstsq, or a small multiple of the identity added to the matrix"


def lapack_function(function: HostFunction) -> HostFunction:
    """Enter a function into the table, with NumPy's errors as LinearAlgebraError."""

    @wraps(function)
    def guarded(
        inputs: Arrays, outputs: Arrays, interleaved: bool = False, **parameters: Any
    ) -> None:
        if interleaved:
            inputs = [_complex_view(array) for array in inputs]
        try:
            function(inputs, outputs, **parameters)
        except _linalg().LinAlgError as error:
            name = function.__name__
            shapes = " and ".join(str(array.shape) for array in inputs)
            raise LinearAlgebraError(
                f"{name} has no result for this matrix",
                asked=f"{name} of {inputs[0].dtype} {shapes}",
                because=str(error),
                try_=_ADVICE.get(name, _SINGULAR),
            ) from None

    return host_function(guarded)


@cache
def _linalg() -> Any:
    """`numpy.linalg`, imported at the first call."""
    from numpy import linalg

    return linalg


def _complex_view(array: Any) -> Any:
    """Complex numbers over the memory of their interleaved parts."""
    return array.view(f"complex{array.itemsize * 16}")[..., 0]


def _fill(outputs: Arrays, *results: Any) -> None:
    for output, result in zip(outputs, results, strict=True):
        if result.dtype.kind == "c" and output.dtype.kind == "f":
            output = _complex_view(output)
        output[...] = result


def _quietly(function: Any, x: Any) -> Any:
    """The value of a function that warns of NaN, without the warning."""
    from numpy import errstate

    with errstate(all="ignore"):
        return function(x)


# ---- linear equations ----------------------------------------------------------------------------


@lapack_function
def solve(inputs: Arrays, outputs: Arrays) -> None:
    """x with a @ x = b (xGESV)."""
    a, b = inputs
    _fill(outputs, _linalg().solve(a, b))


@lapack_function
def inv(inputs: Arrays, outputs: Arrays) -> None:
    """The inverse (xGESV)."""
    _fill(outputs, _linalg().inv(inputs[0]))


@lapack_function
def det(inputs: Arrays, outputs: Arrays) -> None:
    """The determinant (xGETRF)."""
    _fill(outputs, _quietly(_linalg().det, inputs[0]))


@lapack_function
def slogdet(inputs: Arrays, outputs: Arrays) -> None:
    """The sign and the logarithm of the absolute value of the determinant (xGETRF)."""
    _fill(outputs, *_quietly(_linalg().slogdet, inputs[0]))


@lapack_function
def adjugate(inputs: Arrays, outputs: Arrays) -> None:
    """The transposed matrix of cofactors, also of singular matrices (xGESDD).

    With a = u @ diag(s) @ vh it is det(u @ vh) * vh^H @ diag(products of the others of s) @ u^H.
    """
    import numpy

    u, s, vh = _linalg().svd(inputs[0])
    ones = numpy.ones_like(s[..., :1])
    before = numpy.cumprod(numpy.concatenate([ones, s[..., :-1]], -1), -1)
    after = numpy.cumprod(numpy.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1]
    sign = _linalg().det(u) * _linalg().det(vh)
    others = (before * after * sign[..., None])[..., None, :]
    _fill(outputs, (vh.conj().swapaxes(-1, -2) * others) @ u.conj().swapaxes(-1, -2))


@lapack_function
def pinv(inputs: Arrays, outputs: Arrays, rtol: float) -> None:
    """The pseudo-inverse (xGESDD)."""
    _fill(outputs, _linalg().pinv(inputs[0], rtol))


@lapack_function
def lstsq(inputs: Arrays, outputs: Arrays, rtol: float) -> None:
    """The x of least norm that minimizes the norm of a @ x - b; the squared norms of the columns of
    a @ x - b; the rank and the singular values of a (xGELSD)."""
    from numpy import ndindex

    a, b = inputs
    x, residuals, rank, values = outputs
    x = _complex_view(x) if a.dtype.kind == "c" else x
    for place in ndindex(a.shape[:-2]):
        x[place], _, rank[place], values[place] = _linalg().lstsq(a[place], b[place], rtol)
    rest: Any = a @ x - b
    (rest * rest.conj()).real.sum(-2, out=residuals)


@lapack_function
def matrix_rank(inputs: Arrays, outputs: Arrays, rtol: float) -> None:
    """The number of singular values above rtol times the largest (xGESDD)."""
    s = _linalg().svd(inputs[0], compute_uv=False)
    _fill(outputs, (s > s.max(-1, keepdims=True) * rtol).sum(-1))


@lapack_function
def matrix_power(inputs: Arrays, outputs: Arrays, n: int) -> None:
    """The matrix multiplied by itself n times (xGEMM)."""
    _fill(outputs, _linalg().matrix_power(inputs[0], n))


# ---- factorizations ------------------------------------------------------------------------------


@lapack_function
def cholesky(inputs: Arrays, outputs: Arrays) -> None:
    """The lower triangular factor; only the lower triangle is read (xPOTRF)."""
    _fill(outputs, _linalg().cholesky(inputs[0]))


@lapack_function
def qr(inputs: Arrays, outputs: Arrays, mode: str) -> None:
    """The orthogonal and the upper triangular factor; mode "reduced" or "complete" (xGEQRF)."""
    _fill(outputs, *_linalg().qr(inputs[0], mode))


@lapack_function
def svd(inputs: Arrays, outputs: Arrays, full_matrices: bool) -> None:
    """Left singular vectors, singular values, right singular vectors as rows (xGESDD)."""
    _fill(outputs, *_linalg().svd(inputs[0], full_matrices))


@lapack_function
def svdvals(inputs: Arrays, outputs: Arrays) -> None:
    """The singular values (xGESDD)."""
    _fill(outputs, _linalg().svd(inputs[0], compute_uv=False))


@lapack_function
def eigh(inputs: Arrays, outputs: Arrays) -> None:
    """Eigenvalues in rising order and eigenvectors; only the lower triangle is read (xSYEVD)."""
    _fill(outputs, *_linalg().eigh(inputs[0]))


@lapack_function
def eigvalsh(inputs: Arrays, outputs: Arrays) -> None:
    """Eigenvalues in rising order; only the lower triangle is read (xSYEVD)."""
    _fill(outputs, _linalg().eigvalsh(inputs[0]))


@lapack_function
def eig(inputs: Arrays, outputs: Arrays) -> None:
    """Eigenvalues and eigenvectors of a complex matrix, or of one that has real ones (xGEEV)."""
    values, vectors = _linalg().eig(inputs[0])
    if values.dtype.kind == "c" and inputs[0].dtype.kind != "c":
        raise _linalg().LinAlgError("it has complex eigenvalues, and the results are real")
    _fill(outputs, values, vectors)
