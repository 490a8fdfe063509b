"""Movement operators on arrays of the host: slices, joins and reshapes of shapes and of strings.

They move elements of any type, so that they are also the operators for arrays of strings, which no
device stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.base.sequences import prod
from weft.onnx.graph import Node
from weft.onnx.host_operators import MOST_ELEMENTS
from weft.onnx.registry import host_operator

Array = np.ndarray


@host_operator("Identity")
def identity(node: Node, x: Array) -> Array:
    """The same value."""
    return x


@host_operator("Shape")
def shape(node: Node, x: Array) -> Array:
    """Sizes of the axes."""
    return np.asarray(x.shape, np.int64)


@host_operator("Shape", since=15)
def shape_of_axes(node: Node, x: Array, *, start: int = 0, end: int | None = None) -> Array:
    """Sizes of the axes from start to end."""
    return np.asarray(x.shape[start:end], np.int64)


@host_operator("Size")
def size(node: Node, x: Array) -> Array:
    """Number of elements."""
    return np.asarray(x.size, np.int64)


@host_operator("Concat")
def concat(node: Node, *arrays: Array, axis: int = 1) -> Any:
    """Join arrays along an axis."""
    if sum(each.size for each in arrays) > MOST_ELEMENTS and not _is_text(arrays):
        return NotImplemented
    return np.concatenate(arrays, axis=axis)


@host_operator("Reshape", since=5)
def reshape(node: Node, x: Array, target: Array, *, allowzero: int = 0) -> Array:
    """Return the array in another shape. A size of 0 is the old one, -1 is what is left."""
    sizes = [
        x.shape[axis] if wanted == 0 and not allowzero else wanted
        for axis, wanted in enumerate(node.ints(target))
    ]
    return x.reshape(sizes)


@host_operator("Flatten")
def flatten(node: Node, x: Array, *, axis: int = 1) -> Array:
    """Two axes: those before `axis` and the others."""
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))


@host_operator("Transpose")
def transpose(node: Node, x: Array, *, perm: list[int] | None = None) -> Array:
    """Another order of the axes."""
    return np.transpose(x, perm)


@host_operator("Unsqueeze")
def unsqueeze(node: Node, x: Array, *, axes: list[int]) -> Array:
    """New axes of size 1."""
    return np.expand_dims(x, tuple(axes))


@host_operator("Unsqueeze", since=13)
def unsqueeze_by_input(node: Node, x: Array, axes: Array) -> Array:
    """New axes of size 1."""
    return np.expand_dims(x, node.ints(axes))


@host_operator("Squeeze")
def squeeze(node: Node, x: Array, *, axes: list[int] | None = None) -> Array:
    """Without axes of size 1."""
    return np.squeeze(x, None if axes is None else tuple(axes))


@host_operator("Squeeze", since=13)
def squeeze_by_input(node: Node, x: Array, axes: Array | None = None) -> Array:
    """Without axes of size 1."""
    return np.squeeze(x, None if axes is None else node.ints(axes))


@host_operator("Gather")
def gather(node: Node, x: Array, indices: Array, *, axis: int = 0) -> Any:
    """Elements at indices along an axis; negative ones count from the end."""
    if not x.size or x.size // max(x.shape[axis], 1) * indices.size > MOST_ELEMENTS:
        return NotImplemented
    count = x.shape[axis]
    if indices.size and not ((indices >= -count) & (indices < count)).all():
        raise node.refuse(
            f"an index is out of range: {indices.min()} to {indices.max()} for {count} elements",
            f"indices from {-count} to {count - 1}",
        )
    return np.take(x, indices, axis=axis)


@host_operator("Slice")
def slice_by_attributes(
    node: Node, x: Array, *, starts: list[int], ends: list[int], axes: list[int] | None = None
) -> Array:
    """A part along some axes."""
    return _sliced(x, starts, ends, axes, None)


@host_operator("Slice", since=10)
def slice_by_inputs(
    node: Node,
    x: Array,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Array:
    """A part along some axes, in steps."""
    given = [None if each is None else node.ints(each) for each in (starts, ends, axes, steps)]
    return _sliced(x, *given)


def _sliced(
    x: Array,
    starts: Sequence[int] | None,
    ends: Sequence[int] | None,
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> Array:
    starts, ends = starts or (), ends or ()
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps):
        if step < 0 and end < -x.shape[axis]:  # to the first element, which no end excludes
            index[axis] = slice(start, None, step)
        else:
            index[axis] = slice(start, end, step)
    return x[tuple(index)]


@host_operator("Split", since=13)
def split(
    node: Node,
    x: Array,
    lengths: Array | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
) -> Any:
    """Parts along an axis."""
    count = len(node.outputs) if num_outputs is None else num_outputs
    if lengths is not None:
        sizes = node.ints(lengths)
    else:
        each = -(-x.shape[axis] // count)
        sizes = tuple(max(0, min(each, x.shape[axis] - each * i)) for i in range(count))
    if sum(sizes) != x.shape[axis] or any(each < 0 for each in sizes):
        return NotImplemented
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis=axis))


@host_operator("Expand", since=8)
def expand(node: Node, x: Array, target: Array) -> Any:
    """Broadcast to a shape."""
    sizes = np.broadcast_shapes(x.shape, node.ints(target))
    if prod(sizes) > MOST_ELEMENTS:
        return NotImplemented
    return np.broadcast_to(x, sizes)


@host_operator("Tile", since=6)
def tile(node: Node, x: Array, repeats: Array) -> Any:
    """Repeat along the axes."""
    times = node.ints(repeats)
    if any(each < 0 for each in times) or prod(times) * x.size > MOST_ELEMENTS:
        return NotImplemented
    return np.tile(x, times)


@host_operator("NonZero", since=9)
def nonzero(node: Node, x: Array) -> Any:
    """Indices of elements that are not zero."""
    if x.dtype.isbuiltin != 1 or x.dtype.kind not in "biuf":
        return NotImplemented
    return np.asarray(np.nonzero(x), np.int64).reshape(max(x.ndim, 1), -1)


@host_operator("Equal", since=19)
def equal(node: Node, a: Array, b: Array) -> Any:
    """Whether elements are equal; strings as well."""
    if a.dtype.kind == "V" or b.dtype.kind == "V":
        return NotImplemented
    return np.asarray(a == b, np.bool_)


@host_operator("Where", since=9)
def where(node: Node, condition: Array, a: Array, b: Array) -> Any:
    """Elements of one array or the other."""
    sizes = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    if prod(sizes) > MOST_ELEMENTS or a.dtype != b.dtype:
        return NotImplemented
    return np.where(condition, a, b)


def _is_text(arrays: Sequence[Array]) -> bool:
    return all(each.dtype == object for each in arrays)
