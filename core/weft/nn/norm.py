"""Normalisation: centre and scale by statistics of the batch, of channels or of features.

Statistics of halves are computed in float32, because squares of halves overflow at 256, and the
result is rounded once, behind scale and shift.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown, whole
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import least_upper_dtype, least_upper_float
from weft.base.sequences import prod
from weft.nn.input_checks import tensor_for
from weft.nn.module import Layer
from weft.nn.parameter import Buffer, parameter
from weft.nn.training_mode import is_training
from weft.tensor import Tensor
from weft.tensor.autocast import answered_in
from weft.tensor.tracing_cache import traced_once

__all__ = [
    "BatchNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm",
    "LayerNorm", "LayerNorm2d", "RMSNorm",
]  # fmt: skip


class _Norm(Layer):
    """The common base: weight and bias of one shape, or None, and their flags."""

    weight: Tensor | None
    bias: Tensor | None

    def _learn(
        self, shape: tuple[int, ...], affine: bool, bias: bool, device: str | None, dtype: Any
    ) -> None:
        if not isinstance(affine, bool):
            raise ArgumentError(
                "whether scale and shift are learnt is a yes or a no",
                asked=f"{type(self).__name__} with affine={shown(affine)}",
                because="affine comes right behind eps here, and momentum last",
                try_=f"give it by its name: momentum={shown(affine)}",
            )
        where: dict[str, Any] = {"device": device, "dtype": dtype}
        self.weight = parameter(Tensor.ones(*shape, **where)) if affine else None
        self.bias = parameter(Tensor.zeros(*shape, **where)) if affine and bias else None

    def _scaled(self, y: Tensor, kind: DType, shape: tuple[int, ...] | None = None) -> Tensor:
        return scaled(y, self.weight, self.bias, kind, shape)


@traced_once
def scaled(
    y: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    kind: DType,
    shape: tuple[int, ...] | None = None,
) -> Tensor:
    """y * weight + bias, both in `shape`, as `kind`, or what it and the weight have in common; as a
    float, where `kind` is of integers.

    A wider `y` is narrowed behind the sum.
    """
    kind = answered_in(least_upper_float(kind))
    for factor, combine in ((weight, Tensor.mul), (bias, Tensor.add)):
        if factor is not None:
            y = combine(y, factor if shape is None else factor.reshape(shape))
            kind = least_upper_dtype(kind, factor.dtype)
    return y.cast(kind)


def widened(x: Tensor) -> Tensor:
    return x.cast(least_upper_dtype(x.dtype, dtypes.float32))


@traced_once
def normalised(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over `axes`, as wide as x is; variance uncorrected."""
    centred = x - x.mean(axes, keepdim=True)
    return centred * (centred.square().mean(axes, keepdim=True) + eps).rsqrt()


@traced_once
def variance_around(x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The uncorrected variance of each channel over `axes`, with the mean of each channel."""
    return (x - mean.reshape(along_channels(x.ndim))).square().mean(axes)


@traced_once
def standardised(x: Tensor, mean: Tensor, variance: Tensor, eps: float) -> Tensor:
    """(x - mean) / sqrt(variance + eps) of statistics of each channel."""
    shape = along_channels(x.ndim)
    return (x - mean.reshape(shape)) * (variance + eps).rsqrt().reshape(shape)


def along_channels(ndim: int) -> tuple[int, ...]:
    """The shape in which (channels,) broadcasts with a tensor of `ndim` axes."""
    return (1, -1, *(1,) * (ndim - 2))


def check_channels(what: str, x: Tensor, channels: int) -> None:
    if x.ndim < 2 or x.shape[1] != channels:
        raise ShapeError(
            "the input does not have the channels of this normalisation",
            asked=f"{what} normalisation of shape {x.shape}",
            because=f"axis 1 must have {channels} channels",
            try_="check the order of axes: (batch, channels, ...)",
        )


class BatchNorm(_Norm):
    """Per channel (axis 1) over the batch and all spatial axes (Ioffe and Szegedy, 2015).

    In training mode the batch's own statistics are used and the running ones follow them:
    running += momentum * (batch - running), the variance with Bessel's correction. With momentum
    None they are the average of all batches so far. Otherwise the running statistics are used. The
    running tensors are updated lazily; an optimiser that was given all tensors of the model
    realises them with its step.

    >>> norm = nn.BatchNorm2d(3)
    >>> norm(Tensor.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    >>> with Tensor.train():
    ...     y = nn.BatchNorm(1)(Tensor([[1.0], [3.0]]))
    >>> y.tolist()
    [[-1.0], [1.0]]
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        affine: bool = True,
        track_running_stats: bool = True,
        momentum: float | None = 0.1,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.track_running_stats = track_running_stats
        self._learn((num_features,), affine, bias, device, dtype)
        self.running_mean: Tensor | None = None
        self.running_var: Tensor | None = None
        self.num_batches_tracked: Tensor | None = None
        if track_running_stats:
            mean = Tensor.zeros(num_features, dtype=dtype, device=device)
            variance = Tensor.ones(num_features, dtype=dtype, device=device)
            count = Tensor.zeros((), dtype=dtypes.int64, device=device)
            self.running_mean = Buffer(mean.contiguous())
            self.running_var = Buffer(variance.contiguous())
            self.num_batches_tracked = Buffer(count.contiguous())

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.weight is not None}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input, (batch, num_features, ...), and its dtype. Raises ShapeError."""
        x = tensor_for(self, input)
        check_channels("batch", x, self.num_features)
        training = is_training(self)
        share = self._share(x) if training and self.track_running_stats else 0.0
        running = self.running_mean, self.running_var
        return by_batch(x, *running, self.weight, self.bias, training, share, self.eps)

    def _share(self, x: Tensor) -> Any:
        """How far the running statistics move with this batch, which is counted."""
        seen = self.num_batches_tracked
        if seen is not None:
            seen.assign(seen + 1)
        if self.momentum is not None:
            return self.momentum
        return 1.0 if seen is None else 1.0 / seen.cast(least_upper_dtype(x.dtype, dtypes.float32))


def by_batch(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    share: Any,
    eps: float,
) -> Tensor:
    """Per channel by the batch's own statistics if `training`, which the running ones follow."""
    shape, wide = along_channels(x.ndim), widened(x)
    if training or running_mean is None or running_var is None:
        axes = tuple(axis for axis in range(x.ndim) if axis != 1)
        mean = wide.mean(axes)
        variance = variance_around(wide, mean, axes)
        if training:
            count = prod(x.shape[axis] for axis in axes)
            follow(running_mean, running_var, mean.detach(), variance.detach(), count, share)
    else:
        mean, variance = running_mean, running_var
    y = standardised(wide, mean, variance, eps)
    return scaled(y, weight, bias, x.dtype, shape).cast(least_upper_float(x.dtype))


def follow(
    running_mean: Tensor | None,
    running_var: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    count: int,
    share: Any,
) -> None:
    """Move running statistics towards those of a batch of `count` elements per channel."""
    if running_mean is None or running_var is None or count == 0:
        return  # an empty batch says nothing
    unbiased = variance * (count / max(count - 1, 1))
    for running, batch in ((running_mean, mean), (running_var, unbiased)):
        moved = running * (1 - share) + batch.detach() * share
        running.assign(moved.cast(running.dtype))


class BatchNormOfRanks(BatchNorm):
    """BatchNorm with PyTorch's order of arguments; a bool in the place of the momentum is `affine`,
    as in BatchNorm."""

    ranks: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: Any = True,
        track_running_stats: Any = True,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if isinstance(momentum, bool):
            last = 0.1 if isinstance(track_running_stats, bool) else track_running_stats
            momentum, affine, track_running_stats = last, momentum, affine
        super().__init__(
            num_features, eps, affine, track_running_stats, momentum, bias, device, dtype
        )

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input, (batch, num_features, ...), and its dtype. Raises ShapeError."""
        check_rank(self, input, self.ranks)
        return super().forward(input)


class BatchNorm1d(BatchNormOfRanks, ranks=(2, 3)):
    """BatchNorm of (batch, features) or (batch, channels, length).

    >>> nn.BatchNorm1d(3)(Tensor.ones(2, 3)).shape
    (2, 3)
    """


class BatchNorm2d(BatchNormOfRanks, ranks=(4,)):
    """BatchNorm of (batch, channels, height, width).

    >>> nn.BatchNorm2d(3)(Tensor.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """


class BatchNorm3d(BatchNormOfRanks, ranks=(5,)):
    """BatchNorm of (batch, channels, depth, height, width).

    >>> nn.BatchNorm3d(3)(Tensor.ones(2, 3, 2, 4, 4)).shape
    (2, 3, 2, 4, 4)
    """


def is_batch_norm(module: Any) -> bool:
    """Whether a module normalises over the batch; instance normalisation does not."""
    return type(module) is BatchNorm or isinstance(module, BatchNormOfRanks)


def check_rank(layer: Layer, x: Tensor, ranks: tuple[int, ...]) -> None:
    if tensor_for(layer, x).ndim not in ranks:
        name = type(layer).__name__
        raise ShapeError(
            f"{name} takes inputs of {' or '.join(map(str, ranks))} axes",
            asked=f"{name} of shape {x.shape}",
            because=f"that has {x.ndim}",
            try_="the layer of that many spatial axes, or BatchNorm for any number of them"
            if isinstance(layer, BatchNorm)
            else "add a batch axis, x.unsqueeze(0)",
        )


class GroupNorm(_Norm):
    """Per sample over groups of channels (Wu and He, 2018). Input (batch, channels, ...).

    >>> nn.GroupNorm(2, 4)(Tensor.ones(1, 4, 8, 8)).shape
    (1, 4, 8, 8)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        num_groups = whole(num_groups, "num_groups")
        num_channels = whole(num_channels, "num_channels")
        if num_groups < 1 or num_channels % num_groups:
            raise ArgumentError(
                "channels do not divide into groups",
                asked=f"{num_channels} channels in {num_groups} groups",
                because="every group has the same number of channels",
                try_="choose a number of groups that divides the channels",
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self._learn((num_channels,), affine, bias, device, dtype)

    def extra_repr(self) -> str:
        affine, bias = self.weight is not None, self.bias is not None
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, {affine=}, {bias=}"

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input, (batch, num_channels, ...). Raises ShapeError."""
        x = tensor_for(self, input)
        check_channels("group", x, self.num_channels)
        size = prod(x.shape[1:]) // self.num_groups
        grouped = widened(x).reshape(x.shape[0], self.num_groups, size)
        y = normalised(grouped, (2,), self.eps).reshape(*x.shape)
        return self._scaled(y, x.dtype, along_channels(x.ndim))


class InstanceNorm(GroupNorm):
    """Per sample and channel over the spatial axes: every channel is its own group.

    >>> nn.InstanceNorm(1)(Tensor([[[1.0, 3.0]]])).tolist()
    [[[-1.0, 1.0]]]
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        affine: bool = True,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(num_features, num_features, eps, affine, bias, device, dtype)

    def extra_repr(self) -> str:
        return f"{self.num_channels}, eps={self.eps}, affine={self.weight is not None}"


class LayerNorm(_Norm):
    """Over the last axes, which must have the given shape (Ba, Kiros and Hinton, 2016).

    >>> nn.LayerNorm(2)(Tensor([[1.0, 3.0], [0.0, 8.0]])).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.normalized_shape, self.eps = as_shape(normalized_shape), eps
        self._learn(self.normalized_shape, elementwise_affine, bias, device, dtype)

    def extra_repr(self) -> str:
        return _of_last_axes(self, self.normalized_shape, self.eps)

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input, whose last axes are normalized_shape. Raises ShapeError."""
        x = tensor_for(self, input)
        axes = last_axes("layer", x, self.normalized_shape)
        return self._scaled(normalised(widened(x), axes, self.eps), x.dtype)


class LayerNorm2d(LayerNorm):
    """Layer normalisation over the channels (axis 1) of (batch, channels, height, width).

    >>> nn.LayerNorm2d(3)(Tensor.ones(1, 3, 4, 4)).shape
    (1, 3, 4, 4)
    """

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input, (batch, normalized_shape, height, width). Raises ShapeError."""
        x = tensor_for(self, input)
        if x.ndim != 4:
            raise ShapeError(
                "the input is no batch of images",
                asked=f"layer normalisation over the channels of shape {x.shape}",
                because="this one takes (batch, channels, height, width)",
                try_="use LayerNorm for other numbers of axes, with the features last",
            )
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class RMSNorm(_Norm):
    """x / sqrt(mean(x^2) + eps) over the last axes, times a weight (Zhang and Sennrich, 2019).

    >>> nn.RMSNorm(2)(Tensor([3.0, 4.0])).tolist()
    [0.8485, 1.1314]
    """

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float = 1e-6,
        elementwise_affine: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.normalized_shape, self.eps = as_shape(normalized_shape), eps
        self._learn(self.normalized_shape, elementwise_affine, False, device, dtype)

    def extra_repr(self) -> str:
        return _of_last_axes(self, self.normalized_shape, self.eps)

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input, whose last axes are normalized_shape. Raises ShapeError."""
        x = tensor_for(self, input)
        axes = last_axes("root-mean-square", x, self.normalized_shape)
        wide = widened(x)
        scale = (wide.square().mean(axes, keepdim=True) + self.eps).rsqrt()
        return self._scaled(wide * scale, x.dtype)


def _of_last_axes(layer: _Norm, shape: tuple[int, ...], eps: float) -> str:
    bias = "" if isinstance(layer, RMSNorm) else f", bias={layer.bias is not None}"
    return f"{shape}, eps={eps}, elementwise_affine={layer.weight is not None}{bias}"


def as_shape(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    given = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    return tuple(whole(size, "normalized_shape", least=0) for size in given)


def last_axes(what: str, x: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    count = len(shape)
    if x.ndim < count or tuple(x.shape[x.ndim - count :]) != shape:
        raise ShapeError(
            "the input's last axes are not those of this normalisation",
            asked=f"{what} normalisation of shape {x.shape}",
            because=f"the last {count} axes must be {shape}",
            try_="move the features to the end",
        )
    return tuple(range(x.ndim - count, x.ndim))
