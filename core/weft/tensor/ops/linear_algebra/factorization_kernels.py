"""Factorizations by kernels: QR, SVD, Cholesky, eigenvalues of symmetric matrices.

For devices whose memory the host cannot access. Everything is tensor code over batches: loops in
Python over columns or sweeps, whole batches in every step. Meant for small matrices (to some
hundred columns); the work is that of the textbook methods, but every step is a few kernels.

Source: G. H. Golub and C. F. Van Loan, "Matrix Computations", sections 4.2, 5.2 and 8.5; R. P.
Brent and F. T. Luk, "The solution of singular-value and symmetric eigenvalue problems on
multiprocessor arrays", 1985.
"""

from __future__ import annotations

import math
from typing import Any


def householder_qr(r: Any) -> tuple[Any, Any]:
    """(Q, R) of full size, by Householder reflections (Golub and Van Loan, 5.2)."""
    *batch, rows, columns = r.shape
    q: Any = r.__class__.eye(rows, dtype=r.dtype, device=r.device)._expanded((*batch, rows, rows))
    for k in range(min(rows - 1, columns)):
        v, twice = _reflector(r, k)
        r = (r - v * (twice * (v * r).sum(-2, keepdim=True))).contiguous()
        q = (q - (q @ v) * twice * v.transpose(-1, -2)).contiguous()
    return q, r.triu()


def jacobi_svd(a: Any, full_matrices: bool) -> tuple[Any, Any, Any]:
    """(U, S, Vh), by one-sided Jacobi rotations of all disjoint pairs of columns at once (Brent and
    Luk, 1985)."""
    rows, columns = a.shape[-2:]
    if rows < columns:
        u, s, v = jacobi_svd(a.transpose(-1, -2), full_matrices)
        return v.transpose(-1, -2), s, u.transpose(-1, -2)
    q, r = householder_qr(a)
    rotated, v = _orthogonal_columns(r[..., :columns, :].contiguous())
    s, order = rotated.square().sum(-2).sqrt().sort(-1, descending=True)
    rotated, v = _columns(rotated, order), _columns(v, order)
    u, triangle = householder_qr(rotated)
    # reflections may change the sign of a column
    signs = (triangle._diagonals() < 0).where(-1.0, 1.0).cast(u.dtype)
    u = u * signs.unsqueeze(-2)
    left = q[..., :columns] @ u
    if full_matrices and rows > columns:
        left = left.cat(q[..., columns:], dim=-1)
    return left.contiguous(), s, v.transpose(-1, -2).contiguous()


def cholesky_by_columns(a: Any) -> Any:
    """The lower triangular factor, column by column (Golub and Van Loan, 4.2); NaN for a matrix
    that is not positive definite."""
    size = a.shape[-1]
    place = a.__class__.arange(size, device=a.device)
    rest = lower = a
    for k in range(size):
        pivot = rest[..., k : k + 1, k : k + 1].sqrt()
        below = (place.reshape(size, 1) >= k).where(rest[..., :, k : k + 1] / pivot, 0.0)
        column = below.contiguous()
        lower = column if k == 0 else lower.cat(column, dim=-1)
        rest = (rest - column * column.transpose(-1, -2)).contiguous()
    return lower


def jacobi_eigh(a: Any) -> tuple[Any, Any]:
    """(values in rising order, vectors as columns), by two-sided Jacobi rotations of all disjoint
    pairs at once."""
    rotated, vectors = _diagonal(a)
    values, order = rotated._diagonals().sort(-1)
    return values, _columns(vectors, order)


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
