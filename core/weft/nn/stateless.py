"""Layers without weights that are no activations: shapes, dropout, pools, resizing, distances.

Each keeps its arguments as attributes and calls a function of `nn.functional` with them.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import real
from weft.base.errors import ArgumentError
from weft.nn import functional as F
from weft.nn.activations import Activation
from weft.nn.functional.windows import per_axis
from weft.nn.inputs import tensor_for
from weft.nn.mode import is_training
from weft.nn.module import Layer, Module
from weft.tensor import Tensor

Sizes = int | tuple[int, ...]


class Identity(Module):
    """What goes in comes out; arguments are taken and left alone, to stand in for any layer.

    >>> nn.Identity(54, unused=True)(Tensor([1, 2])).tolist()
    [1, 2]
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def forward(self, x: Any) -> Any:
        """x itself."""
        return x


class Flatten(Layer):
    """The axes from start_dim to end_dim become one; axis 0, the batch, stays.

    >>> nn.Flatten()(Tensor.zeros(2, 3, 4)).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        return tensor_for(self, x).flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """See Module."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Layer):
    """One axis becomes several.

    >>> nn.Unflatten(1, (2, 3))(Tensor.zeros(5, 6)).shape
    (5, 2, 3)
    """

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        return tensor_for(self, x).unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """See Module."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


# ---- dropout -------------------------------------------------------------------------------------


class Dropout(Layer):
    """In training mode each element is 0 with probability p, else scaled by 1 / (1 - p).

    The mode is what `train()` or `eval()` of this or a module around it said last, and
    `Tensor.training` where neither was called. `inplace` is taken and left alone.

    >>> nn.Dropout(0.5)(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    function = "dropout"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= real(p, "p") <= 1:
            raise ArgumentError("p is a probability", asked=f"Dropout({p})", try_="0 <= p <= 1")
        self.p, self.inplace = p, inplace

    def forward(self, x: Tensor) -> Tensor:
        """The same shape as x."""
        x = tensor_for(self, x)
        if not self.p or not is_training(self):
            return x
        result: Tensor = getattr(F, self.function)(x, self.p, True)
        return result

    def extra_repr(self) -> str:
        """See Module."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout1d(Dropout):
    """Dropout of whole channels of (batch, channels, length)."""

    function = "dropout1d"


class Dropout2d(Dropout):
    """Dropout of whole channels of (batch, channels, height, width)."""

    function = "dropout2d"


class Dropout3d(Dropout):
    """Dropout of whole channels of (batch, channels, depth, height, width)."""

    function = "dropout3d"


class AlphaDropout(Dropout):
    """Dropout that keeps mean and variance of SELU's outputs."""

    function = "alpha_dropout"


# ---- pools ---------------------------------------------------------------------------------------


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
    """Averages over windows that cut the last axis into output_size parts."""

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_Adaptive):
    """The same for the last two axes; None keeps an axis.

    >>> nn.AdaptiveAvgPool2d((1, 1))(Tensor.ones(2, 3, 5, 5)).shape
    (2, 3, 1, 1)
    """

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_Adaptive):
    """The same for the last three axes."""

    function = "adaptive_avg_pool3d"


class AdaptiveMaxPool1d(_Adaptive):
    """Maxima over windows that cut the last axis into output_size parts."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_Adaptive):
    """The same for the last two axes; None keeps an axis."""

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_Adaptive):
    """The same for the last three axes."""

    function = "adaptive_max_pool3d"


# ---- resizing and padding ------------------------------------------------------------------------


class Upsample(Layer):
    """The spatial axes resized; see `nn.functional.interpolate`.

    >>> nn.Upsample(scale_factor=2)(Tensor.ones(1, 1, 2, 2)).shape
    (1, 1, 4, 4)
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
    ) -> None:
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners = align_corners

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        given = (self.size, self.scale_factor, self.mode, self.align_corners)
        return F.interpolate(tensor_for(self, x), *given)

    def extra_repr(self) -> str:
        """See Module."""
        if self.scale_factor is None:
            return f"size={self.size}, mode={self.mode!r}"
        factor = self.scale_factor
        factor = float(factor) if isinstance(factor, int) else factor
        return f"scale_factor={factor}, mode={self.mode!r}"


class _Padding(Layer):
    """Padding of the last axes: one number, or (left, right, top, bottom, ...)."""

    axes: int
    mode: str
    value: float = 0.0

    def __init__(self, padding: Sizes) -> None:
        several = isinstance(padding, tuple | list)
        sizes: Any = tuple(padding) if several else (padding,) * (2 * self.axes)  # type: ignore[arg-type]
        if len(sizes) != 2 * self.axes:
            raise ArgumentError(
                "padding needs one number, or two per spatial axis",
                asked=f"{type(self).__name__}({padding})",
                try_=f"give {2 * self.axes} numbers, from the last axis on",
            )
        self.padding = sizes

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        return F.pad(tensor_for(self, x), self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        """See Module."""
        return str(self.padding)


def _padding(axes: int, mode: str, kind: str) -> type[_Padding]:
    """The class of one mode and number of axes."""
    name = f"{kind}Pad{axes}d"
    said = f"Padding of the last {'axis' if axes == 1 else f'{axes} axes'}: {mode}."
    body = {"axes": axes, "mode": mode, "__doc__": said, "__module__": __name__}
    return type(name, (_Padding,), body)


ZeroPad1d = _padding(1, "constant", "Zero")
ZeroPad2d = _padding(2, "constant", "Zero")
ZeroPad3d = _padding(3, "constant", "Zero")
ReflectionPad1d = _padding(1, "reflect", "Reflection")
ReflectionPad2d = _padding(2, "reflect", "Reflection")
ReflectionPad3d = _padding(3, "reflect", "Reflection")
ReplicationPad1d = _padding(1, "replicate", "Replication")
ReplicationPad2d = _padding(2, "replicate", "Replication")
ReplicationPad3d = _padding(3, "replicate", "Replication")
CircularPad1d = _padding(1, "circular", "Circular")
CircularPad2d = _padding(2, "circular", "Circular")
CircularPad3d = _padding(3, "circular", "Circular")


class _ConstantPad(_Padding):
    mode = "constant"

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        """See Module."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Padding of the last axis with a number."""

    axes = 1


class ConstantPad2d(_ConstantPad):
    """Padding of the last two axes with a number."""

    axes = 2


class ConstantPad3d(_ConstantPad):
    """Padding of the last three axes with a number."""

    axes = 3


class PixelShuffle(Activation):
    """(..., C r^2, H, W) rearranged to (..., C, H r, W r).

    >>> nn.PixelShuffle(2)(Tensor.ones(1, 8, 3, 3)).shape
    (1, 2, 6, 6)
    """

    function = "pixel_shuffle"

    def __init__(self, upscale_factor: int) -> None:
        self._fix(upscale_factor=upscale_factor)


class PixelUnshuffle(Activation):
    """The inverse of PixelShuffle."""

    function = "pixel_unshuffle"

    def __init__(self, downscale_factor: int) -> None:
        self._fix(downscale_factor=downscale_factor)


# ---- distances -----------------------------------------------------------------------------------


class CosineSimilarity(Module):
    """The cosine of the angle between two tensors along an axis.

    >>> nn.CosineSimilarity()(Tensor([[1.0, 0.0]]), Tensor([[2.0, 0.0]])).tolist()
    [1.0]
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The cosines."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
