"""Averages of the parameters of a model: stochastic weight averaging and exponential averages.

Source: P. Izmailov and others, "Averaging weights leads to wider optima and better generalization"
(2018); B. Polyak and A. Juditsky (1992).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.base.arguments import choice, real, whole
from weft.base.dtype import dtypes
from weft.nn.module import Module
from weft.nn.norm import is_batch_norm
from weft.nn.optim.base import Optimizer
from weft.nn.optim.schedules import LRSchedule, per_group
from weft.nn.parameter import Buffer
from weft.tensor import Tensor

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

Average = Callable[[Tensor, Tensor, Any], Any]
ManyAverages = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_swa_avg_fn() -> Average:
    """The equal average of all parameters so far: average + (value - average) / (count + 1).

    >>> nn.optim.swa_utils.get_swa_avg_fn()(Tensor([1.0]), Tensor([4.0]), 2).item()
    2.0
    """
    return lambda average, value, count: average + (value - average) / (count + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The exponential moving average, which keeps `decay` of what it was.

    >>> nn.optim.swa_utils.get_ema_avg_fn(0.75)(Tensor([1.0]), Tensor([5.0]), 2).item()
    2.0
    """
    decay = real(decay, "decay")
    return lambda average, value, count: average * decay + value * (1.0 - decay)


def get_swa_multi_avg_fn() -> ManyAverages:
    """`get_swa_avg_fn` for lists of tensors, in place."""
    return _in_place(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> ManyAverages:
    """`get_ema_avg_fn` for lists of tensors, in place."""
    return _in_place(get_ema_avg_fn(decay))


def _in_place(average: Average) -> ManyAverages:
    def update(averages: Sequence[Tensor], values: Sequence[Tensor], count: Any) -> None:
        for each, value in zip(averages, values, strict=True):
            each.assign(average(each, value, count).cast(each.dtype))

    return update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those of the model.

    `update_parameters(model)` brings the present values in: the first call copies them. avg_fn: the
    new average of (average, value, number of averaged values), by default the equal average;
    multi_avg_fn: the same for lists, in place. use_buffers: average the buffers of floats too,
    instead of copying them. device: of the averages.

    >>> model, swa_utils = nn.Linear(1, 1, bias=False), nn.optim.swa_utils
    >>> averaged = swa_utils.AveragedModel(model, avg_fn=swa_utils.get_ema_avg_fn(0.75))
    >>> for value in (1.0, 5.0):
    ...     model.weight = Tensor([[value]])
    ...     averaged.update_parameters(model)
    >>> averaged(Tensor([[1.0]])).item(), list(averaged.state_dict())
    (2.0, ['n_averaged', 'module.weight'])
    """

    def __init__(
        self,
        model: Module,
        device: str | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: ManyAverages | None = None,
        use_buffers: bool = False,
    ) -> None:
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module.to(device)
        count = Tensor.zeros((), dtype=dtypes.int64, device=device)
        self.n_averaged: Tensor = Buffer(count.contiguous())
        update = multi_avg_fn or _in_place(avg_fn or get_swa_avg_fn())
        self._update, self.use_buffers = (update,), use_buffers  # a tuple holds no module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Bring the values of the parameters of `model` into the averages."""
        averages, values = self._pairs(model.parameters(), self.module.parameters())
        own, buffers = self._pairs(model.buffers(), self.module.buffers())
        if self.use_buffers:
            floats = [n for n, each in enumerate(own) if dtypes.is_float(each.dtype)]
            averages += [own[n] for n in floats]
            values += [buffers[n] for n in floats]
        is_first = self.n_averaged == 0
        self._update[0](averages, values, self.n_averaged)
        for average, value in zip(averages, values, strict=True):
            first = is_first.to(average.device)
            average.assign(first.where(value, average))
        averaged = {id(each) for each in averages}
        for target, value in zip(own, buffers, strict=True):
            if id(target) not in averaged:
                target.assign(value)
        self.n_averaged.assign(self.n_averaged + 1)
        Tensor.realize(*averages, *own, self.n_averaged)

    def _pairs(
        self, theirs: Iterable[Tensor], own: Iterable[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """The tensors here, detached, and those of a model where they are."""
        mine = [each.detach() for each in own]
        given = [
            value.detach().to(each.device).cast(each.dtype)
            for each, value in zip(mine, theirs, strict=True)
        ]
        return mine, given


def update_bn(loader: Iterable[Any], model: Module, device: str | None = None) -> None:
    """Compute the running statistics of the BatchNorm layers of a model anew, over all batches.

    A batch is a tensor, or a list or tuple that begins with it.

    >>> model = nn.Sequential(nn.BatchNorm1d(1))
    >>> nn.optim.swa_utils.update_bn([Tensor([[1.0], [3.0]]), Tensor([[5.0], [7.0]])], model)
    >>> model[0].running_mean.tolist()
    [4.0]
    """
    modules: list[Any] = list(model.modules())
    layers = [each for each in modules if is_batch_norm(each) and each.running_mean is not None]
    if not layers:
        return
    modes = {id(each): (each, each.__dict__.get("training")) for each in modules}
    momenta = [each.momentum for each in layers]
    for each in layers:
        each.running_mean.assign(each.running_mean.zeros_like())
        each.running_var.assign(each.running_var.ones_like())
        each.num_batches_tracked.assign(each.num_batches_tracked.zeros_like())
        each.momentum = None
    try:
        model.train()
        for batch in loader:
            x = batch[0] if isinstance(batch, list | tuple) else batch
            model(x if device is None else x.to(device))
            Tensor.realize(*(buffer for each in layers for buffer in each.buffers()))
    finally:
        for each, momentum in zip(layers, momenta, strict=True):
            each.momentum = momentum
        for each, mode in modes.values():
            each.__dict__.pop("training", None)
            if mode is not None:
                each.__dict__["training"] = mode


class SWALR(LRSchedule):
    """From the rates at the first step to swa_lr within anneal_epochs, and no further.

    swa_lr: a number, or one for each group. anneal_strategy: "cos" or "linear".

    >>> schedule = nn.optim.swa_utils.SWALR(nn.optim.SGD([Tensor([1.0])], lr=1.0), 0.5, 2, "linear")
    >>> [schedule.rate(step) for step in range(4)]
    [1.0, 0.75, 0.5, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        choice(anneal_strategy, "anneal_strategy", ("cos", "linear"))
        self.swa_lrs = per_group(optimizer, "SWALR", "swa_lr", swa_lr)
        self.anneal_epochs = whole(anneal_epochs, "anneal_epochs", least=0)
        self.cosine = anneal_strategy == "cos"
        self.start_lrs = [group["lr"] for group in optimizer.param_groups]
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: float | None = None) -> None:
        """One step further, or to the step `epoch`. The first one starts at the present rates."""
        if self.last_epoch == 0:
            self.start_lrs = [group["lr"] for group in self.optimizer.param_groups]
        super().step(epoch)

    def rate(self, step: int) -> float:
        part = min(1.0, step / max(1, self.anneal_epochs)) if self.anneal_epochs else 1.0
        if self.cosine:
            part = (1 - math.cos(math.pi * part)) / 2
        start = self.start_lrs[self.group]
        return start + (self.swa_lrs[self.group] - start) * part
