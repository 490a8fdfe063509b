"""Views, joins, padding and strided windows: what moves elements and computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.nn import functional
from weft.tensor import Tensor
from weft.torch.registry import converter
from weft.uop import UOp
from weft.uop.symbolic.sint import fold, high_of, smax, smin, sprod


@converter("aten::view", "aten::_unsafe_view", "aten::reshape")
def view(x: Tensor, size: Sequence[int]) -> Tensor:
    """Return the elements in row-major order in another shape."""
    return x.reshape(tuple(size))


@converter("aten::view.dtype")
def view_dtype(x: Tensor, dtype: Any) -> Tensor:
    """Return the bits read as another dtype."""
    return x.bitcast(dtype)


@converter("aten::permute")
def permute(x: Tensor, dims: Sequence[int]) -> Tensor:
    """Return the axes in another order."""
    return x.permute(tuple(dims)) if x.ndim else x


@converter("aten::transpose.int")
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return x with two axes exchanged."""
    return x.transpose(dim0, dim1) if x.ndim else x


@converter("aten::t")
def t(x: Tensor) -> Tensor:
    """Return the transpose of a matrix."""
    return x.transpose(0, 1) if x.ndim == 2 else x


@converter("aten::expand")
def expand(x: Tensor, size: Sequence[int]) -> Tensor:
    """Repeat axes of size one without a copy; -1 keeps an axis."""
    return x.expand(tuple(size))


@converter("aten::unsqueeze")
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """Insert an axis of size one."""
    return x.unsqueeze(dim)


@converter("aten::squeeze")
def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Remove axes of size one; others are kept."""
    chosen = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    gone = {axis % x.ndim for axis in chosen if x.ndim and x.shape[axis] == 1}
    return x.reshape(tuple(size for axis, size in enumerate(x.shape) if axis not in gone))


@converter("aten::slice.Tensor")
def slice_(
    x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Return every step-th element of an axis from start to end."""
    if isinstance(x.shape[dim], UOp):
        start, end = bounds(x.shape[dim], start, end)
    return x[along(x, dim, slice(start, end, step))]


def bounds(size: Any, start: Any, end: Any) -> tuple[Any, Any]:
    """Return start and end of a slice of a symbolic size, between 0 and the size."""
    end = _place(size, size if end is None else end)
    return smin(_place(size, start or 0), end), end


def _place(size: UOp, place: Any) -> Any:
    """Return a bound of a slice, between 0 and the size. A negative one counts from the end."""
    if isinstance(place, int) and place >= high_of(size):
        return size
    if isinstance(place, int) and place < 0:
        place = size + max(place, -high_of(size))
    return smax(smin(place, size), 0)


def along(x: Tensor, dim: int, item: Any) -> tuple[Any, ...]:
    """Return the index that takes an item of one axis, and all of the others."""
    return (slice(None),) * (dim % x.ndim) + (item,)


@converter("aten::select.int")
def select(x: Tensor, dim: int, index: int) -> Tensor:
    """Return one element of an axis, without that axis."""
    return x[along(x, dim, index)]


@converter("aten::split_with_sizes")
def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    """Divide an axis into parts of given sizes."""
    parts, start = [], 0
    for size in split_sizes:
        parts.append(slice_(x, dim, start, start + size))
        start += size
    return parts


@converter("aten::split.Tensor")
def split(x: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """Divide an axis into parts of one size; the last one may be smaller."""
    return list(x.split(split_size, dim))


@converter("aten::unbind.int")
def unbind(x: Tensor, dim: int = 0) -> list[Tensor]:
    """Return all elements of an axis."""
    return list(x.unbind(dim))


@converter("aten::cat")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an axis. A tensor of shape (0,) fits to any other one."""
    if any(x.ndim > 1 for x in tensors):
        tensors = [x for x in tensors if tuple(x.shape) != (0,)]
    return tensors[0] if len(tensors) == 1 else Tensor.cat(*tensors, dim=dim)


@converter("aten::stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along a new axis."""
    return Tensor.stack(*tensors, dim=dim)


@converter("aten::flip")
def flip(x: Tensor, dims: Sequence[int]) -> Tensor:
    """Reverse axes."""
    return x.flip(tuple(dims)) if dims and x.ndim else x


@converter("aten::repeat")
def repeat(x: Tensor, repeats: Sequence[int]) -> Tensor:
    """Repeat each axis; more numbers than axes add axes in front."""
    return x.repeat(tuple(repeats)) if repeats else x


@converter("aten::roll")
def roll(x: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    """Move elements along axes; what leaves at the end enters at the start."""
    return x.roll(tuple(shifts), tuple(dims) or None)


@converter("aten::diagonal")
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return the diagonal of two axes as the last axis."""
    return x.diagonal(offset, dim1, dim2)


@converter("aten::unfold")
def unfold(x: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return the windows of an axis, their elements along a new last axis."""
    return x.unfold(dimension, size, step)


@converter("aten::as_strided", "aten::as_strided_copy")
def as_strided(
    x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Return elements of row-major memory by strides."""
    if _is_all_of(x, size, stride, storage_offset):
        return x.reshape(tuple(size))
    return x.reshape(-1)[_places(x, size, stride, storage_offset or 0)]


def _is_all_of(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None) -> bool:
    """Return whether a strided view is all of the row-major memory of x in its order."""
    if offset or sprod(size) != sprod(x.shape):
        return False
    rest: Any = 1
    for count, step in zip(reversed(size), reversed(stride)):
        if count != 1 and step != rest:
            return False
        rest = fold(rest * count)
    return True


def _places(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int) -> Tensor:
    """Return the places in memory of the elements of a strided view."""
    shape = tuple(size)
    place = Tensor.full(shape, offset, dtype="int64", device=x.device)
    for axis, (count, step) in enumerate(zip(shape, stride, strict=True)):
        steps = Tensor.arange(count, dtype="int64", device=x.device) * step
        place = place + steps.reshape(tuple(count if i == axis else 1 for i in range(len(shape))))
    return place


@converter("aten::as_strided_scatter")
def as_strided_scatter(
    x: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:  # fmt: skip
    """Return x with other elements in a strided view of its row-major memory."""
    if _is_all_of(x, size, stride, storage_offset):
        return src.reshape(tuple(x.shape))
    place = _places(x, size, stride, storage_offset or 0)
    return x.reshape(-1).scatter(0, place.reshape(-1), src.reshape(-1)).reshape(tuple(x.shape))


@converter("aten::constant_pad_nd")
def constant_pad_nd(x: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """Pad axes by a value, the last axis first. Negative numbers remove elements."""
    return x.pad(_pairs(x, pad), value=value) if any(pad) else x


@converter("aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d")
def reflection_pad(x: Tensor, padding: Sequence[int]) -> Tensor:
    """Pad the last axes by what they mirror, without the edge."""
    return x.pad(_pairs(x, padding), mode="reflect")


@converter("aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d")
def replication_pad(x: Tensor, padding: Sequence[int]) -> Tensor:
    """Pad the last axes by their edges."""
    return x.pad(_pairs(x, padding), mode="replicate")


def _pairs(x: Tensor, pad: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return (before, after) by axis from a list that begins with the last axis."""
    given = [(before, after) for before, after in zip(pad[::2], pad[1::2], strict=True)]
    return ((0, 0),) * (x.ndim - len(given)) + tuple(reversed(given))


@converter("aten::im2col")
def im2col(
    x: Tensor, kernel_size: Sequence[int], dilation: Sequence[int], padding: Sequence[int],
    stride: Sequence[int],
) -> Tensor:  # fmt: skip
    """Return the windows of images as columns: (batch, channels * kernel, windows)."""
    return functional.unfold(x, kernel_size, dilation, padding, stride)


@converter("aten::col2im")
def col2im(
    x: Tensor, output_size: Sequence[int], kernel_size: Sequence[int], dilation: Sequence[int],
    padding: Sequence[int], stride: Sequence[int],
) -> Tensor:  # fmt: skip
    """Add columns of windows at their places in images: the transpose of `im2col`."""
    return functional.fold(x, output_size, kernel_size, dilation, padding, stride)
