"""Index items: check and convert each item of an index: masks, bounds, several indices as one."""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import IndexingError, ShapeError
from weft.base.sequences import prod
from weft.device import registry
from weft.shape.movement import broadcast_shapes, definite, say_shape
from weft.tensor.ops.gather_scatter import from_front
from weft.tensor.protocol import TensorBase
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import fold, high_of, low_of


def from_the_front(at: Any, size: Any) -> Any:
    """A symbolic position counted from the front; what is below zero counts from the end."""
    position = fold(at)
    below = high_of(position) < 0 or (low_of(position) < 0 and is_bound(position) and position < 0)
    return fold(size + position) if below else position


def as_bound(value: Any, shape: tuple[Any, ...]) -> Any:
    """Axes of a value that have the sizes that those of a window are bound to become those."""
    now = definite(shape)
    own = value.shape
    if now is None or len(own) > len(shape):
        return value
    bound, now = shape[len(shape) - len(own) :], now[len(now) - len(own) :]
    sizes = tuple(b if s == n != 1 else s for b, n, s in zip(bound, now, own))
    return value if sizes == own else value.reshape(sizes)


def is_bound(position: Any) -> bool:
    return isinstance(position, UOp) and definite((position,)) is not None


def is_mask(item: Any) -> bool:
    return isinstance(item, TensorBase) and item._uop.dtype is dtypes.bool


def flat_index(tensors: list[Any], sizes: list[int], shape: tuple[Any, ...]) -> tuple[Any, int]:
    """Several indices as one into their axes in row-major order; -1 where one is out of range."""
    total = prod(sizes)
    flat: Any = None
    valid: Any = None
    for tensor, size in zip(tensors, sizes):
        index = from_front(wide_enough(tensor, total), size)
        inside = (index >= 0) & (index < size)
        flat = index if flat is None else flat * size + index
        valid = inside if valid is None else valid & inside
    if len(tensors) > 1:
        flat = valid.where(flat, -1)
    return flat._expanded(shape), total


def common_shape(tensors: list[Any]) -> tuple[Any, ...]:
    """The shape that indices broadcast to."""
    try:
        return broadcast_shapes(*(t.shape for t in tensors))
    except ShapeError as error:
        raise IndexingError(
            "the indices do not broadcast",
            asked="indices of shapes " + ", ".join(say_shape(t.shape) for t in tensors),
            because=error.because,
            try_="reshape them: x[rows[:, None], columns] is every row with every column",
        ) from None


def is_flag(item: Any) -> bool:
    """Whether this is a mask without axes: a bool, a tensor, or a scalar of another library."""
    if isinstance(item, (bool, TensorBase)):
        return item is True or item is False or (is_mask(item) and item.shape == ())
    if item is None or isinstance(item, (int, slice)):
        return False
    return getattr(item, "shape", None) == () and str(getattr(item, "dtype", "")).endswith("bool")


def holds(flag: Any) -> bool:
    """The value of a mask without axes; that of a tensor is computed now."""
    return bool(flag.item()) if isinstance(flag, TensorBase) else bool(flag)


def covered(item: Any) -> int:
    """How many axes an item of an index is for."""
    if item is None or item is Ellipsis or is_flag(item):
        return 0
    return item.ndim if is_mask(item) else 1


def wide_enough(index: Any, total: Any) -> Any:
    """An index in a dtype that holds every place below `total`."""
    short = index._uop.dtype.itemsize < 8
    return index.cast(dtypes.int64) if short and high_of(total) > dtypes.int32.max else index


def is_alone(device: Any) -> bool:
    """Whether a device is one processor that goes through everything in order."""
    if not isinstance(device, str):
        return False
    compute = registry.capabilities(device).compute
    return compute is not None and compute.limits.global_size is None


def places_of(mask: Any) -> tuple[Any, ...]:
    """Where a mask holds, a NumPy vector for each axis: counted in a row, which is much quicker
    than axis by axis."""
    import numpy

    return numpy.unravel_index(numpy.flatnonzero(mask.numpy()), mask.shape) if mask.shape else ()


def moves(node: UOp, base: UOp) -> list[tuple[Ops, Any, tuple[Any, ...]]]:
    """The movement that leads from `base` to `node`, last first, with the shape before each."""
    moves: list[tuple[Ops, Any, tuple[Any, ...]]] = []
    while node is not base:
        if node.op is not Ops.DETACH:  # a mark that no gradient flows moves nothing
            moves.append((node.op, node.arg, node.src[0].shape))
        node = node.src[0]
    return moves
