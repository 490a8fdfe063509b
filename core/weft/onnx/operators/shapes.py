"""Operators of shapes: movement, joining, splitting, slices, padding, constants of a shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from weft.base.dtype import dtypes, to_dtype
from weft.onnx.graph import ELEMENT_TYPES, Node
from weft.onnx.registry import operator
from weft.onnx.small_types import Coded
from weft.onnx.symbolic_sizes import shape_array
from weft.tensor import Tensor
from weft.uop import UOp
from weft.uop.symbolic.sint import high_of

_PAD_MODES = {"reflect": "reflect", "edge": "replicate", "wrap": "circular"}


def _of_codes(function: Callable[..., Tensor]) -> Callable[..., Any]:
    """Let a function that moves elements move the codes of a small type as well."""

    @wraps(function)
    def moved(node: Node, x: Any, *inputs: Any, **attributes: Any) -> Any:
        if isinstance(x, Coded):
            return x.map(lambda codes: function(node, codes, *inputs, **attributes))
        return function(node, x, *inputs, **attributes)

    return moved


# ---- reshaping --------------------------------------------------------------------------------


@operator("Identity")
def identity(node: Node, x: Any) -> Any:
    """The value itself."""
    return x


@operator("Reshape", since=5, host_inputs=("shape",))
@_of_codes
def reshape(node: Node, x: Tensor, shape: np.ndarray, *, allowzero: int = 0) -> Tensor:
    """Another shape; 0 keeps the size of the same axis, -1 is the size that is left."""
    return _reshaped(x, node.sizes(shape), bool(allowzero))


@operator("Reshape")
def reshape_by_attribute(
    node: Node, x: Tensor, *, shape: list[int], consumed_inputs: Any = None
) -> Tensor:
    """Another shape (opset < 5)."""
    return _reshaped(x, tuple(shape), False)


def _reshaped(x: Tensor, sizes: tuple[int, ...], allowzero: bool) -> Tensor:
    if allowzero:
        return x.reshape(sizes)
    kept = [x.shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    if -1 in kept and 0 in x.shape:  # of 0 elements: the axes that are not kept give the size
        others = math.prod(size for i, size in enumerate(x.shape) if sizes[i : i + 1] != (0,))
        kept[kept.index(-1)] = others // math.prod(size for size in sizes if size > 0)
    return x.reshape(tuple(kept))


@operator("Flatten")
@_of_codes
def flatten(node: Node, x: Tensor, *, axis: int = 1) -> Tensor:
    """Two axes: those before `axis`, and those from it on."""
    at = axis + x.ndim if axis < 0 else axis
    return x.reshape((math.prod(x.shape[:at]), math.prod(x.shape[at:])))


@operator("Squeeze", since=13, host_inputs=("axes",))
@_of_codes
def squeeze(node: Node, x: Tensor, axes: np.ndarray | None = None) -> Tensor:
    """Without the named axes of size one, or without all of them."""
    return _squeezed(node, x, None if axes is None else node.ints(axes))


@operator("Squeeze")
def squeeze_by_attribute(node: Node, x: Tensor, *, axes: list[int] | None = None) -> Tensor:
    """Without axes of size one (opset < 13)."""
    return _squeezed(node, x, axes)


def _squeezed(node: Node, x: Tensor, axes: Any) -> Tensor:
    if axes is None:
        return x.squeeze()
    dropped = {axis % x.ndim for axis in axes}
    if longer := [axis for axis in dropped if x.shape[axis] != 1]:
        raise node.refuse(
            f"axis {longer[0]} has size {x.shape[longer[0]]}", "squeeze only axes of size 1"
        )
    return x.reshape(tuple(size for i, size in enumerate(x.shape) if i not in dropped))


@operator("Unsqueeze", since=13, host_inputs=("axes",))
@_of_codes
def unsqueeze(node: Node, x: Tensor, axes: np.ndarray) -> Tensor:
    """With axes of size one at the named places of the result."""
    return _unsqueezed(x, node.ints(axes))


@operator("Unsqueeze")
def unsqueeze_by_attribute(node: Node, x: Tensor, *, axes: list[int]) -> Tensor:
    """With axes of size one at the named places of the result (opset < 13)."""
    return _unsqueezed(x, tuple(axes))


def _unsqueezed(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    rank = x.ndim + len(axes)
    inserted = {axis % rank for axis in axes}
    sizes = iter(x.shape)
    return x.reshape(tuple(1 if i in inserted else next(sizes) for i in range(rank)))


@operator("Transpose")
@_of_codes
def transpose(node: Node, x: Tensor, *, perm: list[int] | None = None) -> Tensor:
    """Permuted axes; reversed without `perm`."""
    return x.permute(tuple(reversed(range(x.ndim))) if perm is None else tuple(perm))


@operator("Expand", since=8, host_inputs=("shape",))
def expand(node: Node, x: Tensor, shape: np.ndarray) -> Tensor:
    """Broadcast together with a shape: an axis of size one takes the other size."""
    sizes = _sizes(node, shape)
    rank = max(x.ndim, len(sizes))
    own = (1,) * (rank - x.ndim) + tuple(x.shape)
    wanted = (1,) * (rank - len(sizes)) + sizes
    return x.expand(tuple(a if b == 1 else b for a, b in zip(own, wanted, strict=True)))


def _sizes(node: Node, shape: np.ndarray) -> tuple[int, ...]:
    """The sizes of a shape. :raises OnnxError: if one is negative."""
    sizes = node.sizes(shape)
    if any(high_of(size) < 0 for size in sizes):
        raise node.refuse(f"the shape {sizes} has a negative size", "sizes from 0 on")
    return sizes


@operator("Tile", since=6, host_inputs=("repeats",))
def tile(node: Node, x: Tensor, repeats: np.ndarray) -> Tensor:
    """Repeated along each axis."""
    return x.repeat(node.ints(repeats)) if x.ndim else x


@operator("Tile", host_inputs=("tiles", "axis"))
def tile_one_axis(node: Node, x: Tensor, tiles: np.ndarray, axis: np.ndarray) -> Tensor:
    """Repeated along one axis (opset < 6)."""
    at = node.ints(axis)[0] % x.ndim
    return x.repeat(tuple(node.ints(tiles)[0] if i == at else 1 for i in range(x.ndim)))


# ---- joining and splitting --------------------------------------------------------------------


@operator("Concat", since=4)
def concat(node: Node, first: Tensor, *others: Tensor, axis: int) -> Tensor:
    """Joined along an axis."""
    return first.cat(*others, dim=axis) if others else first


@operator("Concat")
def concat_by_default_axis(node: Node, first: Tensor, *others: Tensor, axis: int = 1) -> Tensor:
    """Joined along an axis, which has a default (opset < 4)."""
    return concat(node, first, *others, axis=axis)


@operator("Split", since=13, host_inputs=("split",))
def split(
    node: Node,
    x: Tensor,
    split: np.ndarray | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
) -> tuple[Tensor, ...]:
    """Parts along an axis: of the given sizes, or equal ones, of which the last may be shorter."""
    sizes = None if split is None else node.ints(split)
    return _parts(x, axis, sizes, num_outputs or len(node.outputs))


@operator("Split", since=2)
def split_by_attribute(
    node: Node, x: Tensor, *, split: list[int] | None = None, axis: int = 0
) -> tuple[Tensor, ...]:
    """Parts along an axis (opset < 13)."""
    return _parts(x, axis, None if split is None else tuple(split), len(node.outputs))


@operator("Split", host_inputs=("sizes",))
def split_by_either(
    node: Node,
    x: Tensor,
    sizes: np.ndarray | None = None,
    *,
    split: list[int] | None = None,
    axis: int = 0,
) -> tuple[Tensor, ...]:
    """Parts along an axis, of sizes by an input or by an attribute (opset 1)."""
    given = split if sizes is None else list(node.ints(sizes))
    return split_by_attribute(node, x, split=given, axis=axis)


def _parts(x: Tensor, axis: int, sizes: tuple[int, ...] | None, count: int) -> tuple[Tensor, ...]:
    if sizes is None:
        size = x.shape[axis]
        part = -(-size // count)
        sizes = tuple(max(min(part, size - i * part), 0) for i in range(count))
    return tuple(x.split(sizes, axis))


# ---- slices -----------------------------------------------------------------------------------


@operator("Slice", since=10, host_inputs=("starts", "ends", "axes", "steps"))
def slice_(
    node: Node,
    x: Tensor,
    starts: np.ndarray,
    ends: np.ndarray,
    axes: np.ndarray | None = None,
    steps: np.ndarray | None = None,
) -> Tensor:
    """Slices along axes, as Python's; a step may be negative."""
    first, last = node.ints(starts), node.ints(ends)
    at = tuple(range(len(first))) if axes is None else node.ints(axes)
    by = (1,) * len(first) if steps is None else node.ints(steps)
    return _sliced(x, first, last, at, by)


@operator("Slice")
def slice_by_attributes(
    node: Node, x: Tensor, *, starts: list[int], ends: list[int], axes: list[int] | None = None
) -> Tensor:
    """Slices along axes (opset < 10)."""
    at = range(len(starts)) if axes is None else axes
    return _sliced(x, starts, ends, at, (1,) * len(starts))


def _sliced(x: Tensor, starts: Any, ends: Any, axes: Any, steps: Any) -> Tensor:
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = x.shape[axis]
        if step < 0 and end < -size:  # before the first element
            end = None
        if isinstance(size, UOp) and step > 0 and isinstance(end, int) and end >= high_of(size):
            end = None  # behind the last element
        index[axis] = slice(start, end, step)
    return x[tuple(index)] if index else x


# ---- padding ----------------------------------------------------------------------------------


@operator("Pad", since=11, host_inputs=("pads", "axes"))
@_of_codes
def pad(
    node: Node,
    x: Tensor,
    pads: np.ndarray,
    constant_value: Tensor | None = None,
    axes: np.ndarray | None = None,
    *,
    mode: str = "constant",
) -> Tensor:
    """Padded at the edges of the axes; a negative number of elements is cut off."""
    at = tuple(range(x.ndim)) if axes is None else node.ints(axes)
    value: Any = constant_value
    if isinstance(value, Coded):
        value = value.codes
    value = 0 if value is None else value.reshape(())
    return _padded(node, x, node.ints(pads), at, mode, value)


@operator("Pad", since=2)
def pad_by_attributes(
    node: Node, x: Tensor, *, pads: list[int], mode: str = "constant", value: float = 0.0
) -> Tensor:
    """Padded at the edges (opset < 11)."""
    return _padded(node, x, tuple(pads), tuple(range(x.ndim)), mode, value)


@operator("Pad")
def pad_by_old_name(
    node: Node, x: Tensor, *, paddings: list[int], mode: str = "constant", value: float = 0.0
) -> Tensor:
    """Padded at the edges (opset 1)."""
    return pad_by_attributes(node, x, pads=paddings, mode=mode, value=value)


def _padded(
    node: Node, x: Tensor, pads: tuple[int, ...], axes: tuple[int, ...], mode: str, value: Any
) -> Tensor:
    if len(pads) != 2 * len(axes):
        raise node.refuse(
            f"{len(pads)} pads for {len(axes)} axes",
            "pads: all of the starts, then all of the ends",
        )
    pairs = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        pairs[axis] = (pads[i], pads[i + len(axes)])
    if mode == "constant":
        return x.pad(tuple(pairs), value=value)
    if mode not in _PAD_MODES:
        raise node.refuse(f"there is no mode {mode!r}", f"constant, {', '.join(_PAD_MODES)}")
    for axis, pair in enumerate(pairs):
        x = _edge_padded(node, x, axis, pair, mode)
    return x


def _edge_padded(node: Node, x: Tensor, axis: int, pair: tuple[int, int], mode: str) -> Tensor:
    """Padded along one axis by its own elements, several times over where the axis is short."""
    size = x.shape[axis]
    before, after = (max(each, 0) for each in pair)
    longest = size - 1 if mode == "reflect" else size
    if mode == "edge" or max(before, after) <= longest:
        around = tuple((before, after) if i == axis else (0, 0) for i in range(x.ndim))
        x = x.pad(around, mode=_PAD_MODES[mode])
    else:
        places = np.pad(np.arange(size), (before, after), mode=mode)  # type: ignore[call-overload]
        x = x.take(node.tensor(places), axis)
    cut = tuple((min(pair[0], 0), min(pair[1], 0)) if i == axis else (0, 0) for i in range(x.ndim))
    return x.pad(cut)


@operator("CenterCropPad", since=18, host_inputs=("shape",))
def center_crop_pad(
    node: Node, x: Tensor, shape: np.ndarray, *, axes: list[int] | None = None
) -> Tensor:
    """The center of each axis, cropped or padded with 0 to a size."""
    pairs = [(0, 0)] * x.ndim
    at = range(x.ndim) if axes is None else axes
    for axis, size in zip(at, node.ints(shape), strict=True):
        missing = size - x.shape[axis]
        before = missing // 2 if missing >= 0 else -(-missing // 2)
        pairs[axis] = (before, missing - before)
    return x.pad(tuple(pairs))


# ---- blocks of images -------------------------------------------------------------------------


@operator("DepthToSpace")
def depth_to_space(node: Node, x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Channels to blocks of pixels; a channel's number begins with the block (DCR), or ends with
    it (CRD).
    """
    n, c, h, w = x.shape
    b = blocksize
    if mode == "CRD":
        blocks = x.reshape((n, c // (b * b), b, b, h, w)).permute(0, 1, 4, 2, 5, 3)
    else:
        blocks = x.reshape((n, b, b, c // (b * b), h, w)).permute(0, 3, 4, 1, 5, 2)
    return blocks.reshape((n, c // (b * b), h * b, w * b))


@operator("SpaceToDepth")
def space_to_depth(node: Node, x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Blocks of pixels to channels: the inverse of `depth_to_space`."""
    n, c, h, w = x.shape
    b = blocksize
    blocks = x.reshape((n, c, h // b, b, w // b, b))
    order = (0, 1, 3, 5, 2, 4) if mode == "CRD" else (0, 3, 5, 1, 2, 4)
    return blocks.permute(*order).reshape((n, c * b * b, h // b, w // b))


# ---- shapes and constants ---------------------------------------------------------------------


@operator("Shape")
def shape_of(node: Node, x: Tensor, *, start: int = 0, end: int | None = None) -> np.ndarray:
    """The sizes of the axes from `start` to `end`, on the host."""
    return shape_array(x.shape[start:end])


@operator("Size")
def size_of(node: Node, x: Tensor) -> np.ndarray:
    """The number of elements, on the host."""
    return np.array(math.prod(x.shape), dtype=np.int64)


@operator("ConstantOfShape", since=9, host_inputs=("shape",))
def constant_of_shape(node: Node, shape: np.ndarray, *, value: np.ndarray | None = None) -> Any:
    """One value in every element of a shape; 0.0 of float32 by default."""
    element = node.tensor((np.zeros(1, np.float32) if value is None else value).reshape(()))
    sizes = _sizes(node, shape)
    if isinstance(element, Coded):
        return element.map(lambda codes: codes.expand(sizes))
    return element.expand(sizes)


@operator("Range", since=11, host_inputs=("start", "limit", "delta"))
def range_(
    node: Node, start: np.ndarray, limit: np.ndarray, delta: np.ndarray, *, stash_type: int = 1
) -> Tensor:
    """Numbers from `start` to before `limit`, `delta` apart. Short floats are rounded once."""
    first, last, step = (np.asarray(each).reshape(-1)[0].item() for each in (start, limit, delta))
    if step == 0 or not all(map(math.isfinite, (first, last, step))):
        raise node.refuse(f"there is no range from {first} to {last} by {step}", "a finite delta")
    if start.dtype.kind in "iu":
        count, counted = len(range(first, last, step)), dtypes.int64
    else:
        count = max(math.ceil((last - first) / step), 0)
        counted = dtypes.float64 if start.dtype == np.float64 else dtypes.float32
    places = Tensor.arange(count, device=node.context.device, dtype=dtypes.int64).cast(counted)
    return (places * step + first).cast(to_dtype(start.dtype))


@operator("EyeLike", since=9)
def eye_like(node: Node, x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    """1 on the k-th diagonal, else 0, in the shape of a matrix."""
    kind = x.dtype if dtype is None else to_dtype(ELEMENT_TYPES[dtype])
    rows = Tensor.arange(x.shape[0], device=x.device).unsqueeze(1)
    columns = Tensor.arange(x.shape[1], device=x.device)
    return (columns - rows == k).cast(kind)


@operator("Trilu", since=14, host_inputs=("k",))
def trilu(node: Node, x: Tensor, k: np.ndarray | None = None, *, upper: int = 1) -> Tensor:
    """The upper or the lower triangle of matrices from the k-th diagonal on, else 0."""
    diagonal = 0 if k is None else node.ints(k)[0]
    return x.triu(diagonal) if upper else x.tril(diagonal)
