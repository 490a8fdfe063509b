"""Images resized by interpolation: nearest, linear and cubic, averages of areas, antialiasing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.base.arguments import real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.nn.functional import pooling
from weft.nn.functional.dimensions import Sizes, per_axis
from weft.nn.functional.point_sampling import cubic_weights
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor
from weft.tensor.ops.neural_network.resizing import resized_axis

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_KINDS = {
    "nearest": "nearest", "nearest-exact": "nearest-exact", "linear": "linear",
    "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic", "area": "area",
}  # fmt: skip
_AXES = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
_CUBIC, _CUBIC_ANTIALIAS = -0.75, -0.5  # the free coefficient of the kernel, as in PyTorch


def interpolate(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """The spatial axes (all from axis 2 on) resized to `size`, or by `scale_factor`.

    mode: "nearest", "nearest-exact", "area"; "linear", "bilinear" or "trilinear" for 1, 2 or 3
    axes, "bicubic" for 2. Positions step by 1 / scale_factor, or with recompute_scale_factor by
    the ratio of the sizes. antialias: widen the kernel where "bilinear" or "bicubic" reduce a size.
    :raises ArgumentError: for other modes, and unless one of size and scale_factor is given.

    >>> nn.functional.interpolate(Tensor([[[0.0, 2.0]]]), scale_factor=2).tolist()
    [[[0.0, 0.0, 2.0, 2.0]]]
    """
    x = tensor_of(input, "interpolate")
    axes = x.ndim - 2
    _check(x, size, scale_factor, mode, align_corners, antialias)
    steps: tuple[float | None, ...] = (None,) * axes
    if size is not None:
        sizes = per_axis(size, axes, "size")
    else:
        factors = _factors(scale_factor, axes)
        sizes = tuple(math.floor(n * f) for n, f in zip(x.shape[2:], factors, strict=True))
        if not recompute_scale_factor and not align_corners:
            steps = tuple(
                None if n * f == new else 1 / f
                for n, f, new in zip(x.shape[2:], factors, sizes, strict=True)
            )
    return resized(x, sizes, steps, _KINDS[mode], bool(align_corners), antialias)


def resized(
    x: Tensor, sizes: Sequence[int], steps: Sequence[float | None], kind: str,
    align_corners: bool = False, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """The axes from axis 2 on resized by one kind of interpolation, the last axis first.

    :param steps: elements of the input for one of the output; None: the ratio of the sizes.
    :param kind: "nearest", "nearest-exact", "linear", "cubic" or "area".
    """
    if kind == "area":
        average = (
            pooling.adaptive_avg_pool1d, pooling.adaptive_avg_pool2d, pooling.adaptive_avg_pool3d,
        )  # fmt: skip
        return average[len(sizes) - 1](x, tuple(sizes))
    if kind != "cubic" and not antialias:
        if all(step is None for step in steps):
            return x.interpolate(tuple(sizes), kind, align_corners)
        for axis in reversed(range(len(sizes))):
            back = axis - len(sizes)
            x = resized_axis(x, back, sizes[axis], kind, align_corners, steps[axis])
        return x
    wide = x.cast(dtypes.float64 if x.dtype is dtypes.float64 else dtypes.float32)
    for axis in reversed(range(len(sizes))):
        step = _step(x.shape[axis + 2], sizes[axis], steps[axis], align_corners)
        if antialias:
            wide = _filtered(wide, axis + 2, sizes[axis], step, kind)
        else:
            wide = _cubic(wide, axis + 2, sizes[axis], step, align_corners)
    if dtypes.is_int(x.dtype):
        wide = wide.round().clamp(x.dtype.min, x.dtype.max)
    return wide.cast(x.dtype)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """`interpolate` under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with the mode "nearest"."""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with the mode "bilinear" and aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def _check(
    x: Tensor, size: Any, scale_factor: Any, mode: Any, align_corners: Any, antialias: bool
) -> None:
    axes = x.ndim - 2
    known = mode in _KINDS and 1 <= axes <= 3 and _AXES.get(mode, axes) == axes
    smooth = mode in _AXES
    if known and (size is None) != (scale_factor is None):
        if (smooth or not align_corners) and (mode in ("bilinear", "bicubic") or not antialias):
            return
    fitting = [repr(each) for each in _KINDS if _AXES.get(each, axes) == axes]
    raise ArgumentError(
        "this cannot be interpolated",
        asked=f"interpolate of {x.shape}, size={shown(size)}, scale_factor={shown(scale_factor)}, "
        f"mode={shown(mode)}, align_corners={shown(align_corners)}, antialias={shown(antialias)}",
        because=f"one of size and scale_factor is given, and the mode is {', '.join(fitting)} for "
        f"{axes} spatial axes; align_corners is for the linear and cubic modes, antialias for "
        "'bilinear' and 'bicubic'",
    )


def _factors(scale_factor: Any, axes: int) -> list[float]:
    given = scale_factor if isinstance(scale_factor, Sequence) else (scale_factor,) * axes
    factors = [float(real(factor, "scale_factor")) for factor in given]
    if len(factors) != axes or min(factors) <= 0:
        raise ArgumentError(
            "scale_factor needs one number above 0, or one per spatial axis",
            asked=f"scale_factor={shown(scale_factor)} for {axes} spatial axes",
        )
    return factors


def _step(old: int, new: int, step: float | None, align_corners: bool) -> float:
    """Elements of the input for one of the output."""
    if align_corners:
        return (old - 1) / (new - 1) if new > 1 else 0.0
    return old / new if step is None else step


def _cubic(x: Tensor, axis: int, new: int, step: float, align_corners: bool) -> Tensor:
    """One axis resized by cubic convolution (Keys, 1981)."""
    half, old = (0.0 if align_corners else 0.5), x.shape[axis]
    place = (Tensor.arange(new, device=x.device).cast(x.dtype) + half) * step - half
    before = place.floor()
    shape = tuple(new if i == axis else 1 for i in range(x.ndim))
    terms = []
    for offset, weight in enumerate(cubic_weights(place - before, _CUBIC), -1):
        index = (before.cast(dtypes.int32) + offset).clamp(0, old - 1)
        terms.append(x.index_select(axis, index) * weight.reshape(shape))
    first, second, third, last = terms
    return (first + second + third + last).contiguous()  # the other axis reads it four times


def _filtered(x: Tensor, axis: int, new: int, step: float, kind: str) -> Tensor:
    """One axis multiplied by the matrix of a kernel that is as wide as the step."""
    width = max(step, 1.0)
    centre = (Tensor.arange(new, device=x.device).cast(x.dtype) + 0.5) * step
    place = Tensor.arange(x.shape[axis], device=x.device).cast(x.dtype) + 0.5
    apart = (place - centre.unsqueeze(1)).abs() / width
    if kind == "linear":
        weights = (1 - apart).clamp(0)
    else:
        inner = cubic_weights(apart, _CUBIC_ANTIALIAS)[1]
        outer = cubic_weights(apart - 1, _CUBIC_ANTIALIAS)[0]
        weights = (apart <= 1).where(inner, (apart < 2).where(outer, 0))
    weights = (weights / weights.sum(1, keepdim=True)).contiguous()
    return (x.movedim(axis, -1) @ weights.transpose(0, 1)).movedim(-1, axis)
