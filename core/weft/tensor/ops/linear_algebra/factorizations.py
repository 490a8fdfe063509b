"""Matrices as products of simpler ones: QR, SVD, Cholesky, eigenvalues of symmetric matrices.

Everything is tensor code over batches: loops in Python over columns or sweeps, whole batches in
every step. Meant for small matrices (to some hundred columns); the work is that of the textbook
methods, but every step is a few kernels.
"""

from __future__ import annotations

import math
from typing import Any

from weft.autograd import RECOMPUTE
from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import least_upper_float
from weft.tensor.ops.transcendental import value_with_derivative
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.return_types import EighResult, QRResult, SVDResult


def qr(self: TensorT, mode: str = "complete") -> QRResult[TensorT]:
    """(Q, R) with self = Q @ R, the columns of Q orthonormal, R upper triangular.

    Shape (..., m, n) gives Q (..., m, m) and R (..., m, n); with mode="reduced" the first
    min(m, n) columns of Q and rows of R. Householder reflections (Golub and Van Loan, 5.2).
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
    r = as_matrices(self, "qr")
    *batch, rows, columns = r.shape
    q: Any = self.__class__.eye(rows, dtype=r.dtype, device=r.device)._expanded(
        (*batch, rows, rows)
    )
    for k in range(min(rows - 1, columns)):
        v, twice = _reflector(r, k)
        r = (r - v * (twice * (v * r).sum(-2, keepdim=True))).contiguous()
        q = (q - (q @ v) * twice * v.transpose(-1, -2)).contiguous()
    r = r.triu()
    kept = min(rows, columns)
    return QRResult(q, r) if mode == "complete" else QRResult(q[..., :kept], r[..., :kept, :])


def svd(self: TensorT, full_matrices: bool = True) -> SVDResult[TensorT]:
    """(U, S, Vh) with self = U[..., :k] * S @ Vh[..., :k, :], k = min(m, n), and S in falling
    order.

    Shape (..., m, n) gives U (..., m, m), S (..., k), Vh (..., n, n), which holds the right
    singular vectors as rows; without full_matrices U (..., m, k), Vh (..., k, n). One-sided
    Jacobi rotations, all disjoint pairs of columns at once (Brent and Luk, 1985).
    :raises ShapeError: for less than two axes.

    >>> u, s, v = Tensor([[3.0, 0.0], [0.0, -2.0]]).svd()
    >>> s.tolist()
    [3.0, 2.0]
    >>> (u * s @ v).round().tolist()
    [[3.0, 0.0], [0.0, -2.0]]
    """
    a = as_matrices(self, "svd")
    rows, columns = a.shape[-2:]
    if rows < columns:
        u, s, v = a.transpose(-1, -2).svd(full_matrices)
        return SVDResult(v.transpose(-1, -2), s, u.transpose(-1, -2))
    q, r = a.qr(mode="complete")
    rotated, v = _orthogonal_columns(r[..., :columns, :].contiguous())
    s, order = rotated.square().sum(-2).sqrt().sort(-1, descending=True)
    rotated, v = _columns(rotated, order), _columns(v, order)
    u, triangle = rotated.qr()
    # reflections may change the sign of a column
    signs = (triangle._diagonals() < 0).where(-1.0, 1.0).cast(u.dtype)
    u = u * signs.unsqueeze(-2)
    left = q[..., :columns] @ u
    if full_matrices and rows > columns:
        left = left.cat(q[..., columns:], dim=-1)
    return SVDResult(left.contiguous(), s, v.transpose(-1, -2).contiguous())


def cholesky(self: TensorT, upper: bool = False) -> TensorT:
    """The lower triangular L with self = L @ L^T, or with `upper` its transpose.

    Shape (..., n, n), symmetric and positive definite; only the lower triangle is read, the
    gradient is symmetric. A matrix that is not positive definite gives NaN. Column by column
    (Golub and Van Loan, 4.2).
    :raises ShapeError: for matrices that are not square.

    >>> Tensor([[4.0, 2.0], [2.0, 5.0]]).cholesky().tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    a = as_matrices(self, "cholesky", square=True)
    a = _symmetric(a, a)
    size = a.shape[-1]
    place = self.__class__.arange(size, device=a.device)
    rest = lower = a
    for k in range(size):
        pivot = rest[..., k : k + 1, k : k + 1].sqrt()
        below = (place.reshape(size, 1) >= k).where(rest[..., :, k : k + 1] / pivot, 0.0)
        column = below.contiguous()
        lower = column if k == 0 else lower.cat(column, dim=-1)
        rest = (rest - column * column.transpose(-1, -2)).contiguous()
    return lower.transpose(-1, -2) if upper else lower


def eigh(self: TensorT) -> EighResult[TensorT]:
    """(values in rising order, vectors as columns) of symmetric matrices.

    Shape (..., n, n) gives (..., n) and (..., n, n); only the lower triangle is read. Two-sided
    Jacobi rotations, all disjoint pairs at once.
    :raises ShapeError: for matrices that are not square.

    >>> values, vectors = Tensor([[2.0, 0.0], [0.0, 1.0]]).eigh()
    >>> values.tolist()
    [1.0, 2.0]
    """
    a = as_matrices(self, "eigh", square=True)
    low = a.tril()
    rotated, vectors = _diagonal(_symmetric(low + low.tril(-1).transpose(-1, -2), a))
    values, order = rotated._diagonals().sort(-1)
    return EighResult(values, _columns(vectors, order))


def _diagonals(self: TensorT) -> TensorT:
    """The main diagonal of every matrix: (..., m, n) to (..., min(m, n))."""
    size = min(self.shape[-2:])
    batch, square = self.shape[:-2], self[..., :size, :size]
    flat = square.reshape(*batch, size * size).pad(((0, 0),) * len(batch) + ((0, size),))
    return flat.reshape(*batch, size, size + 1)[..., 0]


def as_matrices(self: TensorBase, method: str, square: bool = False) -> Any:
    """As floats of at least two axes. Halves are computed in float32."""
    if len(self.shape) < 2 or (square and self.shape[-1] != self.shape[-2]):
        raise ShapeError(
            f"{method} takes {'square ' if square else ''}matrices",
            asked=f"{method} of shape {self.shape}",
            because="the last two axes are the rows and columns of a matrix",
            try_="reshape it to (..., rows, columns)",
        )
    dtype = least_upper_float(self.dtype)
    return self.cast(dtypes.float32 if dtype.itemsize < 4 else dtype)


def _symmetric(value: Any, a: Any) -> Any:
    """`value`, made of one triangle of `a`: that `a` is symmetric when it moves as well gives both
    triangles their share of the gradient."""
    return value_with_derivative(value, (a + a.transpose(-1, -2)) * 0.5, RECOMPUTE)


def _reflector(r: Any, k: int) -> tuple[Any, Any]:
    """(v, 2 / v.v): the reflection that clears column k below its diagonal."""
    rows = r.shape[-2]
    below = r[..., k:, k : k + 1]
    size = below.square().sum(-2, keepdim=True).sqrt()
    head = below[..., :1, :]
    # away from the head, so that nothing cancels
    head = head + (head < 0).where(-1.0, 1.0) * size
    v = head.cat(below[..., 1:, :], dim=-2)
    squares = v.square().sum(-2, keepdim=True)
    twice = (squares > 0).where(2.0 / (squares > 0).where(squares, 1.0), 0.0)
    padding = ((0, 0),) * (r.ndim - 2) + ((k, 0), (0, 0))
    return v.pad(padding).contiguous(), twice.contiguous() if rows else twice


# ---- rotations -----------------------------------------------------------------------------------


def _sweeps(size: int) -> int:
    """Jacobi converges quadratically after a start that grows with the logarithm of the size."""
    return 8 + math.ceil(math.log2(max(size, 2)))


def _halves(x: Any, axis: int) -> tuple[Any, Any]:
    """The pairs of a round: columns i and size - 1 - i."""
    half = x.shape[axis] // 2
    first, last = (slice(None),) * (x.ndim + axis), ()
    after = (slice(None),) * (-axis - 1)
    return x[(*first, slice(0, half), *after, *last)], x[(*first, slice(half, None), *after)].flip(
        axis
    )


def _joined(a: Any, b: Any, axis: int) -> Any:
    """Pairs back in a row, and one seat further: the first stays, the others move round."""
    whole = a.cat(b.flip(axis), dim=axis)
    size = whole.shape[axis]
    before = (slice(None),) * (whole.ndim + axis)
    after = (slice(None),) * (-axis - 1)

    def part(start: int, stop: int) -> Any:
        return whole[(*before, slice(start, stop), *after)]

    return part(0, 1).cat(part(size - 1, size), part(1, size - 1), dim=axis).contiguous()


def _angle(p: Any, q: Any, both: Any) -> tuple[Any, Any]:
    """(cosine, sine) of the rotation that makes `both` zero between squares p and q."""
    # no division by `both`: it converges to 0, and the derivatives depend on it
    apart, twice = q - p, both * 2.0
    square = apart.square() + twice.square()
    some = square > 0
    size = apart.abs() + some.where(square, 1.0).sqrt()
    tangent = some.where((apart < 0).where(-twice, twice) / size, 0.0)
    cosine = (tangent.square() + 1.0).rsqrt()
    return cosine, cosine * tangent


def _rotated(x: Any, cosine: Any, sine: Any, axis: int) -> Any:
    a, b = _halves(x, axis)
    return _joined(a * cosine - b * sine, a * sine + b * cosine, axis)


def _even(x: Any, axis: int) -> Any:
    """With a zero column more where their number is odd: everybody needs a partner."""
    padding = tuple((0, int(x.shape[axis] % 2 and i == x.ndim + axis)) for i in range(x.ndim))
    return x.pad(padding)


def _orthogonal_columns(a: Any) -> tuple[Any, Any]:
    """(a @ v, v) with the columns of a @ v orthogonal, v orthogonal."""
    size = a.shape[-1]
    v = a.__class__.eye(size, dtype=a.dtype, device=a.device)._expanded((*a.shape[:-2], size, size))
    a, v = _even(a, -1).contiguous(), _even(v, -1).contiguous()
    for _ in range(_sweeps(size)):
        for _ in range(max(a.shape[-1] - 1, 1) if size > 1 else 0):
            p, q = _halves(a, -1)
            squares = [x.sum(-2, keepdim=True) for x in (p * p, q * q, p * q)]
            cosine, sine = (x.contiguous() for x in _angle(*squares))
            a, v = _rotated(a, cosine, sine, -1), _rotated(v, cosine, sine, -1)
        a.realize(v)
    return a[..., :size], v[..., :size]


def _diagonal(a: Any) -> tuple[Any, Any]:
    """(v^T @ a @ v, nearly diagonal; v orthogonal)"""
    size = a.shape[-1]
    v = a.__class__.eye(size, dtype=a.dtype, device=a.device)._expanded(a.shape)
    a, v = _even(_even(a, -1), -2).contiguous(), _even(v, -1).contiguous()
    for _ in range(_sweeps(size)):
        for _ in range(max(a.shape[-1] - 1, 1) if size > 1 else 0):
            half = a.shape[-1] // 2
            diagonal = a._diagonals()
            p, q = diagonal[..., :half], diagonal[..., half:].flip(-1)
            both = a[..., :half, half:].flip(-1)._diagonals()
            cosine, sine = (x.contiguous() for x in _angle(p, q, both))
            a = _rotated(a, cosine.unsqueeze(-2), sine.unsqueeze(-2), -1)
            a = _rotated(a, cosine.unsqueeze(-1), sine.unsqueeze(-1), -2)
            v = _rotated(v, cosine.unsqueeze(-2), sine.unsqueeze(-2), -1)
        a.realize(v)
    return a[..., :size, :size], v[..., :size]


def _columns(x: Any, order: Any) -> Any:
    """The columns of every matrix in another order; order (..., n)."""
    return x.gather(
        -1, order.unsqueeze(-2)._expanded((*x.shape[:-1], order.shape[-1]))
    ).contiguous()
