"""Images: Resize, Upsample, ImageDecoder. Sampling by a grid is in `grid_sampling.py`."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.base.interrupts import let_through
from weft.onnx.graph import Node
from weft.onnx.operators.resizing_weights import (
    COORDINATES,
    NEAREST,
    AxisResize,
    Method,
    nearest_indices,
    neighbours,
    outside,
)
from weft.onnx.registry import operator
from weft.tensor import Tensor

_FEW = 4  # neighbours; more are summed by a matrix product


@operator("Upsample", since=7)
def upsample_7(node: Node, x: Tensor, *, scales: Sequence[float], mode: str = "nearest") -> Tensor:
    """Resize by factors that are an attribute."""
    return resize_10(node, x, np.asarray(scales, np.float32), mode=mode)


@operator("Upsample", since=9, host_inputs=("scales",))
@operator("Resize", since=10, host_inputs=("scales",))
def resize_10(node: Node, x: Tensor, scales: Any, *, mode: str = "nearest") -> Tensor:
    """Resize by factors; position i of the output is at i / scale."""
    mode = "linear" if mode == "bilinear" else mode
    method = Method(_one_of(node, "mode", mode, ("nearest", "linear")), "asymmetric", "simple")
    return _resized(node, x, _by_scales(node, x, scales, range(x.ndim), None), method, 0.0)


@operator("Resize", since=11, host_inputs=("roi", "scales", "sizes"))
def resize(
    node: Node, x: Tensor, roi: Any = None, scales: Any = None, sizes: Any = None, *,
    antialias: int = 0, axes: Sequence[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel", cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0, extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch", mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Tensor:  # fmt: skip
    """Resize `axes` by nearest, linear or cubic interpolation.

    Integers are rounded, and clamped to their range.

    :param roi: the region that is resized, with the coordinates "tf_crop_and_resize".
    :param keep_aspect_ratio_policy: how `sizes` are changed to keep the ratio of the axes.
    """
    method = Method(
        _one_of(node, "mode", mode, ("nearest", "linear", "cubic")),
        _one_of(
            node, "coordinate_transformation_mode", coordinate_transformation_mode, COORDINATES
        ),
        _one_of(node, "nearest_mode", nearest_mode, NEAREST),
        cubic_coeff_a, bool(exclude_outside), bool(antialias),
    )  # fmt: skip
    where = range(x.ndim) if axes is None else [axis % x.ndim for axis in axes]
    region = roi if method.coordinates == "tf_crop_and_resize" else None
    if sizes is not None and sizes.size:
        found = _by_sizes(node, x, sizes, where, region, keep_aspect_ratio_policy)
    else:
        found = _by_scales(node, x, scales, where, region)
    return _resized(node, x, found, method, extrapolation_value)


@operator("ImageDecoder", since=20, host_inputs=("encoded_stream",))
def image_decoder(node: Node, encoded_stream: Any, *, pixel_format: str = "RGB") -> np.ndarray:
    """Decode an image file to (height, width, channels); an empty array if that fails.

    :raises OnnxError: if the package Pillow is not installed.
    """
    _one_of(node, "pixel_format", pixel_format, ("RGB", "BGR", "Grayscale"))
    try:
        from PIL import Image
    except ImportError as error:
        raise node.refuse(
            "the package Pillow, which decodes images, is not installed", "pip install pillow"
        ) from error
    try:
        image = Image.open(io.BytesIO(encoded_stream.tobytes()))
        pixels = np.asarray(image.convert("L" if pixel_format == "Grayscale" else "RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        let_through(error)
        return np.zeros((0, 0, 1 if pixel_format == "Grayscale" else 3), np.uint8)
    if pixel_format == "Grayscale":
        return pixels[..., None]
    return np.ascontiguousarray(pixels[..., ::-1]) if pixel_format == "BGR" else pixels


def _one_of(node: Node, name: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise node.refuse(f"{name} is {value!r}", f"one of {', '.join(known)}")
    return value


def _by_scales(
    node: Node, x: Tensor, scales: Any, axes: Sequence[int], roi: Any
) -> dict[int, AxisResize]:
    factors = [] if scales is None else [float(each) for each in scales.reshape(-1)]
    if len(factors) != len(axes) or any(not 0 < each < math.inf for each in factors):
        raise node.refuse(
            f"the scales are {factors}, for {len(axes)} axes", "a positive number for each axis"
        )
    regions = _regions(node, roi, len(axes))
    return {
        axis: AxisResize(size, math.floor(size * factor), factor, *region)
        for axis, size, factor, region in zip(
            axes, _sizes(node, x, axes, factors), factors, regions, strict=True
        )
    }


def _by_sizes(
    node: Node, x: Tensor, sizes: Any, axes: Sequence[int], roi: Any, policy: str
) -> dict[int, AxisResize]:
    _one_of(node, "keep_aspect_ratio_policy", policy, ("stretch", "not_larger", "not_smaller"))
    wanted = list(node.ints(sizes))
    if len(wanted) != len(axes) or min(wanted, default=0) < 0:
        raise node.refuse(
            f"the sizes are {wanted}, for {len(axes)} axes", "a number for each axis, 0 or more"
        )
    given = _sizes(node, x, axes, [1.0 if x.shape[a] is n else 0.0 for a, n in zip(axes, wanted)])
    if 0 in given:
        raise node.refuse(f"the input has the shape {x.shape}", "an input with elements")
    factors = [new / old for new, old in zip(wanted, given, strict=True)]
    if policy != "stretch":
        factor = min(factors) if policy == "not_larger" else max(factors)
        factors = [factor] * len(axes)
        wanted = [math.floor(factor * old + 0.5) for old in given]
    regions = _regions(node, roi, len(axes))
    return {
        axis: AxisResize(old, new, factor, *region)
        for axis, old, new, factor, region in zip(
            axes, given, wanted, factors, regions, strict=True
        )
    }


def _sizes(node: Node, x: Tensor, axes: Sequence[int], factors: Sequence[float]) -> list[int]:
    """The sizes of the axes. A symbolic one that is not resized counts as 1."""
    sizes: list[int] = []
    for axis, factor in zip(axes, factors, strict=True):
        size = x.shape[axis]
        if not isinstance(size, int):
            if factor != 1:
                raise node.refuse(
                    f"axis {axis} has a symbolic size, {size}, and is resized",
                    "call the model with a fixed size of this axis",
                )
            size = 1
        sizes.append(size)
    return sizes


def _regions(node: Node, roi: Any, axes: int) -> list[tuple[float, float]]:
    if roi is None or not roi.size:
        return [(0.0, 1.0)] * axes
    if roi.size != 2 * axes:
        raise node.refuse(
            f"roi has {roi.size} elements for {axes} axes", "all starts, then all ends"
        )
    flat = [float(each) for each in roi.reshape(-1)]
    return list(zip(flat[:axes], flat[axes:], strict=True))


def _resized(
    node: Node, x: Tensor, axes: dict[int, AxisResize], method: Method, beyond: float
) -> Tensor:
    changed = {axis: each for axis, each in axes.items() if not each.is_identity}
    if method.mode == "nearest":
        y = x
        for axis, each in changed.items():
            y = _indexed(node, y, axis, nearest_indices(each, method))
            y = _beyond(node, y, axis, each, method, beyond)
        return y
    y = x.cast(dtypes.float64 if x.dtype is dtypes.float64 else dtypes.float32)
    for axis, each in changed.items():
        y = _interpolated(node, y, axis, *neighbours(each, method))
        y = _beyond(node, y, axis, each, method, beyond)
    if dtypes.is_int(x.dtype):
        y = y.round().clamp(x.dtype.min, x.dtype.max)
    return y.cast(x.dtype)


def _indexed(node: Node, x: Tensor, axis: int, indices: np.ndarray) -> Tensor:
    """Elements of an axis. Evenly repeated ones need no table of indices."""
    size = x.shape[axis]
    repeats = len(indices) // size if size else 0
    if repeats and np.array_equal(indices, np.arange(size * repeats) // repeats):
        return x.repeat_interleave(repeats, axis)
    places = node.tensor(indices.astype(np.int32))
    return x.index_select(axis, places)


def _interpolated(
    node: Node, x: Tensor, axis: int, indices: np.ndarray, weights: np.ndarray
) -> Tensor:
    """Weighted sums of the neighbours along an axis."""
    count, size = indices.shape[1], x.shape[axis]
    if count > _FEW:
        matrix = np.zeros((len(indices), size))
        np.add.at(matrix, (np.arange(len(indices))[:, None], indices), weights)
        table = node.tensor(matrix).cast(x.dtype)
        return (x.movedim(axis, -1) @ table.T).movedim(-1, axis)
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    terms = [
        x.index_select(axis, node.tensor(indices[:, each].astype(np.int32)))
        * node.tensor(weights[:, each].copy()).cast(x.dtype).reshape(*shape)
        for each in range(count)
    ]
    total = reduce(lambda one, other: one + other, terms)
    # Later axes read each value several times.
    return total.contiguous() if count > 2 else total


def _beyond(
    node: Node, x: Tensor, axis: int, each: AxisResize, method: Method, value: float
) -> Tensor:
    """The extrapolation value where a region leaves the input."""
    if method.coordinates != "tf_crop_and_resize":
        return x
    mask = outside(each)
    if not mask.any():
        return x
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    return node.tensor(mask.reshape(shape)).where(value, x)
