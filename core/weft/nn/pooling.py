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
from weft.nn.parameter import Buffer
from weft.tensor import Tensor

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d",
    "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
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

    def forward(self, input: Tensor) -> Any:
        """The largest values, and with return_indices their places as well."""
        own = vars(self)
        given = {name: own[name] for name in self._arguments}
        pool = getattr(F, self.function)
        return pool(tensor_for(self, input), **given, return_indices=self.return_indices)


class _AvgPool(_Pool):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        self._fix(
            **self._checked(kernel_size, stride),
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor_override=divisor_override,
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


class _AdaptiveMax(_Adaptive):
    """Maxima, and with return_indices their places as well."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """The largest values, and with return_indices their places as well."""
        pool = getattr(F, self.function)
        return pool(tensor_for(self, input), vars(self)["output_size"], self.return_indices)


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


class AdaptiveMaxPool1d(_AdaptiveMax, function="adaptive_max_pool1d"):
    """Maxima over windows that cut the last axis into output_size parts.

    Of n elements, part i is from floor(i n / output_size) to ceil((i + 1) n / output_size).

    >>> nn.AdaptiveMaxPool1d(2)(Tensor([[[3.0, 1.0, 2.0]]])).tolist()
    [[[3.0, 2.0]]]
    """


class AdaptiveMaxPool2d(_AdaptiveMax, function="adaptive_max_pool2d"):
    """Maxima over windows that cut the last two axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveMaxPool2d((1, None))(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[2.0, 4.0]]]]
    """


class AdaptiveMaxPool3d(_AdaptiveMax, function="adaptive_max_pool3d"):
    """Maxima over windows that cut the last three axes into output_size parts each.

    output_size: one number, or one for each axis; None keeps an axis.

    >>> nn.AdaptiveMaxPool3d(1)(Tensor.arange(8).reshape(1, 1, 2, 2, 2)).tolist()
    [[[[[7]]]]]
    """


class _LPPool(_Pool):
    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        per_axis(kernel_size, self.axes, "kernel_size")
        self._fix(norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode)


class LPPool1d(_LPPool, axes=1, function="lp_pool1d"):
    """The p-norm of each window over the last axis, p being norm_type.

    >>> nn.LPPool1d(2, 2)(Tensor([[[3.0, 4.0]]])).tolist()
    [[[5.0]]]
    """


class LPPool2d(_LPPool, axes=2, function="lp_pool2d"):
    """The p-norm of each window over the last two axes, p being norm_type.

    >>> nn.LPPool2d(1, 2)(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[10.0]]]]
    """


class LPPool3d(_LPPool, axes=3, function="lp_pool3d"):
    """The p-norm of each window over the last three axes, p being norm_type.

    >>> nn.LPPool3d(2, 2)(Tensor.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """


class _MaxUnpool(_Pool):
    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        self._fix(**self._checked(kernel_size, stride), padding=padding)

    def forward(  # type: ignore[override]
        self, input: Tensor, indices: Tensor, output_size: Any = None
    ) -> Tensor:
        """The values of input at the places that the pool gave as indices, zeros elsewhere."""
        own = vars(self)
        given = {name: own[name] for name in self._arguments}
        unpool = getattr(F, self.function)
        result: Tensor = unpool(tensor_for(self, input), indices, **given, output_size=output_size)
        return result


class MaxUnpool1d(_MaxUnpool, axes=1, function="max_unpool1d"):
    """The inverse of MaxPool1d with return_indices: values at their places, zeros elsewhere.

    >>> nn.MaxUnpool1d(2)(Tensor([[[3.0]]]), Tensor([[[1]]])).tolist()
    [[[0.0, 3.0]]]
    """


class MaxUnpool2d(_MaxUnpool, axes=2, function="max_unpool2d"):
    """The inverse of MaxPool2d with return_indices: values at their places, zeros elsewhere.

    >>> nn.MaxUnpool2d(2)(Tensor([[[[4.0]]]]), Tensor([[[[1]]]])).tolist()
    [[[[0.0, 4.0], [0.0, 0.0]]]]
    """


class MaxUnpool3d(_MaxUnpool, axes=3, function="max_unpool3d"):
    """The inverse of MaxPool3d with return_indices: values at their places, zeros elsewhere.

    >>> nn.MaxUnpool3d(2)(Tensor([[[[[7.0]]]]]), Tensor([[[[[7]]]]])).flatten().tolist()[-2:]
    [0.0, 7.0]
    """


class _FractionalMaxPool(_Pool):
    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        per_axis(kernel_size, self.axes, "kernel_size")
        self._fix(
            kernel_size=kernel_size,
            output_size=output_size,
            output_ratio=output_ratio,
            return_indices=return_indices,
            _random_samples=None if _random_samples is None else Buffer(_random_samples),
        )


class FractionalMaxPool2d(_FractionalMaxPool, axes=2, function="fractional_max_pool2d"):
    """The largest of each window over the last two axes, the windows starting at drawn positions.

    One of output_size and output_ratio is given (Graham, 2014).

    >>> nn.FractionalMaxPool2d(2, output_size=3)(Tensor.ones(1, 1, 5, 5)).shape
    (1, 1, 3, 3)
    """


class FractionalMaxPool3d(_FractionalMaxPool, axes=3, function="fractional_max_pool3d"):
    """The largest of each window over the last three axes, the windows starting at drawn positions.

    >>> nn.FractionalMaxPool3d(2, output_ratio=0.5)(Tensor.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """
