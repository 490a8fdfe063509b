"""Return types: named tuples of methods with several results, with the field names of PyTorch
(`torch.return_types`) and of the array API standard."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class ValuesIndices(NamedTuple, Generic[T]):
    """Selected elements, and their indices along the axis (int32)."""

    values: T
    indices: T


class MinMax(NamedTuple, Generic[T]):
    """The minimum and the maximum."""

    min: T
    max: T


class EighResult(NamedTuple, Generic[T]):
    """Eigenvalues in ascending order, eigenvectors as columns."""

    eigenvalues: T
    eigenvectors: T


class EigResult(NamedTuple, Generic[T]):
    """Eigenvalues, eigenvectors as columns."""

    eigenvalues: T
    eigenvectors: T


class LstsqResult(NamedTuple, Generic[T]):
    """The solution of a least-squares problem, the squared norms of what is left, the rank and the
    singular values of the matrix."""

    solution: T
    residuals: T
    rank: T
    singular_values: T


class QRResult(NamedTuple, Generic[T]):
    """An orthogonal and an upper triangular factor."""

    Q: T
    R: T


class SlogdetResult(NamedTuple, Generic[T]):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: T
    logabsdet: T


class SVDResult(NamedTuple, Generic[T]):
    """Left singular vectors as columns, singular values, right singular vectors as rows."""

    U: T
    S: T
    Vh: T
