"""Products of matrices and vectors, diagonals, powers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from weft.base.errors import ArgumentError, ShapeError
from weft.linalg.matrices import matrices, square, tensor
from weft.tensor import Tensor

__all__ = [
    "cross", "diagonal", "matmul", "matrix_power", "multi_dot", "vander", "vecdot",
]  # fmt: skip


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of matrices; a vector is a row on the left and a column on the right.

    >>> weft.linalg.matmul(Tensor([[1, 2]]), Tensor([[3], [4]])).tolist()
    [[11]]
    """
    found: Tensor = tensor("matmul", input).matmul(other)
    return found


def matrix_power(A: Tensor, n: int) -> Tensor:
    """n factors A; of its inverse for negative n.

    >>> weft.linalg.matrix_power(Tensor([[1, 1], [0, 1]]), 3).tolist()
    [[1, 3], [0, 1]]
    """
    found: Tensor = square("matrix_power", A).matrix_power(n)
    return found


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of two or more matrices, in the order of the fewest multiplications.

    The first and the last one may be vectors.

    Source: T. H. Cormen and others, "Introduction to Algorithms", matrix-chain multiplication.

    :raises ArgumentError: for fewer than two.

    >>> weft.linalg.multi_dot([Tensor([[1, 2]]), Tensor([[3], [4]]), Tensor([[2]])]).tolist()
    [[22]]
    """
    chain = [tensor("multi_dot", each) for each in tensors]
    if len(chain) < 2:
        raise ArgumentError("a product is of two matrices or more", asked="multi_dot", try_="x @ y")
    is_row, is_column = chain[0].ndim == 1, chain[-1].ndim == 1
    chain[0] = chain[0].unsqueeze(0) if is_row else chain[0]
    chain[-1] = chain[-1].unsqueeze(1) if is_column else chain[-1]
    for left, right in itertools.pairwise(chain):
        if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
            raise ShapeError(
                "the matrices of a chain fit each other",
                asked=f"multi_dot of shapes {[tuple(each.shape) for each in chain]}",
            )
    found: Any = _product(chain, _splits([chain[0].shape[0], *(x.shape[1] for x in chain)]))
    found = found.squeeze(-1) if is_column else found
    made: Tensor = found.squeeze(0) if is_row else found
    return made


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """For each part of a chain the best place of its last product."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    best: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = {
                k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            }
            best[i, j] = min(options, key=options.__getitem__)
            cost[i, j] = options[best[i, j]]
    return best


def _product(chain: list[Any], best: dict[tuple[int, int], int]) -> Any:
    def part(i: int, j: int) -> Any:
        return chain[i] if i == j else part(i, best[i, j]).matmul(part(best[i, j] + 1, j))

    return part(0, len(chain) - 1)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Products of conj(x) and y, summed along an axis.

    >>> weft.linalg.vecdot(Tensor([1, 2]), Tensor([3, 4])).item()
    11
    """
    found: Tensor = tensor("vecdot", x).vecdot(y, dim)
    return found


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The vector product along an axis of three.

    >>> weft.linalg.cross(Tensor([1, 0, 0]), Tensor([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    found: Tensor = tensor("cross", input).cross(other, dim)
    return found


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A diagonal of matrices, above the main one for positive offsets.

    >>> weft.linalg.diagonal(Tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    found: Tensor = matrices("diagonal", A).diagonal(offset, dim1, dim2)
    return found


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Powers of each element in a row, from 0 to N - 1.

    >>> weft.linalg.vander(Tensor([2, 3])).tolist()
    [[1, 2], [1, 3]]
    """
    x = tensor("vander", x)
    x = x if x.ndim else x.reshape(1)
    count = x.shape[-1] if N is None else N
    powers = Tensor.arange(count, device=x.device)
    return x.unsqueeze(-1) ** powers
