"""Linear-algebra methods of a tensor: products, linear equations, factorizations."""

from __future__ import annotations

from typing import Self

from weft.tensor.ops.linear_algebra import (
    einsum,
    factorizations,
    least_squares,
    linear_equations,
    matrices,
    matrix_products,
    products,
)
from weft.tensor.protocol import TensorBase
from weft.tensor.types import ArrayLike, DTypeLike


class LinearAlgebraMixin(TensorBase):
    """The functions of this package as methods."""

    __slots__ = ()

    dot = matrix_products.dot
    image_dot = matrix_products.image_dot
    linear = matrix_products.linear
    matmul = matrix_products.matmul

    def __matmul__(self, x: ArrayLike) -> Self:
        return self.matmul(x)

    def __rmatmul__(self, x: ArrayLike) -> Self:
        return self.matmul(x, True)

    @classmethod
    def einsum(cls, formula: str, *operands: ArrayLike, dtype: DTypeLike | None = None) -> Self:
        """Einstein summation: `"ij,jk->ik"`; "..." are axes that broadcast.

        :raises ArgumentError: for a formula that cannot be read or does not fit the operands.

        >>> Tensor.einsum("ij,j->i", Tensor([[1, 2], [3, 4]]), Tensor([5, 6])).tolist()
        [17, 39]
        >>> Tensor.einsum("ii", Tensor([[1, 2], [3, 4]])).item()
        5
        """
        return einsum.contract(cls, formula, operands, dtype)

    mm = products.mm
    bmm = products.bmm
    mv = products.mv
    addmm = products.addmm
    addmv = products.addmv
    addr = products.addr
    baddbmm = products.baddbmm
    addbmm = products.addbmm
    matrix_power = products.matrix_power
    trace = products.trace
    outer = products.outer
    inner = products.inner
    vdot = products.vdot
    vecdot = products.vecdot
    cross = products.cross
    kron = products.kron
    tensordot = products.tensordot
    cdist = products.cdist
    pairwise_distance = products.pairwise_distance
    cosine_similarity = products.cosine_similarity
    inverse = linear_equations.inv
    ger = products.outer

    solve = linear_equations.solve
    inv = linear_equations.inv
    det = linear_equations.det
    slogdet = linear_equations.slogdet
    logdet = linear_equations.logdet

    qr = factorizations.qr
    svd = factorizations.svd
    cholesky = factorizations.cholesky
    eigh = factorizations.eigh
    svdvals = factorizations.svdvals
    eigvalsh = factorizations.eigvalsh
    eig = factorizations.eig
    _diagonals = matrices._diagonals

    pinv = least_squares.pinv
    matrix_rank = least_squares.matrix_rank
    lstsq = least_squares.lstsq
