"""Convolution and pooling over any number of spatial axes, as views: windows are strides.

Inputs are (batch, channels, *spatial). Numbers given once hold for every spatial axis. Padding is
one number, one per axis, or (before, after) flat from the last axis on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from weft.autograd import AGAIN
from weft.base.arguments import choice, index_of, shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.intmath import ceildiv
from weft.base.promotion import least_upper_dtype, least_upper_float, sum_acc_dtype
from weft.base.sequences import prod
from weft.base.settings import settings
from weft.tensor.autocast import low_bias, low_operands
from weft.tensor.ops.neural_network.image_operands import drawn
from weft.tensor.ops.neural_network.strided_windows import (
    gradient_of_windows,
    in_steps,
    spread_in_steps,
    windows_of_steps,
)
from weft.tensor.ops.transcendental import sloped_value
from weft.tensor.protocol import TensorBase
from weft.tensor.types import ArrayLike, Axes, DTypeLike
from weft.uop import UOp
from weft.uop.symbolic.sint import fold


def per_axis(value: Any, axes: int, what: str, least: int = 1) -> tuple[int, ...]:
    """One number for every axis. :raises ArgumentError: for another number of them, or less."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(given) != axes:
        raise ArgumentError(
            f"{what} has a number for each of {axes} spatial axes",
            asked=f"{what}={shown(value)}",
            because=f"these are {len(given)}",
            try_=f"one whole number for all of them, or {axes}; and say which argument is which",
        )
    return tuple(whole(each, what, least) for each in given)


def kernel_of(kernel_size: Any) -> tuple[int, ...]:
    """The window's size along each axis: an int is that of two. Raises ArgumentError."""
    axes = len(kernel_size) if isinstance(kernel_size, (tuple, list)) else 2
    if axes == 0:
        raise ArgumentError("a window has at least one axis", asked="kernel_size=()")
    return per_axis(kernel_size, axes, "kernel_size")


def edges(padding: Any, axes: int) -> tuple[tuple[int, int], ...]:
    """(before, after) for every axis. :raises ArgumentError: for another number of them."""
    number = index_of(padding)
    if number is not None:
        return ((number, number),) * axes
    given = tuple(padding) if isinstance(padding, (tuple, list)) else ()
    numbers = [index_of(p) for p in given]
    if None not in numbers and len(given) == axes:
        return tuple((p, p) for p in numbers)
    if None not in numbers and len(given) == 2 * axes:
        return tuple(zip(numbers[::2], numbers[1::2]))[::-1]
    pairs = [tuple(map(index_of, p)) for p in given if isinstance(p, (tuple, list))]
    if len(pairs) == len(given) == axes and all(len(p) == 2 and None not in p for p in pairs):
        return tuple(pairs)
    raise ArgumentError(
        f"padding has one or two whole numbers for each of {axes} spatial axes",
        asked=f"padding={shown(padding)}",
        try_="1, (1, 2) for each axis, or ((1, 1), (2, 2)) for before and after each",
    )


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


class ConvMixin(TensorBase):
    """Methods over windows."""

    __slots__ = ()

    def _pool(
        self, size: tuple[int, ...], step: tuple[int, ...], dilation: tuple[int, ...]
    ) -> Self:
        """Windows of the last axes: (..., *spatial) -> (..., *windows, *size), nothing copied.

        window o, place k is x[o * step + k * dilation].
        """
        axes = len(size)
        front = self.shape[: len(self.shape) - axes]
        x = self
        for axis in range(axes):
            x = x._windows(len(front) + axis, size[axis], step[axis], dilation[axis])
        return x

    def _windows(self, axis: int, size: int, step: int, dilation: int) -> Self:
        """One axis becomes its windows; their places go to the end of the shape."""
        shape = self.shape
        length = shape[axis]
        count = fold((length - dilation * (size - 1) - 1) // step + 1)
        rank = len(shape)

        def only(pair: tuple[int, int]) -> tuple[Any, ...]:
            return tuple(pair if i == axis else None for i in range(rank))

        def split(x: Any, *sizes: int) -> Any:
            return x.reshape((*shape[:axis], *sizes, *shape[axis + 1 :]))

        if dilation == 1 and size <= step:
            # windows do not meet: rows of `step`, of which the first `size` are looked at
            whole = count * step
            x = (
                self.pad(only((0, whole - length)))
                if whole > length
                else self.shrink(only((0, whole)))
            )
            x = split(x, count, step)
            x = x.shrink(tuple((0, size) if i == axis + 1 else None for i in range(rank + 1)))
            order = [i for i in range(rank + 1) if i != axis + 1]
            return x.permute(*order, axis + 1)
        if isinstance(length, UOp):
            return self._windows_one_by_one(axis, size, step, dilation, count)
        # In rows of `row` elements cut from a repetition of x, each row starts `dilation` later.
        rounds = max(ceildiv(count * step - dilation, length), 1)
        row = length * rounds + dilation
        # Nothing looks behind the last window of the last row: filled up there, not repeated, the
        # gradient has no more terms than places.
        repeats = ceildiv((size - 1) * row + (count - 1) * step + 1, length)
        have, whole = min(repeats * length, size * row), size * row
        x = split(self, 1, length)
        x = x._expanded((*shape[:axis], repeats, length, *shape[axis + 1 :]))
        x = split(x, repeats * length).shrink(only((0, have))).pad(only((0, whole - have)))
        x = split(x, size, row)
        x = x.shrink(tuple((0, count * step) if i == axis + 1 else None for i in range(rank + 1)))
        if step > 1:
            x = split(x, size, count, step)
            x = x.shrink(tuple((0, 1) if i == axis + 2 else None for i in range(rank + 2)))
            x = split(x, size, count)
        order = [i for i in range(rank + 1) if i != axis]
        return x.permute(*order, axis)

    def _windows_one_by_one(
        self, axis: int, size: int, step: int, dilation: int, count: Any
    ) -> Any:
        """The same for an axis whose length is a variable: each place of the windows by itself."""
        shape = self.shape
        reach = fold(count * step)

        def only(pair: tuple[Any, Any]) -> tuple[Any, ...]:
            return tuple(pair if i == axis else None for i in range(len(shape)))

        x = self.pad(only((0, step - 1)))
        places = []
        for at in range(0, size * dilation, dilation):
            place = x.shrink(only((at, fold(reach + at))))
            if step > 1:
                place = place.reshape((*shape[:axis], count, step, *shape[axis + 1 :]))
                window = (None if i != axis + 1 else (0, 1) for i in range(len(shape) + 1))
                place = place.shrink(tuple(window))
            places.append(place.reshape((*shape[:axis], count, *shape[axis + 1 :], 1)))
        return places[0].cat(*places[1:], dim=-1)

    # ---- convolution --------------------------------------------------------------------------

    def conv2d(
        self, weight: ArrayLike, bias: ArrayLike | None = None, groups: int = 1, stride: Axes = 1,
        dilation: Axes = 1, padding: int | Sequence[Any] = 0, dtype: DTypeLike | None = None,
    ) -> Self:  # fmt: skip
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
            raise self._does_not_fit(
                weight, groups, "both need a batch, channels, and as many axes"
            )
        outputs, inputs, *kernel = weight.shape
        if self.shape[1] != groups * inputs or outputs % groups:
            raise self._does_not_fit(
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
            x = x._pool(tuple(kernel), step, apart)
        batch, _, *rest = x.shape
        out = rest[:axes]
        each = outputs // groups
        x = x.reshape((batch, groups, inputs, 1, *out, *kernel))
        x = x._expanded((batch, groups, inputs, each, *out, *kernel))
        x = x.permute(
            0, 1, 3, *(4 + i for i in range(axes)), 2, *(4 + axes + i for i in range(axes))
        )
        w = weight.reshape((1, groups, each, *(1,) * axes, inputs, *kernel))
        summed = tuple(range(-1 - axes, 0))
        y = (x.cast(wide) * w.cast(wide)).sum(summed, dtype=wide)
        y = y.reshape((batch, outputs, *out))
        y = y.cast(kind) if dtype is None and dtypes.is_float(kind) else y
        if bias is None:
            return y
        bias = low_bias(self._as_tensor(bias, self), y)
        return y + bias.reshape((1, outputs, *(1,) * axes))

    def _does_not_fit(self, weight: Any, groups: int, because: str) -> ShapeError:
        return ShapeError(
            "input and weight of this convolution do not fit",
            asked=f"convolution of {self.shape} with {weight.shape}"
            + (f" in {groups} groups" if groups > 1 else ""),
            because=because,
            try_="input (N, C, *spatial), weight (O, C / groups, *kernel)",
        )

    def image_conv2d(
        self, weight: ArrayLike, bias: ArrayLike | None = None, groups: int = 1, stride: Axes = 1,
        dilation: Axes = 1, padding: int | Sequence[Any] = 0, dtype: DTypeLike | None = None,
    ) -> Self:  # fmt: skip
        """`conv2d`. What is drawn as images is a matter of the setting IMAGE and the device.

        >>> Tensor.ones(1, 1, 3, 3).image_conv2d(Tensor.ones(1, 1, 2, 2)).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
        """
        return self.conv2d(weight, bias, groups, stride, dilation, padding, dtype)

    def conv_transpose2d(
        self, weight: ArrayLike, bias: ArrayLike | None = None, groups: int = 1, stride: Axes = 1,
        dilation: Axes = 1, padding: int | Sequence[Any] = 0, output_padding: Axes = 0,
    ) -> Self:  # fmt: skip
        """The transpose (gradient) of a convolution: weight is (C, O / groups, *kernel).

        >>> x = Tensor([[[[1, 2], [3, 4]]]])
        >>> x.conv_transpose2d(Tensor.ones(1, 1, 2, 2, dtype=dtypes.int), stride=2).tolist()
        [[[[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]]]]
        """
        weight, groups = self._as_tensor(weight, self), whole(groups, "groups", least=1)
        axes = len(weight.shape) - 2
        if axes < 1 or len(self.shape) != axes + 2:
            raise self._does_not_fit(
                weight, groups, "both need a batch, channels, and as many axes"
            )
        inputs, each, *kernel = weight.shape
        if self.shape[1] != inputs or inputs % groups:
            raise self._does_not_fit(weight, groups, f"the weight is for {inputs} channels")
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

    # ---- pooling ------------------------------------------------------------------------------

    def _pool_plan(
        self, kernel_size: Any, stride: Any, dilation: Any, padding: Any, ceil_mode: bool
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]:
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
            room = s + before + after - d * (k - 1) - 1
            if (ceildiv(room, st) if ceil_mode else room) < 0:
                raise ShapeError(
                    "the window is larger than the padded input",
                    asked=f"pooling of shape {self.shape} by {kernel}",
                    because=f"an axis of {s} is padded to {s + before + after}, and the window "
                    f"takes {d * (k - 1) + 1}",
                    try_="a smaller kernel_size, or more padding",
                )
            if ceil_mode:
                count = ceildiv(room, st) + 1
                # the last window may not begin in the padding behind
                count -= (count - 1) * st >= s + before
                after += max((count - 1) * st - room, 0)
            pads.append((before, after))
        return kernel, step, apart, tuple(pads)

    def avg_pool2d(
        self, kernel_size: Axes = (2, 2), stride: Axes | None = None, dilation: Axes = 1,
        padding: int | Sequence[Any] = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    ) -> Self:  # fmt: skip
        """Average of each window of the last axes; stride None is the kernel's size.

        >>> Tensor.arange(16.0).reshape(1, 1, 4, 4).avg_pool2d().tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
        >>> Tensor.ones(1, 1, 5, 5).avg_pool2d(kernel_size=3, stride=1, padding=1).shape
        (1, 1, 5, 5)
        """
        kernel, step, apart, pads = self._pool_plan(
            kernel_size, stride, dilation, padding, ceil_mode
        )
        axes = len(kernel)
        last = tuple(range(-axes, 0))
        front = tuple(None for _ in self.shape[:-axes])

        # short floats are divided before they are rounded: their sums may be too large for them
        own = least_upper_float(self._uop.dtype)
        wide = self.cast(sum_acc_dtype(self._uop.dtype))

        def sums(x: Any, around: Any) -> Any:
            return x.pad((*front, *around))._pool(kernel, step, apart).sum(last, dtype=x.dtype)

        asked = edges(padding, axes)
        if pads == asked and count_include_pad:
            return (sums(wide, pads) / float(prod(kernel))).cast(own)
        ones = wide.ones_like(requires_grad=False)
        if not count_include_pad:
            return (sums(wide, pads) / sums(ones, pads)).cast(own)
        # padding that was asked for counts, that of ceil_mode does not
        ones = ones.pad((*front, *asked), value=1)
        beyond = tuple((0, b[1] - a[1]) for a, b in zip(asked, pads))
        return (sums(wide, pads) / sums(ones, beyond)).cast(own)

    def max_pool2d(
        self, kernel_size: Axes = (2, 2), stride: Axes | None = None, dilation: Axes = 1,
        padding: int | Sequence[Any] = 0, ceil_mode: bool = False, return_indices: bool = False,
    ) -> Self | tuple[Self, Self]:  # fmt: skip
        """Maximum of each window of the last axes; with `return_indices` also where it stood, as an
        int32 index into the flattened spatial axes (the first of equals).

        >>> x = Tensor.arange(16).reshape(1, 1, 4, 4)
        >>> x.max_pool2d().tolist()
        [[[[5, 7], [13, 15]]]]
        >>> x.max_pool2d(return_indices=True)[1].tolist()
        [[[[5, 7], [13, 15]]]]
        """
        kernel, step, apart, pads = self._pool_plan(
            kernel_size, stride, dilation, padding, ceil_mode
        )
        axes = len(kernel)
        last = tuple(range(-axes, 0))
        front = tuple(None for _ in self.shape[:-axes])
        low = self._uop.dtype.min
        padded, none = self.pad((*front, *pads), value=low), ((0, 0),) * axes
        if in_steps(padded.shape[-axes:], kernel, step, apart, none):
            windows = windows_of_steps(padded, kernel, step, none)
        else:
            windows = padded._pool(kernel, step, apart)
        top = windows.max(last)
        if not return_indices:
            return top
        spatial = self.shape[-axes:]
        count = prod(spatial)
        # counted down, so that the largest of the hits is the first; padding counts 0
        places = self.__class__.arange(count, 0, -1, device=self.device).reshape(spatial)
        places = places.pad(pads)._pool(kernel, step, apart)
        hits = windows == top.reshape((*top.shape, *(1,) * axes))
        if dtypes.is_float(self._uop.dtype):
            hits = hits | windows.isnan()
        return top, count - hits.where(places, 0).max(last)

    def max_unpool2d(
        self, indices: ArrayLike, kernel_size: Axes = (2, 2), stride: Axes | None = None,
        dilation: Axes = 1, padding: Axes = 0, output_size: Sequence[int] | None = None,
    ) -> Self:  # fmt: skip
        """Pooled values put back where `max_pool2d` found them, zeros elsewhere.

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

    def interpolate(
        self, size: Sequence[int], mode: str = "linear", align_corners: bool = False
    ) -> Self:
        """The last axes resized: mode "linear" (over each axis), "nearest" or "nearest-exact".

        :raises ArgumentError: for another mode.

        >>> Tensor([[[0.0, 2.0]]]).interpolate((4,)).tolist()
        [[[0.0, 0.5, 1.5, 2.0]]]
        >>> Tensor([[[0.0, 2.0]]]).interpolate((4,), mode="nearest").tolist()
        [[[0.0, 0.0, 2.0, 2.0]]]
        """
        choice(mode, "mode", ("linear", "nearest", "nearest-exact"))
        sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
        sizes = per_axis(sizes, len(sizes), "size")
        if len(sizes) > len(self.shape) or 0 in self.shape[-len(sizes) :]:
            raise ShapeError(
                "axes of at least one element are resized, and as many as there are sizes",
                asked=f"interpolate of shape {self.shape} to size={sizes}",
            )
        x = self
        for axis, new in reversed(list(zip(range(-len(sizes), 0), sizes))):
            x = x._resized(axis, new, mode, align_corners)
        return x

    def _resized(self, axis: int, new: int, mode: str, align_corners: bool) -> Any:
        old = self.shape[axis]
        own = self._uop.dtype
        wide = dtypes.float64 if own is dtypes.float64 else dtypes.float32
        at = self.__class__.arange(new, device=self.device).cast(wide)
        shape = tuple(new if i == len(self.shape) + axis else 1 for i in range(len(self.shape)))
        full = tuple(new if i == len(self.shape) + axis else s for i, s in enumerate(self.shape))

        def ratio(one: Any, other: Any) -> Any:
            if isinstance(one, int) and isinstance(other, int):
                return one / other
            parts = [self.__class__(n, device=self.device).cast(wide) for n in (one, other)]
            return parts[0] / parts[1]  # computed, so that one program serves all values

        def picked(index: Any) -> Any:
            return self.gather(axis, index.reshape(shape)._expanded(full))

        if mode != "linear" and isinstance(old, int) and isinstance(new, int) and not new % old:
            # each element several times over: a view, and the gradient a sum of neighbours
            axis += len(self.shape)
            before, behind = self.shape[:axis], self.shape[axis + 1 :]
            x = self.reshape((*before, old, 1, *behind))
            return x._expanded((*before, old, new // old, *behind)).reshape((*before, new, *behind))
        if mode != "linear":
            half = 0.5 if mode == "nearest-exact" else 0.0
            place = ((at + half) * ratio(old, new)).floor().clamp(0, old - 1)
            # in memory, so that the gradient adds what goes to a place: see `codegen/scatter`
            return picked(place.cast(dtypes.int32).contiguous())
        scale = ratio(old - 1, max(new - 1, 1)) if align_corners else ratio(old, new)
        half = 0.0 if align_corners else 0.5
        where = ((at + half) * scale - half).clamp(0, old - 1)
        low = where.floor()
        share = (where - low).reshape(shape)
        high = (low + 1).clamp(0, old - 1).cast(dtypes.int32)
        low = low.cast(dtypes.int32)
        left, right = picked(low), picked(high)
        if dtypes.is_float(own):
            mixed = left.cast(wide).lerp(right.cast(wide), share)
            if all(isinstance(size, int) for size in (*self.shape, new)):
                again = self._of_neighbours(axis % len(self.shape), low.cat(high), share)
                mixed = sloped_value(mixed, again, AGAIN)
            return mixed.cast(own)
        # whole numbers are blended by shares that fit 15 bits, and halves go up
        step = (old - 1) / max(new - 1, 1) if align_corners else old / new
        places = [min(max((i + half) * step - half, 0), old - 1) for i in range(new)]
        bits = 14 if any(place % 1 == 0 for place in places) else 15
        shares = [((s * (1 << bits)) + 0.5).floor().cast(dtypes.int64) for s in (1 - share, share)]
        blend = left.cast(dtypes.int64) * shares[0] + right.cast(dtypes.int64) * shares[1]
        return ((blend + (1 << (bits - 1))) >> bits).cast(own)

    def _of_neighbours(self, at: int, places: Any, share: Any) -> Any:
        """The same as one sum of two parts, whose gradient is one sum where `places` say: those of
        all that is before an element, and of all that is behind."""
        before, behind, new = self.shape[:at], self.shape[at + 1 :], places.shape[0] // 2
        index = places.contiguous().reshape((2 * new, *(1,) * len(behind)))
        found = self.gather(at, index._expanded((*before, 2 * new, *behind))).cast(share.dtype)
        parts = found * (1 - share).cat(share, dim=at)
        return parts.reshape((*before, 2, new, *behind)).sum(at)
