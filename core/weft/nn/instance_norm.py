"""Instance normalisation as PyTorch has it (Ulyanov, Vedaldi and Lempitsky, 2016)."""

from __future__ import annotations

from typing import Any

from weft.base.dtype import DType
from weft.base.promotion import least_upper_float
from weft.base.sequences import prod
from weft.nn.input_checks import tensor_for
from weft.nn.norm import (
    BatchNorm,
    along_channels,
    check_channels,
    check_rank,
    follow,
    scaled,
    widened,
)
from weft.nn.training_mode import is_training
from weft.tensor import Tensor


class _InstanceNormOf(BatchNorm):
    """InstanceNorm as PyTorch has it: without scale and shift unless `affine`, and with running
    statistics if requested."""

    ranks: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, affine, track_running_stats, momentum, bias, device, dtype
        )

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input, (batch, num_features, ...), or without the batch."""
        x = tensor_for(self, input)
        check_rank(self, x, self.ranks)
        if x.ndim == self.ranks[0]:
            return self.forward(x.unsqueeze(0)).squeeze(0)
        check_channels("instance", x, self.num_features)
        running = self.running_mean, self.running_var
        if self.running_mean is not None and not is_training(self):
            shape = along_channels(x.ndim)
            mean, variance = (each.reshape(shape) for each in running if each is not None)
            y = (widened(x) - mean) * (variance + self.eps).rsqrt()
            return self._scaled(y, x.dtype, shape).cast(least_upper_float(x.dtype))
        share = 0.0 if self.momentum is None else self.momentum  # batches are not counted
        return by_instance(x, *running, self.weight, self.bias, share, self.eps)


def by_instance(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    share: Any,
    eps: float,
) -> Tensor:
    """Per sample and channel by its own statistics, whose means the running ones follow."""
    axes, wide = tuple(range(2, x.ndim)), widened(x)
    mean = wide.mean(axes, keepdim=True)
    variance = (wide - mean).square().mean(axes, keepdim=True)
    if running_mean is not None:
        rows = [each.detach().reshape(*x.shape[:2]) for each in (mean, variance)]
        means, variances = (each.mean(0) for each in rows)
        follow(running_mean, running_var, means, variances, prod(x.shape[2:]), share)
    y = (wide - mean) * (variance + eps).rsqrt()
    return scaled(y, weight, bias, x.dtype, along_channels(x.ndim)).cast(least_upper_float(x.dtype))


class InstanceNorm1d(_InstanceNormOf, ranks=(2, 3)):
    """Per sample and channel of (batch, channels, length).

    >>> nn.InstanceNorm1d(1)(Tensor([[[1.0, 3.0]]])).tolist()
    [[[-1.0, 1.0]]]
    """


class InstanceNorm2d(_InstanceNormOf, ranks=(3, 4)):
    """Per sample and channel of (batch, channels, height, width).

    >>> nn.InstanceNorm2d(2)(Tensor.ones(1, 2, 3, 3)).shape
    (1, 2, 3, 3)
    """


class InstanceNorm3d(_InstanceNormOf, ranks=(4, 5)):
    """Per sample and channel of (batch, channels, depth, height, width).

    >>> nn.InstanceNorm3d(2)(Tensor.ones(1, 2, 3, 3, 3)).shape
    (1, 2, 3, 3, 3)
    """
