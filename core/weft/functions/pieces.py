"""Functions that put pieces into tensors, and take tensors apart, with the names of NumPy and
PyTorch."""

from __future__ import annotations

from typing import Any

from weft.base.errors import ArgumentError, ShapeError
from weft.functions.matrices import diag_embed
from weft.shape.movement import broadcast_shapes
from weft.tensor import Tensor

__all__ = [
    "append", "array_split", "broadcast_arrays", "diagflat", "diagonal_scatter", "renorm",
    "slice_scatter", "unique_consecutive",
]  # fmt: skip


def append(arr: Tensor, values: Tensor, axis: int | None = None) -> Tensor:
    """`values` behind `arr`, along an axis; both flat without one.

    >>> weft.append(Tensor([[1, 2]]), Tensor([[3, 4]]), axis=0).tolist()
    [[1, 2], [3, 4]]
    """
    if axis is None:
        return arr.flatten().cat(values.flatten())
    return arr.cat(values, dim=axis)


def array_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """`tensor_split`, with the names of NumPy.

    >>> [part.tolist() for part in weft.array_split(Tensor([1, 2, 3]), 2)]
    [[1, 2], [3]]
    """
    return list(ary.tensor_split(indices_or_sections, axis))


def broadcast_arrays(*args: Tensor) -> list[Tensor]:
    """The tensors, each in the shape to which all of them broadcast.

    >>> [each.shape for each in weft.broadcast_arrays(Tensor([1, 2]), Tensor([[3], [4]]))]
    [(2, 2), (2, 2)]
    """
    shape = broadcast_shapes(*[each.shape for each in args])
    return [each.expand(shape) for each in args]


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with these elements, in row-major order, on a diagonal.

    >>> weft.diagflat(Tensor([1, 2]), 1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return diag_embed(input.flatten(), offset)


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy of `input` with `src` on a diagonal.

    :param src: with the shape of `input.diagonal(offset, dim1, dim2)`.
    :raises ShapeError: for another shape.

    >>> weft.diagonal_scatter(Tensor.zeros(2, 2), Tensor([1.0, 2.0])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    x: Any = input.movedim((dim1, dim2), (-2, -1))
    expected = input.diagonal(offset, dim1, dim2).shape
    if src.shape != expected:
        raise ShapeError(
            "the source has the shape of the diagonal",
            asked=f"diagonal_scatter of shape {src.shape} into a diagonal of shape {expected}",
        )
    rows, columns = x.shape[-2:]
    count = expected[-1]
    start = max(-offset, 0)
    wide = src.pad((*((0, 0),) * (src.ndim - 1), (start, rows - start - count))).unsqueeze(-1)
    row = Tensor.arange(rows, device=x.device).unsqueeze(1)
    column = Tensor.arange(columns, device=x.device).unsqueeze(0)
    found: Tensor = (column - row == offset).where(wide.cast(x.dtype), x)
    return found.movedim((-2, -1), (dim1, dim2))


def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy of `input` with `src` in the slice start:end:step of an axis.

    :raises ShapeError: if `src` has not the shape of the slice.

    >>> weft.slice_scatter(Tensor([0, 0, 0, 0]), Tensor([1, 2]), start=1, end=4, step=2).tolist()
    [0, 1, 0, 2]
    """
    index: list[Any] = [slice(None)] * input.ndim
    index[input._resolve_dim(dim)] = slice(start, end, step)
    found = input.clone()
    if found[tuple(index)].shape != src.shape:
        raise ShapeError(
            "the source has the shape of the slice",
            asked=f"slice_scatter of shape {src.shape} into {found[tuple(index)].shape}",
        )
    found[tuple(index)] = src
    return found


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The slices along an axis, each scaled down to a norm of at most `maxnorm`.

    :param p: the order of the norm.

    >>> weft.renorm(Tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0).round(decimals=4).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    x: Any = input
    if maxnorm < 0:
        raise ArgumentError("a norm is not negative", asked=f"renorm(maxnorm={maxnorm})")
    others = tuple(n for n in range(x.ndim) if n != x._resolve_dim(dim))
    size = x.norm(p, dim=others, keepdim=True)
    found: Tensor = x * (size > maxnorm).where(maxnorm / (size + 1e-7), 1.0)
    return found


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The elements, or slices along an axis, without those that equal the one before.

    It reads values: the shape of the result depends on them.

    :param return_inverse: also the place of each element in the result.
    :param return_counts: also how many were equal.

    >>> weft.unique_consecutive(Tensor([1, 1, 2, 1])).tolist()
    [1, 2, 1]
    """
    flat: Any = input.flatten() if dim is None else input.movedim(dim, 0)
    count = flat.shape[0]
    rows = flat.reshape(count, -1)
    new = Tensor.ones(min(count, 1), dtype="bool", device=input.device)
    if count > 1:
        new = new.cat((rows[1:] != rows[:-1]).any(1))
    starts = new.nonzero().flatten()
    result: Any = flat[starts]
    found = [result if dim is None else result.movedim(0, dim)]
    if return_inverse:
        inverse = new.cast("int32").cumsum(0) - 1
        found.append(inverse.reshape(input.shape) if dim is None else inverse)
    if return_counts:
        found.append(starts.cat(Tensor([count], dtype=starts.dtype).to(input.device)).diff())
    return found[0] if len(found) == 1 else tuple(found)
