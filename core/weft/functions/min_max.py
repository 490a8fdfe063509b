"""max, min, cummax and cummin with PyTorch's order of arguments and its results."""

from __future__ import annotations

from typing import Any, overload

from weft.base.arguments import no_tensor
from weft.tensor import Tensor
from weft.tensor.return_types import ValuesIndices

__all__ = ["cummax", "cummin", "max", "min"]


@overload
def max(
    input: Tensor, dim: Tensor | None = None, keepdim: bool = False, *, axis: Any = None
) -> Tensor: ...
@overload
def max(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices[Tensor]: ...
def max(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None
) -> Tensor | ValuesIndices[Tensor]:
    """The greatest element; along `dim` with its index, along `axis` alone. With a tensor in the
    place of `dim` the greater of each two.

    >>> values, indices = weft.max(Tensor([[1, 5], [9, 2]]), 1)
    >>> values.tolist(), indices.tolist()
    ([5, 9], [1, 0])
    >>> weft.max(Tensor([[1, 5], [9, 2]]), axis=1).tolist()
    [5, 9]
    """
    return _extreme("max", input, dim, keepdim, axis)


@overload
def min(
    input: Tensor, dim: Tensor | None = None, keepdim: bool = False, *, axis: Any = None
) -> Tensor: ...
@overload
def min(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices[Tensor]: ...
def min(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None
) -> Tensor | ValuesIndices[Tensor]:
    """The least element; along `dim` with its index, along `axis` alone. With a tensor in the
    place of `dim` the less of each two.

    >>> weft.min(Tensor([[1, 5], [9, 2]]), 1).indices.tolist()
    [0, 1]
    """
    return _extreme("min", input, dim, keepdim, axis)


def _extreme(name: str, input: Any, dim: Any, keepdim: bool, axis: Any) -> Any:
    if not isinstance(input, Tensor):
        raise no_tensor(name, (input,))
    method = getattr(input, name)
    if dim is None or isinstance(dim, Tensor):
        return method(axis if dim is None else dim, keepdim)
    return method(dim=dim, keepdim=keepdim)


def cummax(input: Tensor, dim: int) -> ValuesIndices[Tensor]:
    """The running maximum along an axis, and the index of each.

    >>> [x.tolist() for x in weft.cummax(Tensor([1, 3, 2]), 0)]
    [[1, 3, 3], [0, 1, 1]]
    """
    if not isinstance(input, Tensor):
        raise no_tensor("cummax", (input,))
    return input.cummax(dim=dim)


def cummin(input: Tensor, dim: int) -> ValuesIndices[Tensor]:
    """The running minimum along an axis, and the index of each.

    >>> [x.tolist() for x in weft.cummin(Tensor([3, 1, 2]), 0)]
    [[3, 1, 1], [0, 1, 1]]
    """
    if not isinstance(input, Tensor):
        raise no_tensor("cummin", (input,))
    return input.cummin(dim=dim)
