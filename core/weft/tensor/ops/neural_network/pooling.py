"""Pooling: the maximum or the average of each window of the last axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from weft.base.arguments import whole
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.base.intmath import ceildiv
from weft.base.promotion import least_upper_float, sum_acc_dtype
from weft.base.sequences import prod
from weft.tensor.ops.neural_network.strided_windows import in_steps, windows_of_steps
from weft.tensor.ops.sliding_windows import edges, kernel_of, per_axis, sliding_windows
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike, Axes
from weft.uop import sint
from weft.uop.symbolic.quotient_bounds import least_value
from weft.uop.symbolic.sint import fold, smax

# ---- pooling to a size --------------------------------------------------------------------


def adaptive_avg_pool2d(self: TensorT, output_size: int | Sequence[int | None]) -> TensorT:
    """Averages over windows that cut the last axes into so many parts: a number for two axes,
    or one for each; None keeps an axis.

    >>> Tensor([[[1.0, 2.0, 3.0, 4.0]]]).adaptive_avg_pool2d((1, 2)).tolist()
    [[[1.5, 3.5]]]
    """
    own = least_upper_float(self._uop.dtype)
    x = self.cast(sum_acc_dtype(own))
    for axis, parts in _targets(self, output_size):
        spread, counts = _adaptive_windows(x, axis, parts, 0)
        x = (spread.sum(-1) / counts.cast(x._uop.dtype)).movedim(-1, axis)
    return x.cast(own)


def adaptive_max_pool2d(self: TensorT, output_size: int | Sequence[int | None]) -> TensorT:
    """Maxima over windows that cut the last axes into so many parts.

    >>> Tensor([[[1, 2, 3, 4]]]).adaptive_max_pool2d((1, 2)).tolist()
    [[[2, 4]]]
    """
    x = self
    for axis, parts in _targets(self, output_size):
        spread, _ = _adaptive_windows(x, axis, parts, x._uop.dtype.min)
        x = spread.max(-1).movedim(-1, axis)
    return x


def _targets(self: TensorBase, output_size: Any) -> list[tuple[int, int]]:
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * 2
    sizes = [None if s is None else whole(s, "output_size") for s in given]
    if len(sizes) > len(self.shape) or any(s is not None and s < 0 for s in sizes):
        raise ShapeError(
            "pooling to a size needs an axis for each number",
            asked=f"a size of {output_size!r} for shape {self.shape}",
        )
    axes = range(len(self.shape) - len(sizes), len(self.shape))
    return [(axis, s) for axis, s in zip(axes, sizes) if s is not None]


def _adaptive_windows(self: TensorBase, axis: int, parts: int, rest: Any) -> tuple[Any, Any]:
    """Each window of an axis along a new last axis but one, `rest` beside it; their lengths."""
    size = self.shape[axis]
    place = self.__class__.arange(size, device=self.device)
    part = self.__class__.arange(parts, device=self.device).unsqueeze(-1)
    # window i is from i n // parts to (i + 1) n / parts, rounded up
    inside = (place >= part * size // parts) & (place < -(-(part + 1) * size // parts))
    spread = inside.where(self.movedim(axis, -1).unsqueeze(-2), rest)
    return spread, inside.sum(-1, dtype=dtypes.int32)


# ---- pooling ------------------------------------------------------------------------------


def _pool_plan(
    self: TensorBase, kernel_size: Any, stride: Any, dilation: Any, padding: Any, ceil_mode: bool
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[tuple[sint, sint], ...]]:
    """Kernel, step, dilation, and padding with what `ceil_mode` adds after each axis."""
    kernel = kernel_of(kernel_size)
    axes = len(kernel)
    if len(self.shape) < axes:
        raise ShapeError(
            f"pooling over {axes} axes", asked=f"pooling of shape {self.shape} by {kernel}"
        )
    step = kernel if stride is None else per_axis(stride, axes, "stride")
    apart = per_axis(dilation, axes, "dilation")
    pads = []
    for s, k, st, d, (before, after) in zip(
        self.shape[-axes:], kernel, step, apart, edges(padding, axes)
    ):
        span = s + before + after - d * (k - 1) - 1
        if (ceildiv(span, st) if ceil_mode else span) < 0:
            raise ShapeError(
                "the window is larger than the padded input",
                asked=f"pooling of shape {self.shape} by {kernel}",
                because=f"an axis of {s} is padded to {s + before + after}, and the window "
                f"takes {d * (k - 1) + 1}",
                try_="a smaller kernel_size, or more padding",
            )
        if ceil_mode:
            start = fold(ceildiv(span, st) * st)  # of the last window
            is_outside = least_value(fold(s + before - 1 - start)) < 0 and start >= s + before
            if is_outside:  # it may not begin in the padding behind
                start = fold(start - st)
            more = fold(start - span)
            after = fold(after + (more if least_value(more) >= 0 else smax(more, 0)))
        pads.append((before, after))
    return kernel, step, apart, tuple(pads)


def avg_pool2d(
    self: TensorT, kernel_size: Axes = (2, 2), stride: Axes | None = None, dilation: Axes = 1,
    padding: int | Sequence[Any] = 0, ceil_mode: bool = False, count_include_pad: bool = True,
) -> TensorT:  # fmt: skip
    """Average of each window of the last axes; stride None is the kernel's size.

    >>> Tensor.arange(16.0).reshape(1, 1, 4, 4).avg_pool2d().tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    >>> Tensor.ones(1, 1, 5, 5).avg_pool2d(kernel_size=3, stride=1, padding=1).shape
    (1, 1, 5, 5)
    """
    kernel, step, apart, pads = _pool_plan(self, kernel_size, stride, dilation, padding, ceil_mode)
    axes = len(kernel)
    last = tuple(range(-axes, 0))
    front = tuple(None for _ in self.shape[:-axes])

    # short floats are divided before they are rounded: their sums may be too large for them
    own = least_upper_float(self._uop.dtype)
    wide = self.cast(sum_acc_dtype(self._uop.dtype))

    def sums(x: Any, around: Any) -> Any:
        return sliding_windows(x.pad((*front, *around)), kernel, step, apart).sum(
            last, dtype=x.dtype
        )

    asked = edges(padding, axes)
    if pads == asked and count_include_pad:
        return (sums(wide, pads) / float(prod(kernel))).cast(own)
    ones = wide.ones_like(requires_grad=False)
    if not count_include_pad:
        return (sums(wide, pads) / sums(ones, pads)).cast(own)
    # explicit padding counts, that of ceil_mode does not
    ones = ones.pad((*front, *asked), value=1)
    beyond = tuple((0, b[1] - a[1]) for a, b in zip(asked, pads))
    return (sums(wide, pads) / sums(ones, beyond)).cast(own)


@overload
def max_pool2d(
    self: TensorT, kernel_size: Axes = (2, 2), stride: Axes | None = None, dilation: Axes = 1,
    padding: int | Sequence[Any] = 0, ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> TensorT: ...  # fmt: skip
@overload
def max_pool2d(
    self: TensorT, kernel_size: Axes = (2, 2), stride: Axes | None = None, dilation: Axes = 1,
    padding: int | Sequence[Any] = 0, ceil_mode: bool = False, *, return_indices: Literal[True],
) -> tuple[TensorT, TensorT]: ...  # fmt: skip
@overload
def max_pool2d(
    self: TensorT, kernel_size: Axes = (2, 2), stride: Axes | None = None, dilation: Axes = 1,
    padding: int | Sequence[Any] = 0, ceil_mode: bool = False, return_indices: bool = False,
) -> TensorT | tuple[TensorT, TensorT]: ...  # fmt: skip
def max_pool2d(
    self: TensorT, kernel_size: Axes = (2, 2), stride: Axes | None = None, dilation: Axes = 1,
    padding: int | Sequence[Any] = 0, ceil_mode: bool = False, return_indices: bool = False,
) -> TensorT | tuple[TensorT, TensorT]:  # fmt: skip
    """Maximum of each window of the last axes; with `return_indices` also its position, as an
    int32 index into the flattened spatial axes (the first of equals).

    >>> x = Tensor.arange(16).reshape(1, 1, 4, 4)
    >>> x.max_pool2d().tolist()
    [[[[5, 7], [13, 15]]]]
    >>> x.max_pool2d(return_indices=True)[1].tolist()
    [[[[5, 7], [13, 15]]]]
    """
    kernel, step, apart, pads = _pool_plan(self, kernel_size, stride, dilation, padding, ceil_mode)
    axes = len(kernel)
    last = tuple(range(-axes, 0))
    front = tuple(None for _ in self.shape[:-axes])
    low = self._uop.dtype.min
    padded, none = self.pad((*front, *pads), value=low), ((0, 0),) * axes
    if in_steps(padded.shape[-axes:], kernel, step, apart, none):
        windows = windows_of_steps(padded, kernel, step, none)
    else:
        windows = sliding_windows(padded, kernel, step, apart)
    top = windows.max(last)
    if not return_indices:
        return top
    spatial = self.shape[-axes:]
    count = prod(spatial)
    # counted down, so that the largest of the hits is the first; padding counts 0
    places = self.__class__.arange(count, 0, -1, device=self.device).reshape(spatial)
    places = sliding_windows(places.pad(pads), kernel, step, apart)
    hits = windows == top.reshape((*top.shape, *(1,) * axes))
    if dtypes.is_float(self._uop.dtype):
        hits = hits | windows.isnan()
    return top, count - hits.where(places, 0).max(last)


def max_unpool2d(
    self: TensorT, indices: ArrayLike, kernel_size: Axes = (2, 2), stride: Axes | None = None,
    dilation: Axes = 1, padding: Axes = 0, output_size: Sequence[int] | None = None,
) -> TensorT:  # fmt: skip
    """Pooled values scattered to where `max_pool2d` found them, zeros elsewhere.

    >>> pooled, places = Tensor([[[[1, 2], [4, 3]]]]).max_pool2d(return_indices=True)
    >>> pooled.max_unpool2d(places).tolist()
    [[[[0, 0], [4, 0]]]]
    """
    kernel, indices = kernel_of(kernel_size), self._as_tensor(indices, self)
    axes = len(kernel)
    if len(self.shape) < axes or indices.shape != self.shape:
        raise ShapeError(
            "there is an index for every pooled value",
            asked=f"max_unpool2d of shape {self.shape} with indices of {indices.shape}",
            try_="values, indices = x.max_pool2d(return_indices=True)",
        )
    step = kernel if stride is None else per_axis(stride, axes, "stride")
    apart = per_axis(dilation, axes, "dilation")
    front = self.shape[:-axes]
    if output_size is None:
        spatial = tuple(
            (o - 1) * st + d * (k - 1) + 1 - b - a
            for o, k, st, d, (b, a) in zip(
                self.shape[-axes:], kernel, step, apart, edges(padding, axes)
            )
        )
    else:
        given = tuple(output_size) if isinstance(output_size, (tuple, list)) else ()
        spatial = per_axis(given[-axes:], axes, "output_size", least=0)
    count, pooled = prod(spatial), prod(self.shape[-axes:])
    values, places = (x.reshape((*front, pooled)) for x in (self, indices))
    if 0 in values.shape:
        return values.sum(dtype=values.dtype)._expanded((*front, *spatial))  # zeros
    base = values.zeros_like()[..., :1]._expanded((*front, count))
    return base.scatter(-1, places, values).reshape((*front, *spatial))
