"""Convolutions of one, two and three spatial axes, and their transposes."""

from __future__ import annotations

from weft.base.dtype import DType
from weft.base.errors import ArgumentError
from weft.base.sequences import prod
from weft.nn import init
from weft.tensor import Tensor


class _Conv:
    """What convolutions over any number of spatial axes have in common.

    weight (out_channels, in_channels / groups, *kernel), bias (out_channels,) or None, both drawn
    from +-1/sqrt(fan-in). Input (batch, in_channels, *space).
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
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if groups < 1 or in_channels % groups or out_channels % groups:
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
        self.groups = groups
        fan_in = in_channels // groups * prod(self.kernel_size)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = init.fan_in_uniform(*shape, fan_in=fan_in, device=device, dtype=dtype)
        self.bias = (
            init.fan_in_uniform(out_channels, fan_in=fan_in, device=device, dtype=dtype)
            if bias
            else None
        )

    def __call__(self, x: Tensor) -> Tensor:
        return x.conv2d(
            self.weight,
            self.bias,
            groups=self.groups,
            stride=self.stride,
            dilation=self.dilation,
            padding=self.padding,
        )

    def _per_axis(self, what: str, value: int | tuple[int, ...]) -> tuple[int, ...]:
        sizes = (value,) * self.axes if isinstance(value, int) else tuple(value)
        if len(sizes) != self.axes:
            raise ArgumentError(
                f"{what} needs one number, or one per spatial axis",
                asked=f"{what}={value}",
                because=f"this convolution has {self.axes} spatial axes",
                try_=f"give {self.axes} numbers",
            )
        return sizes

    def _padding(self, padding: int | tuple[int, ...] | str) -> tuple[int, ...]:
        if not isinstance(padding, str):
            return self._per_axis("padding", padding)
        if padding == "valid":
            return (0,) * self.axes
        spans = [
            spread * (size - 1)
            for size, spread in zip(self.kernel_size, self.dilation, strict=True)
        ]
        if padding != "same" or set(self.stride) != {1} or any(span % 2 for span in spans):
            raise ArgumentError(
                "this padding cannot be worked out by name",
                asked=f"padding={padding!r}, kernel {self.kernel_size}, stride {self.stride}",
                because="'same' needs stride 1 and an odd kernel; the other name is 'valid'",
                try_="give the padding as numbers",
            )
        return tuple(span // 2 for span in spans)


class Conv1d(_Conv):
    """Convolution over one spatial axis: (batch, channels, length)."""

    axes = 1


class Conv2d(_Conv):
    """Convolution over two spatial axes: (batch, channels, height, width)."""

    axes = 2


class Conv3d(_Conv):
    """Convolution over three spatial axes: (batch, channels, depth, height, width)."""

    axes = 3


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
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
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
        fan_in = out_channels // groups * prod(self.kernel_size)
        if bias:
            self.bias = init.fan_in_uniform(out_channels, fan_in=fan_in, device=device, dtype=dtype)

    def __call__(self, x: Tensor) -> Tensor:
        return x.conv_transpose2d(
            self.weight,
            self.bias,
            groups=self.groups,
            stride=self.stride,
            dilation=self.dilation,
            padding=self.padding,
            output_padding=self.output_padding,
        )


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution over one spatial axis."""

    axes = 1


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution over two spatial axes."""

    axes = 2


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution over three spatial axes."""

    axes = 3
