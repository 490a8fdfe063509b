"""Functions whose arguments are not those of a method of Tensor."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from weft.base.arguments import no_tensor, shown
from weft.base.errors import ArgumentError, WrongKind
from weft.functions.wrappers import without_meaningless
from weft.shape.movement import broadcast_shapes as broadcast_of
from weft.tensor import Tensor

__all__ = [
    "as_tensor", "asarray", "atleast_3d", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "cat", "column_stack", "concat", "concatenate", "dstack", "from_numpy",
    "hstack", "is_tensor", "meshgrid", "normal", "randint", "stack", "t", "tensor", "vstack",
    "where",
]  # fmt: skip


def tensor(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of numbers, nested lists or an array, in memory of its own.

    >>> weft.tensor([[1.0, 2.0]]).shape
    (1, 2)
    """
    module: Any = sys.modules["weft.tensor"]  # `weft.tensor` is the package, which can be called
    made: Tensor = module(data, dtype, device, requires_grad)
    return made


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` itself where it is a tensor of this dtype on this device, else a tensor of it.

    >>> x = Tensor([1.0])
    >>> weft.as_tensor(x) is x, weft.as_tensor([1, 2]).tolist()
    (True, [1, 2])
    """
    if not isinstance(data, Tensor):
        return Tensor(data, dtype=dtype, device=device)
    data = data if dtype is None else data.cast(dtype)
    return data if device is None else data.to(device)


asarray = as_tensor


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor of a NumPy array.

    :raises WrongKind: for anything else.

    >>> import numpy
    >>> weft.from_numpy(numpy.ones(2, dtype="float32")).tolist()
    [1.0, 1.0]
    """
    if not hasattr(ndarray, "__array_interface__"):
        raise WrongKind(
            "an array is expected", asked=f"from_numpy({shown(ndarray)})", try_="weft.tensor(data)"
        )
    return Tensor(ndarray)


def is_tensor(obj: Any) -> bool:
    """Whether this is a Tensor.

    >>> weft.is_tensor(Tensor([1])), weft.is_tensor([1])
    (True, False)
    """
    return isinstance(obj, Tensor)


def randint(*args: Any, size: Any = None, **kwargs: Any) -> Tensor:
    """Random integers: randint(high, size) from 0, or randint(low, high, size), below `high`.

    `dtype`, `device` and `requires_grad` as for the others.

    >>> weft.randint(0, 10, (2, 3)).shape
    (2, 3)
    """
    without_meaningless("randint", kwargs)
    given = list(args)
    if size is None and given and isinstance(given[-1], tuple | list):
        size = given.pop()
    low = kwargs.pop("low", given[0] if len(given) == 2 else 0)
    high = kwargs.pop("high", given[-1] if given else None)
    if size is None or high is None or len(given) > 2:
        raise ArgumentError(
            "random integers have a bound and a shape",
            asked=f"randint({', '.join(map(shown, args))})",
            try_="weft.randint(0, 10, (2, 3)); Tensor.randint(2, 3, low=0, high=10)",
        )
    return Tensor.randint(*size, low=low, high=high, **kwargs)


def normal(mean: float = 0.0, std: float = 1.0, size: Any = (), **kwargs: Any) -> Tensor:
    """Random numbers from a normal distribution.

    >>> weft.normal(0.0, 1.0, (2, 3)).shape
    (2, 3)
    """
    without_meaningless("normal", kwargs)
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        like = mean if isinstance(mean, Tensor) else std
        drawn: Tensor = like.randn_like() * std + mean  # type: ignore[union-attr]
        return drawn
    return Tensor.normal(*size, mean=mean, std=std, **kwargs)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """input where the condition holds, else other; without them the places where it holds.

    >>> weft.where(Tensor([True, False]), Tensor([1, 2]), 0).tolist()
    [1, 0]
    """
    if not isinstance(condition, Tensor):
        raise no_tensor("where", (condition,))
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    chosen: Any = input
    return condition.where(chosen, other)


def t(input: Tensor) -> Tensor:
    """A matrix transposed; vectors as they are.

    >>> weft.t(Tensor([[1, 2]])).tolist()
    [[1], [2]]
    """
    return input.transpose(0, 1) if input.ndim > 1 else input


def _joined(method: str, tensors: Any, more: tuple[Any, ...], **how: Any) -> Tensor:
    given = (tensors, *more) if isinstance(tensors, Tensor) else tuple(tensors)
    if not given or not isinstance(given[0], Tensor):
        raise no_tensor(method, given)
    result: Tensor = getattr(given[0], method)(*given[1:], **how)
    return result


def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors one after the other along an axis that they have.

    >>> weft.cat([Tensor([1]), Tensor([2, 3])]).tolist()
    [1, 2, 3]
    """
    return _joined("cat", tensors, (), dim=dim if axis is None else axis)


concat = concatenate = cat


def stack(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors of one shape side by side along a new axis.

    >>> weft.stack([Tensor([1, 2]), Tensor([3, 4])], dim=1).tolist()
    [[1, 3], [2, 4]]
    """
    return _joined("stack", tensors, (), dim=dim if axis is None else axis)


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: along axis 1, vectors along axis 0.

    >>> weft.hstack([Tensor([[1], [2]]), Tensor([[3], [4]])]).tolist()
    [[1, 3], [2, 4]]
    """
    return _joined("hstack", tensors, ())


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors one below the other: along axis 0, vectors as rows.

    >>> weft.vstack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    return _joined("vstack", tensors, ())


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors behind each other along axis 2, which those of fewer axes get.

    >>> weft.dstack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]
    """
    given = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    if not given or not isinstance(given[0], Tensor):
        raise no_tensor("dstack", given)
    return cat([atleast_3d(each) for each in given], 2)


def atleast_3d(input: Tensor) -> Tensor:
    """Three axes at least: a vector of n becomes (1, n, 1), a matrix gets an axis at its end.

    >>> weft.atleast_3d(Tensor([1, 2])).shape
    (1, 2, 1)
    """
    if not isinstance(input, Tensor):
        raise no_tensor("atleast_3d", (input,))
    flat: Tensor = input.atleast_2d()
    return flat.unsqueeze(-1) if flat.ndim == 2 else flat


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Tensors expanded to the shape that they have together.

    >>> [x.shape for x in weft.broadcast_tensors(Tensor([[1], [2]]), Tensor([3, 4, 5]))]
    [(2, 3), (2, 3)]
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    if not all(isinstance(each, Tensor) for each in given):
        raise no_tensor("broadcast_tensors", tuple(given))
    shape = broadcast_shapes(*(each.shape for each in given))
    return tuple(each.expand(shape) for each in given)


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that shapes broadcast to together. :raises ShapeError: if they do not.

    >>> weft.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    whole = [(each,) if isinstance(each, int) else tuple(each) for each in shapes]
    return broadcast_of(*whole)  # type: ignore[return-value]


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side, vectors as columns.

    >>> weft.column_stack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[1, 3], [2, 4]]
    """
    return _joined("column_stack", tensors, ())


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All pairs (triples ...) of the elements of vectors.

    >>> weft.cartesian_prod(Tensor([1, 2]), Tensor([3])).tolist()
    [[1, 3], [2, 3]]
    """
    return _joined("cartesian_prod", tensors, ())


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid, a tensor for each axis.

    >>> [x.tolist() for x in weft.meshgrid(Tensor([1, 2]), Tensor([3]))]
    [[[1], [2]], [[3], [3]]]
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    if not given or not isinstance(given[0], Tensor):
        raise no_tensor("meshgrid", tuple(given))
    result: tuple[Tensor, ...] = given[0].meshgrid(*given[1:], indexing=indexing)
    return result
