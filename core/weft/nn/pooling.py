"""Pooling layers: the maximum or the average of each window of the last axes.

Inputs are (batch, channels, *space), or without the batch. Each layer keeps its arguments as
attributes and calls a function of `nn.functional` with them.
"""

from __future__ import annotations

from typing import Any

from weft.nn import functional as F
from weft.nn.activations import Activation
from weft.nn.functional.convolution import per_axis
from weft.nn.input_checks import tensor_for
from weft.tensor import Tensor

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
        """See Module."""
        own = vars(self)
        return ", ".join(f"{name}={own[name]}" for name in ("kernel_size", "stride", "padding"))


class MaxPool1d(_MaxPool):
    """The largest of each window over the last axis.

    >>> nn.MaxPool1d(2)(Tensor([[[1.0, 4.0, 2.0, 3.0]]])).tolist()
    [[[4.0, 3.0]]]
    """

    axes, function = 1, "max_pool1d"


class MaxPool2d(_MaxPool):
    """The largest of each window over the last two axes.

    >>> nn.MaxPool2d(2)(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[4.0]]]]
    """

    axes, function = 2, "max_pool2d"


class MaxPool3d(_MaxPool):
    """The largest of each window over the last three axes.

    >>> nn.MaxPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """

    axes, function = 3, "max_pool3d"


class AvgPool1d(_AvgPool):
    """The average of each window over the last axis.

    >>> nn.AvgPool1d(2)(Tensor([[[1.0, 4.0, 2.0, 3.0]]])).tolist()
    [[[2.5, 2.5]]]
    """

    axes, function = 1, "avg_pool1d"


class AvgPool2d(_AvgPool):
    """The average of each window over the last two axes.

    >>> nn.AvgPool2d(2)(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[2.5]]]]
    """

    axes, function = 2, "avg_pool2d"


class AvgPool3d(_AvgPool):
    """The average of each window over the last three axes.

    >>> nn.AvgPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """

    axes, function = 3, "avg_pool3d"


class _Adaptive(Activation):
    """Pooling to a size."""

    def __init__(self, output_size: Any) -> None:
        self._fix(output_size=output_size)


class AdaptiveAvgPool1d(_Adaptive):
    """Averages over windows that cut the last axis into output_size parts.

    Of n elements, part i is from floor(i n / output_size) to ceil((i + 1) n / output_size).

    >>> nn.AdaptiveAvgPool1d(2)(Tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[1.5, 2.5]]]
    """

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_Adaptive):
    """Averages over windows that cut the last two axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveAvgPool2d((1, None))(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[1.5, 3.5]]]]
    """

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_Adaptive):
    """Averages over windows that cut the last three axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveAvgPool3d(1)(Tensor.arange(8).reshape(1, 1, 2, 2, 2)).tolist()
    [[[[[3.5]]]]]
    """

    function = "adaptive_avg_pool3d"


class AdaptiveMaxPool1d(_Adaptive):
    """Maxima over windows that cut the last axis into output_size parts.

    Of n elements, part i is from floor(i n / output_size) to ceil((i + 1) n / output_size).

    >>> nn.AdaptiveMaxPool1d(2)(Tensor([[[3.0, 1.0, 2.0]]])).tolist()
    [[[3.0, 2.0]]]
    """

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_Adaptive):
    """Maxima over windows that cut the last two axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveMaxPool2d((1, None))(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[2.0, 4.0]]]]
    """

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_Adaptive):
    """Maxima over windows that cut the last three axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveMaxPool3d(1)(Tensor.arange(8).reshape(1, 1, 2, 2, 2)).tolist()
    [[[[[7]]]]]
    """

    function = "adaptive_max_pool3d"
