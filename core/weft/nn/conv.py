"""Convolutions of one, two and three spatial axes, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import choice, whole
from weft.base.dtype import DType
from weft.base.errors import ArgumentError, ShapeError
from weft.base.sequences import prod
from weft.nn import init
from weft.nn.functional.convolution import named_padding
from weft.nn.functional.dimensions import per_axis
from weft.nn.input_checks import tensor_for
from weft.nn.module import Layer
from weft.nn.parameter import parameter
from weft.tensor import Tensor


class _Conv(Layer):
    """What convolutions over any number of spatial axes have in common.

    weight (out_channels, in_channels / groups, *kernel), bias (out_channels,) or None, both drawn
    from +-1/sqrt(fan-in). Input (batch, in_channels, *space), or the same without a batch.

    padding: numbers, "valid" (none) or "same" (stride 1: the size stays; of an odd number of places
    the larger part comes behind). padding_mode: "zeros", "reflect", "replicate" or "circular".
    """

    axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] | str = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        in_channels = whole(in_channels, "in_channels", least=0)
        out_channels = whole(out_channels, "out_channels", least=0)
        groups = whole(groups, "groups", least=1)
        if in_channels % groups or out_channels % groups:
            raise ArgumentError(
                "channels do not divide into groups",
                asked=f"{in_channels} channels in, {out_channels} out, {groups} groups",
                because="each group takes and gives an equal share of the channels",
                try_="choose a number of groups that divides both",
            )
        self.kernel_size = self._per_axis("kernel_size", kernel_size)
        self.stride = self._per_axis("stride", stride)
        self.dilation = self._per_axis("dilation", dilation)
        self.padding = self._padding(padding)
        self.padding_mode = _padding_mode(padding_mode)
        self.groups = groups
        fan_in = in_channels // groups * prod(self.kernel_size)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.in_channels, self.out_channels = in_channels, out_channels

        def drawn(*shape: int) -> Tensor:
            return parameter(init.fan_in_uniform(*shape, fan_in=fan_in, device=device, dtype=dtype))

        self.weight: Tensor = drawn(*shape)
        self.bias: Tensor | None = drawn(out_channels) if bias else None

    def extra_repr(self) -> str:
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}, stride={self.stride}",
        ]
        if self.padding != (0,) * self.axes:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * self.axes:
            parts.append(f"dilation={self.dilation}")
        if any(getattr(self, "output_padding", ())):
            parts.append(f"output_padding={getattr(self, 'output_padding', ())}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def forward(self, input: Tensor) -> Tensor:
        """(batch, out_channels, *space), without a batch where the input has none."""
        x = tensor_for(self, input)
        if x.ndim == self.axes + 1:
            return self(x.unsqueeze(0)).squeeze(0)
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            pairs = tuple((p, p) if isinstance(p, int) else p for p in self.padding)
            x = x.pad((*(None,) * (x.ndim - self.axes), *pairs), mode=self.padding_mode)
            padding = 0
        return x.conv2d(
            self.weight,
            self.bias,
            groups=self.groups,
            stride=self.stride,
            dilation=self.dilation,
            padding=padding,
        )

    def _per_axis(self, what: str, value: int | tuple[int, ...]) -> tuple[int, ...]:
        return per_axis(value, self.axes, what, least=0)

    def _padding(self, padding: int | tuple[int, ...] | str) -> tuple[Any, ...]:
        """A number for each axis, or (before, after) where those differ."""
        pairs: Any = padding
        if isinstance(padding, str):
            pairs = named_padding(padding, self.kernel_size, self.stride, self.dilation, self.axes)
        if not isinstance(padding, str) or pairs == 0:
            return self._per_axis("padding", pairs)
        even = all(before == after for before, after in pairs)
        return tuple(before for before, _ in pairs) if even else tuple(pairs)


def _padding_mode(mode: str) -> str:
    if mode not in ("zeros", "reflect", "replicate", "circular"):
        raise ArgumentError(
            f"there is no padding mode {mode!r}",
            asked=f"padding_mode={mode!r}",
            because="a convolution pads with zeros or with what lies near the edge",
            try_="'zeros', 'reflect', 'replicate' or 'circular'",
        )
    return mode


class Conv1d(_Conv, axes=1):
    """Convolution over one spatial axis: (batch, channels, length).

    >>> nn.Conv1d(3, 8, kernel_size=5)(Tensor.ones(2, 3, 20)).shape
    (2, 8, 16)
    """


class Conv2d(_Conv, axes=2):
    """Convolution over two spatial axes: (batch, channels, height, width).

    >>> nn.Conv2d(3, 8, kernel_size=3, stride=2, padding=1)(Tensor.ones(2, 3, 8, 8)).shape
    (2, 8, 4, 4)
    """


class Conv3d(_Conv, axes=3):
    """Convolution over three spatial axes: (batch, channels, depth, height, width).

    >>> nn.Conv3d(1, 4, kernel_size=3)(Tensor.ones(2, 1, 5, 5, 5)).shape
    (2, 4, 3, 3, 3)
    """


class _ConvTranspose(_Conv):
    """The gradient of a convolution with respect to its input, as a layer.

    weight (in_channels, out_channels / groups, *kernel), bias (out_channels,) or None, drawn from
    +-1/sqrt(out_channels / groups * kernel). Each axis of n becomes
    (n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        choice(padding_mode, "padding_mode", ("zeros",))
        if isinstance(padding, str) or not isinstance(bias, bool):
            raise ArgumentError(
                "this argument has another position",
                asked=f"{type(self).__name__} with padding={padding!r}, bias={bias!r}",
                because="padding is numbers here, and behind it come output_padding, groups, "
                "bias and dilation",
                try_="give what follows the padding by its name",
            )
        # the weight of the convolution that this one transposes
        super().__init__(
            out_channels,
            in_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias=False,
            device=device,
            dtype=dtype,
        )
        self.output_padding = self._per_axis("output_padding", output_padding)
        limits = [max(pair) for pair in zip(self.stride, self.dilation, strict=True)]
        if any(not 0 <= p < limit for p, limit in zip(self.output_padding, limits, strict=True)):
            raise ArgumentError(
                "the output padding must be smaller than the stride or the dilation",
                asked=f"output_padding={output_padding}, stride {self.stride}, "
                f"dilation {self.dilation}",
                because="it chooses between the sizes that one stride leads back to",
                try_="give a number from 0 to below the stride",
            )
        self.in_channels, self.out_channels = self.out_channels, self.in_channels
        fan_in = out_channels // groups * prod(self.kernel_size)
        if bias:
            self.bias = parameter(
                init.fan_in_uniform(out_channels, fan_in=fan_in, device=device, dtype=dtype)
            )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """(batch, out_channels, *space), without a batch where the input has none.

        output_size: the last sizes of the result, one of those that one stride leads back to.
        :raises ShapeError: for others.
        """
        x = tensor_for(self, input)
        if x.ndim == self.axes + 1:
            return self.forward(x.unsqueeze(0), output_size).squeeze(0)
        extra = self.output_padding
        if output_size is not None:
            extra = self._extra(tuple(x.shape[2:]), tuple(output_size)[-self.axes :])
        return x.conv_transpose2d(
            self.weight,
            self.bias,
            groups=self.groups,
            stride=self.stride,
            dilation=self.dilation,
            padding=self.padding,
            output_padding=extra,
        )

    def _extra(self, space: tuple[int, ...], requested: tuple[int, ...]) -> tuple[int, ...]:
        """The output padding with which `space` becomes the requested sizes."""
        options = zip(
            space, self.kernel_size, self.stride, self.padding, self.dilation, strict=True
        )
        least = [(n - 1) * step - 2 * pad + gap * (k - 1) + 1 for n, k, step, pad, gap in options]
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if len(requested) != self.axes or any(
            not low <= size <= high for low, size, high in zip(least, requested, most, strict=True)
        ):
            raise ShapeError(
                "the stride does not lead back to this size",
                asked=f"output_size={requested} of an input of {space}",
                because=f"the sizes are from {tuple(least)} to {tuple(most)}",
            )
        return tuple(size - low for size, low in zip(requested, least, strict=True))


class ConvTranspose1d(_ConvTranspose, axes=1):
    """Transposed convolution over one spatial axis.

    >>> nn.ConvTranspose1d(8, 3, kernel_size=4, stride=2)(Tensor.ones(2, 8, 5)).shape
    (2, 3, 12)
    """


class ConvTranspose2d(_ConvTranspose, axes=2):
    """Transposed convolution over two spatial axes.

    >>> nn.ConvTranspose2d(8, 3, kernel_size=2, stride=2)(Tensor.ones(2, 8, 4, 4)).shape
    (2, 3, 8, 8)
    """


class ConvTranspose3d(_ConvTranspose, axes=3):
    """Transposed convolution over three spatial axes.

    >>> nn.ConvTranspose3d(2, 1, kernel_size=2, stride=2)(Tensor.ones(1, 2, 3, 3, 3)).shape
    (1, 1, 6, 6, 6)
    """
