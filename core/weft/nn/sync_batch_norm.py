"""Batch normalisation over all devices."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import DType
from weft.base.errors import ArgumentError
from weft.nn.norm import BatchNormOfRanks, is_batch_norm


class SyncBatchNorm(BatchNormOfRanks, ranks=(2, 3, 4, 5)):
    """BatchNorm of (batch, channels, ...) over the whole batch of all devices.

    Statistics of a sharded tensor are always those of the whole batch, so this is BatchNorm under
    PyTorch's name. :raises ArgumentError: for a process_group, a part of the devices.

    >>> nn.SyncBatchNorm(3)(Tensor.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: None = None,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if process_group is not None:
            raise ArgumentError(
                "statistics are of the whole batch",
                asked=f"SyncBatchNorm(process_group={shown(process_group)})",
                try_="process_group=None",
            )
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype
        )

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: None = None) -> Any:
        """A module whose BatchNorm layers are SyncBatchNorm layers with the same parameters.

        >>> nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(2)))[0].ranks
        (2, 3, 4, 5)
        """
        if is_batch_norm(module) and not isinstance(module, cls):
            made = cls(module.num_features, process_group=process_group)
            vars(made).clear()
            vars(made).update(vars(module))
            return made
        for name, child in list(module.named_children()):
            owner, _, last = name.rpartition(".")
            new = cls.convert_sync_batchnorm(child, process_group)
            if new is not child and not owner:
                setattr(module, last, new)
        return module
