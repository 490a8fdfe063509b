"""Windows of images as columns of a matrix, and the reverse, as layers."""

from __future__ import annotations

from weft.nn.activations import Activation
from weft.nn.functional.dimensions import Sizes

__all__ = ["Fold", "Unfold"]


class Unfold(Activation, function="unfold"):
    """The windows of images (batch, channels, height, width) as columns: (batch, channels * kernel
    elements, windows); see `nn.functional.unfold`.

    >>> nn.Unfold(2)(Tensor([[[[1, 2, 3], [4, 5, 6]]]])).tolist()
    [[[1, 2], [2, 3], [4, 5], [5, 6]]]
    """

    def __init__(
        self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        self._fix(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


class Fold(Activation, function="fold"):
    """Images of the columns of windows, whose overlapping elements are added; see
    `nn.functional.fold`.

    >>> columns = Tensor([[[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]])
    >>> nn.Fold((2, 3), 2)(columns).tolist()
    [[[[1.0, 4.0, 3.0], [4.0, 10.0, 6.0]]]]
    """

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        self._fix(
            output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding,
            stride=stride,
        )  # fmt: skip
