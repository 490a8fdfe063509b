"""Layers without weights: shapes, dropout, resizing, padding, channels, distances.

Each keeps its arguments as attributes and calls a function of `nn.functional` with them.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import real, shown
from weft.base.errors import ArgumentError
from weft.nn import functional as F
from weft.nn.activations import Activation
from weft.nn.input_checks import tensor_for
from weft.nn.module import Layer, Module
from weft.nn.training_mode import is_training
from weft.tensor import Tensor

__all__ = [
    "AlphaDropout", "ChannelShuffle", "CircularPad1d", "CircularPad2d", "CircularPad3d",
    "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "CosineSimilarity", "Dropout",
    "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout", "Flatten", "Identity",
    "LocalResponseNorm", "PairwiseDistance", "PixelShuffle", "PixelUnshuffle",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "Unflatten", "Upsample", "UpsamplingBilinear2d",
    "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip

Sizes = int | tuple[int, ...]


class Identity(Module):
    """The identity function. It ignores all arguments, so that it can replace any layer.

    >>> nn.Identity(54, unused=True)(Tensor([1, 2])).tolist()
    [1, 2]
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def forward(self, input: Any) -> Any:
        """The input itself."""
        return input


class Flatten(Layer):
    """The axes from start_dim to end_dim become one; axis 0, the batch, stays.

    >>> nn.Flatten()(Tensor.zeros(2, 3, 4)).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """See the class."""
        return tensor_for(self, input).flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Layer):
    """One axis becomes several.

    >>> nn.Unflatten(1, (2, 3))(Tensor.zeros(5, 6)).shape
    (5, 2, 3)
    """

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """See the class."""
        return tensor_for(self, input).unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


# ---- dropout -------------------------------------------------------------------------------------


class Dropout(Layer, function="dropout"):
    """In training mode each element is 0 with probability p, else scaled by 1 / (1 - p).

    The mode is what `train()` or `eval()` of this or a module around it said last, and
    `Tensor.training` where neither was called. `inplace` is taken and left alone.

    >>> nn.Dropout(0.5)(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    function: str

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= real(p, "p") <= 1:
            raise ArgumentError("p is a probability", asked=f"Dropout({p})", try_="0 <= p <= 1")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input."""
        x = tensor_for(self, input)
        if not self.p or not is_training(self):
            return x
        result: Tensor = getattr(F, self.function)(x, self.p, True)
        return result

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout1d(Dropout, function="dropout1d"):
    """Dropout of whole channels of (batch, channels, length): each is 0 or scaled.

    >>> y = nn.Dropout1d(0.5).train()(Tensor.ones(2, 3, 4))
    >>> (y == y[..., :1]).all().item()
    True
    """


class Dropout2d(Dropout, function="dropout2d"):
    """Dropout of whole channels of (batch, channels, height, width): each is 0 or scaled.

    >>> y = nn.Dropout2d(0.5).train()(Tensor.ones(2, 3, 4, 4))
    >>> (y == y[..., :1, :1]).all().item()
    True
    """


class Dropout3d(Dropout, function="dropout3d"):
    """Dropout of whole channels of (batch, channels, depth, height, width): each is 0 or scaled.

    >>> y = nn.Dropout3d(0.5).train()(Tensor.ones(2, 3, 2, 2, 2))
    >>> (y == y[..., :1, :1, :1]).all().item()
    True
    """


class AlphaDropout(Dropout, function="alpha_dropout"):
    """Dropout for SELU: what is dropped becomes -1.7581, the limit of SELU at -infinity.

    The result is scaled and shifted so that inputs of mean 0 and variance 1 keep both (Klambauer et
    al., 2017).

    >>> nn.AlphaDropout(0.5).train()(Tensor.zeros(3)).abs().tolist()
    [0.7792, 0.7792, 0.7792]
    """


class FeatureAlphaDropout(Dropout, function="feature_alpha_dropout"):
    """AlphaDropout of whole channels of (batch, channels, ...).

    >>> y = nn.FeatureAlphaDropout(0.5).train()(Tensor.ones(2, 3, 4))
    >>> (y == y[..., :1]).all().item()
    True
    """


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
        recompute_scale_factor: bool | None = None,
    ) -> None:
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """See the class."""
        given = (self.size, self.scale_factor, self.mode, self.align_corners)
        return F.interpolate(tensor_for(self, input), *given, self.recompute_scale_factor)

    def extra_repr(self) -> str:
        if self.scale_factor is None:
            return f"size={self.size}, mode={self.mode!r}"
        factor = self.scale_factor
        factor = float(factor) if isinstance(factor, int) else factor
        return f"scale_factor={factor}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of two axes with the mode "nearest".

    >>> nn.UpsamplingNearest2d(scale_factor=2)(Tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of two axes with the mode "bilinear" and aligned corners.

    >>> nn.UpsamplingBilinear2d((1, 3))(Tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.5, 2.0]]]]
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


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
                asked=f"{type(self).__name__}({shown(padding)})",
                try_=f"give {2 * self.axes} numbers, from the last axis on",
            )
        self.padding = sizes

    def forward(self, input: Tensor) -> Tensor:
        """See the class."""
        return F.pad(tensor_for(self, input), self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        return str(self.padding)


# the padding values of each mode
_FILLING = {
    "constant": "zeros",
    "reflect": "a mirror image of the elements, without the one at the edge",
    "replicate": "copies of the element at the edge",
    "circular": "the elements from the other end, as if the axis were a ring",
}
# for each number of axes the arguments of an example, and what each mode gives
_EXAMPLES: dict[int, tuple[str, str, dict[str, str]]] = {
    1: ("(2, 1)", "(Tensor([[1, 2, 3]])).tolist()", {
        "constant": "[[0, 0, 1, 2, 3, 0]]",
        "reflect": "[[3, 2, 1, 2, 3, 2]]",
        "replicate": "[[1, 1, 1, 2, 3, 3]]",
        "circular": "[[2, 3, 1, 2, 3, 1]]",
    }),
    2: ("(2, 0, 0, 1)", "(Tensor([[[1, 2, 3], [4, 5, 6]]])).tolist()", {
        "constant": "[[[0, 0, 1, 2, 3], [0, 0, 4, 5, 6], [0, 0, 0, 0, 0]]]",
        "reflect": "[[[3, 2, 1, 2, 3], [6, 5, 4, 5, 6], [3, 2, 1, 2, 3]]]",
        "replicate": "[[[1, 1, 1, 2, 3], [4, 4, 4, 5, 6], [4, 4, 4, 5, 6]]]",
        "circular": "[[[2, 3, 1, 2, 3], [5, 6, 4, 5, 6], [2, 3, 1, 2, 3]]]",
    }),
    3: ("(0, 0, 0, 0, 2, 1)", "(Tensor([[[[1]], [[2]], [[3]]]])).flatten().tolist()", {
        "constant": "[0, 0, 1, 2, 3, 0]",
        "reflect": "[3, 2, 1, 2, 3, 2]",
        "replicate": "[1, 1, 1, 2, 3, 3]",
        "circular": "[2, 3, 1, 2, 3, 1]",
    }),
}  # fmt: skip


def _padding(axes: int, mode: str, kind: str) -> type[_Padding]:
    """The class of one mode and number of axes."""
    name = f"{kind}Pad{axes}d"
    sides = ", ".join(("left", "right", "top", "bottom", "front", "back")[: 2 * axes])
    given, called, results = _EXAMPLES[axes]
    said = (
        f"Padding of the last {'axis' if axes == 1 else f'{axes} axes'} with {_FILLING[mode]}.\n\n"
        f"padding: one number, or ({sides}).\n\n"
        f">>> nn.{name}({given}){called}\n{results[mode]}\n"
    )
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
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad, axes=1):
    """Padding of the last axis with a number.

    padding: one number, or (left, right).

    >>> nn.ConstantPad1d((1, 2), 9)(Tensor([[1, 2]])).tolist()
    [[9, 1, 2, 9, 9]]
    """


class ConstantPad2d(_ConstantPad, axes=2):
    """Padding of the last 2 axes with a number.

    padding: one number, or (left, right, top, bottom).

    >>> nn.ConstantPad2d((1, 0, 0, 1), 9)(Tensor([[[1, 2]]])).tolist()
    [[[9, 1, 2], [9, 9, 9]]]
    """


class ConstantPad3d(_ConstantPad, axes=3):
    """Padding of the last 3 axes with a number.

    padding: one number, or (left, right, top, bottom, front, back).

    >>> nn.ConstantPad3d((0, 0, 0, 0, 1, 0), 9)(Tensor([[[[1, 2]]]])).tolist()
    [[[[9, 9]], [[1, 2]]]]
    """


class ChannelShuffle(Activation, function="channel_shuffle"):
    """The channels of all groups interleaved; see `nn.functional.channel_shuffle`.

    >>> nn.ChannelShuffle(2)(Tensor([[[1], [2], [3], [4]]])).tolist()
    [[[1], [3], [2], [4]]]
    """

    def __init__(self, groups: int) -> None:
        self._fix(groups=groups)


class LocalResponseNorm(Activation, function="local_response_norm"):
    """x / (k + alpha * mean(x^2))^beta, the mean over `size` neighbouring channels (Krizhevsky,
    Sutskever and Hinton, 2012).

    >>> nn.LocalResponseNorm(1, alpha=0.25, beta=1.0)(Tensor([[[2.0]]])).tolist()
    [[[1.0]]]
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self._fix(size=size, alpha=alpha, beta=beta, k=k)

    def extra_repr(self) -> str:
        return super().extra_repr().removeprefix("size=")


class PixelShuffle(Activation, function="pixel_shuffle"):
    """(..., C r^2, H, W) rearranged to (..., C, H r, W r).

    >>> nn.PixelShuffle(2)(Tensor.ones(1, 8, 3, 3)).shape
    (1, 2, 6, 6)
    """

    def __init__(self, upscale_factor: int) -> None:
        self._fix(upscale_factor=upscale_factor)


class PixelUnshuffle(Activation, function="pixel_unshuffle"):
    """(..., C, H r, W r) rearranged to (..., C r^2, H, W): the inverse of PixelShuffle.

    >>> nn.PixelUnshuffle(2)(Tensor([[[[1, 2], [3, 4]]]])).tolist()
    [[[[1]], [[2]], [[3]], [[4]]]]
    """

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
    """The p-norm of x1 - x2 + eps along the last axis, which keepdim keeps with size 1.

    >>> nn.PairwiseDistance()(Tensor([[3.0, 4.0]]), Tensor([[0.0, 0.0]])).tolist()
    [5.0]
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
