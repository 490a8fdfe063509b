"""Convolution: a product and a sum over strided views of the windows, in any number of axes.
Also: implicit im2col.

Inputs are (batch, channels, *spatial). Numbers given once hold for every spatial axis. Padding is
one number, one per axis, or (before, after) flat from the last axis on.

Source: S. Chetlur and others, "cuDNN: Efficient Primitives for Deep Learning" (2014): implicit
im2col.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import whole
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.base.promotion import least_upper_dtype, sum_acc_dtype
from weft.base.settings import settings
from weft.tensor.autocast import low_bias, low_operands
from weft.tensor.ops.neural_network.image_operands import drawn
from weft.tensor.ops.neural_network.strided_windows import (
    gradient_of_windows,
    in_steps,
    spread_in_steps,
    windows_of_steps,
)
from weft.tensor.ops.sliding_windows import edges, per_axis, sliding_windows
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike, Axes, DTypeLike


def _pads_of_transpose(
    sizes: Sequence[Any], kernel: Sequence[int], apart: Sequence[int], around: Any, more: Any
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Padding before and after the convolution that computes a transposed one, where the input
    has its zeros between the elements. An axis that would lose more than it has is cut after."""
    before, after = [], []
    for size, k, d, (low, high), extra in zip(sizes, kernel, apart, around, more):
        reach = d * (k - 1)
        pair = (reach - low, reach - high + extra)
        is_short = isinstance(size, int) and size + min(pair[0], 0) + min(pair[1], 0) < 0
        before.append((reach, reach + extra) if is_short else pair)
        after.append((-low, -high) if is_short else (0, 0))
    return tuple(before), tuple(after)


# ---- convolution --------------------------------------------------------------------------


def conv2d(
    self: TensorT, weight: ArrayLike, bias: ArrayLike | None = None, groups: int = 1,
    stride: Axes = 1,
    dilation: Axes = 1, padding: int | Sequence[Any] = 0, dtype: DTypeLike | None = None,
) -> TensorT:  # fmt: skip
    """Convolution: x (N, C, *spatial), weight (O, C / groups, *kernel), bias (O,).

    Products are summed in `sum_acc_dtype`, or in `dtype`, which the result then has.

    :raises ShapeError: if channels, groups and weight do not fit, or the kernel is larger than
        the padded input.

    >>> x = Tensor.arange(16).reshape(1, 1, 4, 4)
    >>> x.conv2d(Tensor.ones(1, 1, 3, 3, dtype=dtypes.int)).tolist()
    [[[[45, 54], [81, 90]]]]
    >>> x.conv2d(Tensor.ones(6, 1, 3, 3), stride=2, padding=1).shape
    (1, 6, 2, 2)
    """
    weight, groups = self._as_tensor(weight, self), whole(groups, "groups", least=1)
    axes = len(weight.shape) - 2
    if axes < 1 or len(self.shape) != axes + 2:
        raise _does_not_fit(self, weight, groups, "both need a batch, channels, and as many axes")
    outputs, inputs, *kernel = weight.shape
    if self.shape[1] != groups * inputs or outputs % groups:
        raise _does_not_fit(self, 
            weight, groups, f"the input has {self.shape[1]} channels, and the weight is for "
            + (f"{inputs}" if groups == 1 else f"{groups} groups of {inputs}")
            if self.shape[1] != groups * inputs
            else f"{outputs} outputs do not divide into {groups} groups"
        )  # fmt: skip
    step = per_axis(stride, axes, "stride")
    apart = per_axis(dilation, axes, "dilation")
    given, weight = low_operands(self, weight)
    if given is not self:
        return given.conv2d(weight, bias, groups, stride, dilation, padding, dtype)
    kind = least_upper_dtype(self._uop.dtype, weight._uop.dtype)
    wide = sum_acc_dtype(kind) if dtype is None else self.cast(dtype)._uop.dtype
    around = ((0, 0), (0, 0), *edges(padding, axes))
    x = self.pad(around)
    if any(d * (k - 1) + 1 > s for s, k, d in zip(x.shape[2:], kernel, apart)):
        raise ShapeError(
            "the kernel is larger than the padded input",
            asked=f"convolution of {self.shape} with {weight.shape}",
            because=f"with padding the input is {x.shape[2:]}, and the kernel {tuple(kernel)}"
            + (f" with dilation {apart}" if max(apart) > 1 else ""),
            try_="more padding, or a smaller kernel",
        )
    if settings.IMAGE:
        x, weight = drawn(self, weight, 1, 1, groups)
        x, inputs = x.pad(around), weight.shape[1]
    if not settings.IMAGE and in_steps(self.shape[2:], kernel, step, apart, around[2:]):
        x = windows_of_steps(self, kernel, step, around[2:])
    else:
        x = sliding_windows(x, tuple(kernel), step, apart)
    batch, _, *rest = x.shape
    out = rest[:axes]
    each = outputs // groups
    x = x.reshape((batch, groups, inputs, 1, *out, *kernel))
    x = x._expanded((batch, groups, inputs, each, *out, *kernel))
    x = x.permute(0, 1, 3, *(4 + i for i in range(axes)), 2, *(4 + axes + i for i in range(axes)))
    w = weight.reshape((1, groups, each, *(1,) * axes, inputs, *kernel))
    summed = tuple(range(-1 - axes, 0))
    y = (x.cast(wide) * w.cast(wide)).sum(summed, dtype=wide)
    y = y.reshape((batch, outputs, *out))
    y = y.cast(kind) if dtype is None and dtypes.is_float(kind) else y
    if bias is None:
        return y
    bias = low_bias(self._as_tensor(bias, self), y)
    return y + bias.reshape((1, outputs, *(1,) * axes))


def _does_not_fit(self: TensorBase, weight: Any, groups: int, because: str) -> ShapeError:
    return ShapeError(
        "input and weight of this convolution do not fit",
        asked=f"convolution of {self.shape} with {weight.shape}"
        + (f" in {groups} groups" if groups > 1 else ""),
        because=because,
        try_="input (N, C, *spatial), weight (O, C / groups, *kernel)",
    )


def image_conv2d(
    self: TensorT, weight: ArrayLike, bias: ArrayLike | None = None, groups: int = 1,
    stride: Axes = 1,
    dilation: Axes = 1, padding: int | Sequence[Any] = 0, dtype: DTypeLike | None = None,
) -> TensorT:  # fmt: skip
    """`conv2d`. What is drawn as images is a matter of the setting IMAGE and the device.

    >>> Tensor.ones(1, 1, 3, 3).image_conv2d(Tensor.ones(1, 1, 2, 2)).tolist()
    [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    return self.conv2d(weight, bias, groups, stride, dilation, padding, dtype)


def conv_transpose2d(
    self: TensorT, weight: ArrayLike, bias: ArrayLike | None = None, groups: int = 1,
    stride: Axes = 1,
    dilation: Axes = 1, padding: int | Sequence[Any] = 0, output_padding: Axes = 0,
) -> TensorT:  # fmt: skip
    """The transpose (gradient) of a convolution: weight is (C, O / groups, *kernel).

    >>> x = Tensor([[[[1, 2], [3, 4]]]])
    >>> x.conv_transpose2d(Tensor.ones(1, 1, 2, 2, dtype=dtypes.int), stride=2).tolist()
    [[[[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]]]]
    """
    weight, groups = self._as_tensor(weight, self), whole(groups, "groups", least=1)
    axes = len(weight.shape) - 2
    if axes < 1 or len(self.shape) != axes + 2:
        raise _does_not_fit(self, weight, groups, "both need a batch, channels, and as many axes")
    inputs, each, *kernel = weight.shape
    if self.shape[1] != inputs or inputs % groups:
        raise _does_not_fit(self, weight, groups, f"the weight is for {inputs} channels")
    step = per_axis(stride, axes, "stride")
    apart = per_axis(dilation, axes, "dilation")
    more = per_axis(output_padding, axes, "output_padding", least=0)
    around = edges(padding, axes)
    for n, k, s, d, m, pair in zip(self.shape[2:], kernel, step, apart, more, around):
        size = (n - 1) * s + d * (k - 1) + 1 + m - sum(pair)
        if isinstance(size, int) and size < 1:
            raise ShapeError(
                "this transposed convolution leaves no element",
                asked=f"transposed convolution of {self.shape} with {weight.shape}",
                because=f"an axis of {n} becomes {size + sum(pair)}, and the padding {pair} is "
                "cut off it",
                try_="less padding, or output_padding",
            )
    given, weight = low_operands(self, weight)
    if given is not self:
        return given.conv_transpose2d(
            weight, bias, groups, stride, dilation, padding, output_padding
        )
    plain = all(isinstance(n, int) and n > 0 for n in (*self.shape, *weight.shape))
    plain = plain and all(min(pair) >= 0 for pair in around)
    if plain and max(step) > 1 and max(apart) == 1:
        y = gradient_of_windows(self, weight, groups, step, around, more)
        if y is None:
            y = spread_in_steps(self, weight, groups, step, around, more)
        if bias is None:
            return y
        bias = low_bias(self._as_tensor(bias, self), y)
        return y + bias.reshape((1, groups * each, *(1,) * axes))
    w = weight.reshape((groups, inputs // groups, each, *kernel)).transpose(1, 2)
    w = w.flip(tuple(range(3, 3 + axes))).reshape((groups * each, inputs // groups, *kernel))
    x = self
    if any(s > 1 for s in step):
        # zeros between the elements
        sizes = x.shape[2:]
        x = x.reshape((*x.shape[:2], *(n for s in sizes for n in (s, 1))))
        x = x.pad((None, None, *(p for s in step for p in (None, (0, s - 1)))))
        x = x.reshape((*x.shape[:2], *(n * s for n, s in zip(sizes, step))))
        x = x.shrink((None, None, *((0, (n - 1) * s + 1) for n, s in zip(sizes, step))))
    pads, cuts = _pads_of_transpose(x.shape[2:], kernel, apart, around, more)
    return x.conv2d(w, bias, groups, 1, dilation, pads).pad(((0, 0), (0, 0), *cuts))
