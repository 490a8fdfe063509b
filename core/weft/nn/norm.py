"""Normalisation: centre and scale by statistics of the batch, of channels or of features.

Statistics of halves are computed in float32, because squares of halves overflow at 256.
"""

from __future__ import annotations

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import least_upper_dtype
from weft.tensor import Tensor


def _normalise(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over `axes`, in x's dtype; variance without correction."""
    wide = x.cast(least_upper_dtype(x.dtype, dtypes.float32))
    centred = wide - wide.mean(axes, keepdim=True)
    variance = centred.square().mean(axes, keepdim=True)
    return (centred * (variance + eps).rsqrt()).cast(x.dtype)


def _along_channels(value: Tensor, ndim: int) -> Tensor:
    """(channels,) -> (1, channels, 1, ...) of `ndim` axes."""
    return value.reshape(1, -1, *(1,) * (ndim - 2))


class BatchNorm:
    """Per channel (axis 1) over the batch and all spatial axes (Ioffe and Szegedy, 2015).

    While `Tensor.training`, the batch's own statistics are used and the running ones follow them:
    running += momentum * (batch - running), the variance with Bessel's correction. Otherwise the
    running statistics are used. The running tensors are updated lazily; an optimiser that was given
    all tensors of the model realises them with its step.
    """

    def __init__(
        self,
        channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        track_running_stats: bool = True,
        momentum: float = 0.1,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.channels, self.eps, self.momentum = channels, eps, momentum
        self.track_running_stats = track_running_stats
        where = {"device": device, "dtype": dtype}
        self.weight = Tensor.ones(channels, **where).contiguous() if affine else None
        self.bias = Tensor.zeros(channels, **where).contiguous() if affine else None
        self.running_mean: Tensor | None = None
        self.running_var: Tensor | None = None
        self.num_batches_tracked: Tensor | None = None
        if track_running_stats:
            still = {"device": device, "requires_grad": False}
            self.running_mean = Tensor.zeros(channels, dtype=dtype, **still).contiguous()
            self.running_var = Tensor.ones(channels, dtype=dtype, **still).contiguous()
            self.num_batches_tracked = Tensor.zeros(1, dtype=dtypes.int64, **still).contiguous()

    def __call__(self, x: Tensor) -> Tensor:
        if x.ndim < 2 or x.shape[1] != self.channels:
            raise ShapeError(
                "the input does not have the channels of this normalisation",
                asked=f"batch normalisation of shape {x.shape}",
                because=f"axis 1 must have {self.channels} channels",
                try_="check the order of axes: (batch, channels, ...)",
            )
        mean, variance = self._statistics(x)
        y = (x - _along_channels(mean, x.ndim)) * _along_channels(
            (variance + self.eps).rsqrt(), x.ndim
        )
        if self.weight is not None and self.bias is not None:
            y = y * _along_channels(self.weight, x.ndim) + _along_channels(self.bias, x.ndim)
        return y.cast(x.dtype)

    def _statistics(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(mean, variance), each (channels,)."""
        if not Tensor.training and self.running_mean is not None and self.running_var is not None:
            return self.running_mean, self.running_var
        axes = tuple(axis for axis in range(x.ndim) if axis != 1)
        wide = x.cast(least_upper_dtype(x.dtype, dtypes.float32))
        mean = wide.mean(axes)
        variance = (wide - _along_channels(mean, x.ndim)).square().mean(axes)
        if Tensor.training and self.track_running_stats:
            self._follow(mean.detach(), variance.detach(), x.numel() // self.channels)
        return mean, variance

    def _follow(self, mean: Tensor, variance: Tensor, count: int) -> None:
        if self.running_mean is None or self.running_var is None:
            return
        unbiased = variance * (count / max(count - 1, 1))
        for running, batch in ((self.running_mean, mean), (self.running_var, unbiased)):
            moved = running * (1 - self.momentum) + batch * self.momentum
            running.assign(moved.cast(running.dtype))
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.assign(self.num_batches_tracked + 1)


BatchNorm2d = BatchNorm
BatchNorm3d = BatchNorm


class GroupNorm:
    """Per sample over groups of channels (Wu and He, 2018). Input (batch, channels, ...)."""

    def __init__(
        self,
        groups: int,
        channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if groups < 1 or channels % groups:
            raise ArgumentError(
                "channels do not divide into groups",
                asked=f"{channels} channels in {groups} groups",
                because="every group has the same number of channels",
                try_="choose a number of groups that divides the channels",
            )
        self.groups, self.channels, self.eps = groups, channels, eps
        where = {"device": device, "dtype": dtype}
        self.weight = Tensor.ones(channels, **where).contiguous() if affine else None
        self.bias = Tensor.zeros(channels, **where).contiguous() if affine else None

    def __call__(self, x: Tensor) -> Tensor:
        if x.ndim < 2 or x.shape[1] != self.channels:
            raise ShapeError(
                "the input does not have the channels of this normalisation",
                asked=f"group normalisation of shape {x.shape}",
                because=f"axis 1 must have {self.channels} channels",
                try_="check the order of axes: (batch, channels, ...)",
            )
        grouped = x.reshape(x.shape[0], self.groups, x.numel() // (x.shape[0] * self.groups))
        y = _normalise(grouped, (2,), self.eps).reshape(*x.shape)
        if self.weight is None or self.bias is None:
            return y
        return y * _along_channels(self.weight, x.ndim) + _along_channels(self.bias, x.ndim)


class InstanceNorm(GroupNorm):
    """Per sample and channel over the spatial axes: every channel is its own group."""

    def __init__(
        self,
        channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(channels, channels, eps, affine, device, dtype)


class LayerNorm:
    """Over the last axes, which must have the given shape (Ba, Kiros and Hinton, 2016)."""

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        where = {"device": device, "dtype": dtype}
        affine = elementwise_affine
        self.weight = Tensor.ones(*self.normalized_shape, **where).contiguous() if affine else None
        self.bias = Tensor.zeros(*self.normalized_shape, **where).contiguous() if affine else None

    def __call__(self, x: Tensor) -> Tensor:
        count = len(self.normalized_shape)
        if tuple(x.shape[x.ndim - count :]) != self.normalized_shape or x.ndim < count:
            raise ShapeError(
                "the input's last axes are not those of this normalisation",
                asked=f"layer normalisation of shape {x.shape}",
                because=f"the last {count} axes must be {self.normalized_shape}",
                try_="move the features to the end",
            )
        y = _normalise(x, tuple(range(x.ndim - count, x.ndim)), self.eps)
        if self.weight is None or self.bias is None:
            return y
        return y * self.weight + self.bias


class LayerNorm2d(LayerNorm):
    """Layer normalisation over the channels (axis 1) of (batch, channels, height, width)."""

    def __call__(self, x: Tensor) -> Tensor:
        return super().__call__(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class RMSNorm:
    """x / sqrt(mean(x^2) + eps) over the last axis, times a weight (Zhang and Sennrich, 2019)."""

    def __init__(
        self,
        features: int,
        eps: float = 1e-6,
        elementwise_affine: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.eps = eps
        where = {"device": device, "dtype": dtype}
        self.weight = Tensor.ones(features, **where).contiguous() if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        wide = x.cast(least_upper_dtype(x.dtype, dtypes.float32))
        scale = (wide.square().mean(-1, keepdim=True) + self.eps).rsqrt()
        y = (wide * scale).cast(x.dtype)
        return y if self.weight is None else y * self.weight
