"""Windows of images as columns of a matrix, and the reverse.

`unfold` is im2col, `fold` is its transpose, col2im.
Source: K. Chellapilla, S. Puri, P. Simard, "High performance convolutional neural networks for
document processing" (2006).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.errors import ShapeError
from weft.base.sequences import prod
from weft.nn.functional.dimensions import Sizes, per_axis
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["fold", "unfold"]


def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """The windows of images (batch, channels, height, width), or without the batch, as columns:
    (batch, channels * kernel elements, windows).

    :raises ShapeError: for an input of another rank, or a window that is larger than the image.

    >>> nn.functional.unfold(Tensor([[[[1, 2, 3], [4, 5, 6]]]]), 2).tolist()
    [[[1, 2], [2, 3], [4, 5], [5, 6]]]
    """
    x = tensor_of(input, "unfold")
    window = _Window(kernel_size, dilation, padding, stride)
    if x.ndim not in (3, 4):
        raise ShapeError(
            "unfold takes images", asked=f"unfold of shape {x.shape}",
            because="the axes are (batch, channels, height, width), or no batch",
            try_="x.unfold(dim, size, step) for windows of other axes",
        )  # fmt: skip
    window.counts(x.shape[-2:])
    y = window.columns(x if x.ndim == 4 else x.unsqueeze(0))
    return y if x.ndim == 4 else y.squeeze(0)


def fold(
    input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1,
    padding: Sizes = 0, stride: Sizes = 1,
) -> Tensor:  # fmt: skip
    """Images of columns (batch, channels * kernel elements, windows), or without the batch: the
    elements of overlapping windows are added. The transpose of `unfold`.

    output_size: height and width of the images. :raises ShapeError: if the columns do not fit it.

    >>> columns = Tensor([[[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]])
    >>> nn.functional.fold(columns, (2, 3), 2).tolist()
    [[[[1.0, 4.0, 3.0], [4.0, 10.0, 6.0]]]]
    """
    x = tensor_of(input, "fold")
    window = _Window(kernel_size, dilation, padding, stride)
    sizes = per_axis(output_size, 2, "output_size")
    places, windows = prod(window.kernel), prod(window.counts(sizes))
    if x.ndim not in (2, 3) or x.shape[-2] % places or x.shape[-1] != windows:
        raise ShapeError(
            "the columns do not fit the images",
            asked=f"fold of shape {x.shape} to {sizes} with windows of {window.kernel}",
            because=f"these images have {windows} windows of {places} elements for each channel",
            try_=f"an input (batch, channels * {places}, {windows})",
        )
    columns = x if x.ndim == 3 else x.unsqueeze(0)
    like = Tensor.zeros(
        columns.shape[0], columns.shape[1] // places, *sizes, dtype=x.dtype, device=x.device
    )
    (y,) = window.columns(like).gradient(like, gradient=columns)
    return y if x.ndim == 3 else y.squeeze(0)


class _Window:
    """Windows over two axes: kernel, dilation, padding, stride."""

    def __init__(self, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> None:
        self.kernel = per_axis(kernel_size, 2, "kernel_size")
        self.dilation = per_axis(dilation, 2, "dilation")
        self.padding = per_axis(padding, 2, "padding", least=0)
        self.stride = per_axis(stride, 2, "stride")

    def counts(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The number of windows along each axis. :raises ShapeError: if there is none."""
        spans = [
            size + 2 * around - spread * (kernel - 1) - 1
            for size, around, spread, kernel in zip(
                sizes, self.padding, self.dilation, self.kernel, strict=True
            )
        ]
        if min((span for span in spans if isinstance(span, int)), default=0) < 0:
            raise ShapeError(
                "the window is larger than the padded image",
                asked=f"windows of {self.kernel} in images of {tuple(sizes)}, "
                f"padding={self.padding}, dilation={self.dilation}",
                try_="a smaller kernel_size, or more padding",
            )
        return tuple(span // step + 1 for span, step in zip(spans, self.stride, strict=True))

    def columns(self, x: Tensor) -> Tensor:
        """The windows of (batch, channels, height, width) as columns."""
        y = x.pad((None, None, *((around, around) for around in self.padding)))
        for axis in (2, 3):
            size, step, spread = (
                each[axis - 2] for each in (self.kernel, self.stride, self.dilation)
            )
            y = y.unfold(axis, (size - 1) * spread + 1, step)[..., ::spread]
        batch, channels, rows, columns, *kernel = y.shape
        y = y.permute(0, 1, 4, 5, 2, 3)
        return y.reshape(batch, channels * prod(kernel), rows * columns)
