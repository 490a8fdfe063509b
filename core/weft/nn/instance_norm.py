"""Instance normalisation as PyTorch has it (Ulyanov, Vedaldi and Lempitsky, 2016)."""

from __future__ import annotations

from weft.base.dtype import DType
from weft.base.promotion import least_upper_float
from weft.base.sequences import prod
from weft.nn.input_checks import tensor_for
from weft.nn.norm import BatchNorm, along_channels, check_channels, check_rank, follow, widened
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
    ) -> None:
        super().__init__(
            num_features, eps, affine, track_running_stats, momentum, True, device, dtype
        )

    def forward(self, x: Tensor) -> Tensor:
        """The same shape as x, (batch, num_features, ...), or without the batch."""
        x = tensor_for(self, x)
        check_rank(self, x, self.ranks)
        if x.ndim == self.ranks[0]:
            return self.forward(x.unsqueeze(0)).squeeze(0)
        check_channels("instance", x, self.num_features)
        shape, wide = along_channels(x.ndim), widened(x)
        training = self.running_mean is not None and is_training(self)
        if self.running_mean is not None and self.running_var is not None and not training:
            mean, variance = self.running_mean.reshape(shape), self.running_var.reshape(shape)
        else:
            axes = tuple(range(2, x.ndim))
            mean = wide.mean(axes, keepdim=True)
            variance = (wide - mean).square().mean(axes, keepdim=True)
            if training:
                rows = [each.detach().reshape(*x.shape[:2]) for each in (mean, variance)]
                means, variances = (each.mean(0) for each in rows)
                follow(
                    self.running_mean, self.running_var, means, variances, prod(x.shape[2:]),
                    self._share(x),
                )  # fmt: skip
        y = (wide - mean) * (variance + self.eps).rsqrt()
        return self._scaled(y, x.dtype, shape).cast(least_upper_float(x.dtype))


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
