"""Pooling layers: the maximum or the average of each window of the last axes.

Inputs are (batch, channels, *space), or without the batch. Each layer keeps its arguments as
attributes and calls a function of `nn.functional` with them.
"""

from __future__ import annotations

from typing import Any

from weft.nn import functional as F
from weft.nn.activations import Activation
from weft.nn.functional.dimensions import per_axis
from weft.nn.input_checks import tensor_for
from weft.tensor import Tensor

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d",
]  # fmt: skip

Sizes = int | tuple[int, ...]


class _Pool(Activation):
    """What pools share: sizes that are one number, or one for each spatial axis."""

    axes: int

    def _checked(self, kernel_size: Any, stride: Any) -> dict[str, Any]:
        per_axis(kernel_size, self.axes, "kernel_size")
        return {"kernel_size": kernel_size, "stride": kernel_size if stride is None else stride}


class _MaxPool(_Pool):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        shown = self._checked(kernel_size, stride)
        self._fix(**shown, padding=padding, dilation=dilation, ceil_mode=ceil_mode)
        self.return_indices = return_indices

    def forward(self, x: Tensor) -> Any:
        """The largest values, and with return_indices their places as well."""
        own = vars(self)
        given = {name: own[name] for name in self._arguments}
        pool = getattr(F, self.function)
        return pool(tensor_for(self, x), **given, return_indices=self.return_indices)


class _AvgPool(_Pool):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self._fix(
            **self._checked(kernel_size, stride),
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )

    def extra_repr(self) -> str:
        own = vars(self)
        return ", ".join(f"{name}={own[name]}" for name in ("kernel_size", "stride", "padding"))


class MaxPool1d(_MaxPool, axes=1, function="max_pool1d"):
    """The largest of each window over the last axis.

    >>> nn.MaxPool1d(2)(Tensor([[[1.0, 4.0, 2.0, 3.0]]])).tolist()
    [[[4.0, 3.0]]]
    """


class MaxPool2d(_MaxPool, axes=2, function="max_pool2d"):
    """The largest of each window over the last two axes.

    >>> nn.MaxPool2d(2)(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[4.0]]]]
    """


class MaxPool3d(_MaxPool, axes=3, function="max_pool3d"):
    """The largest of each window over the last three axes.

    >>> nn.MaxPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """


class AvgPool1d(_AvgPool, axes=1, function="avg_pool1d"):
    """The average of each window over the last axis.

    >>> nn.AvgPool1d(2)(Tensor([[[1.0, 4.0, 2.0, 3.0]]])).tolist()
    [[[2.5, 2.5]]]
    """


class AvgPool2d(_AvgPool, axes=2, function="avg_pool2d"):
    """The average of each window over the last two axes.

    >>> nn.AvgPool2d(2)(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[2.5]]]]
    """


class AvgPool3d(_AvgPool, axes=3, function="avg_pool3d"):
    """The average of each window over the last three axes.

    >>> nn.AvgPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """


class _Adaptive(Activation):
    """Pooling to a size."""

    def __init__(self, output_size: Any) -> None:
        self._fix(output_size=output_size)


class AdaptiveAvgPool1d(_Adaptive, function="adaptive_avg_pool1d"):
    """Averages over windows that cut the last axis into output_size parts.

    Of n elements, part i is from floor(i n / output_size) to ceil((i + 1) n / output_size).

    >>> nn.AdaptiveAvgPool1d(2)(Tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[1.5, 2.5]]]
    """


class AdaptiveAvgPool2d(_Adaptive, function="adaptive_avg_pool2d"):
    """Averages over windows that cut the last two axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveAvgPool2d((1, None))(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[1.5, 3.5]]]]
    """


class AdaptiveAvgPool3d(_Adaptive, function="adaptive_avg_pool3d"):
    """Averages over windows that cut the last three axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveAvgPool3d(1)(Tensor.arange(8).reshape(1, 1, 2, 2, 2)).tolist()
    [[[[[3.5]]]]]
    """


class AdaptiveMaxPool1d(_Adaptive, function="adaptive_max_pool1d"):
    """Maxima over windows that cut the last axis into output_size parts.

    Of n elements, part i is from floor(i n / output_size) to ceil((i + 1) n / output_size).

    >>> nn.AdaptiveMaxPool1d(2)(Tensor([[[3.0, 1.0, 2.0]]])).tolist()
    [[[3.0, 2.0]]]
    """


class AdaptiveMaxPool2d(_Adaptive, function="adaptive_max_pool2d"):
    """Maxima over windows that cut the last two axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveMaxPool2d((1, None))(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[2.0, 4.0]]]]
    """


class AdaptiveMaxPool3d(_Adaptive, function="adaptive_max_pool3d"):
    """Maxima over windows that cut the last three axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveMaxPool3d(1)(Tensor.arange(8).reshape(1, 1, 2, 2, 2)).tolist()
    [[[[[7]]]]]
    """
