"""Schedules: what the learning rate is at each step. Names and formulas as in PyTorch.

schedule = CosineAnnealingLR(optimizer, T_max=100)
for batch in data:
    ...
    optimizer.step()
    schedule.step()
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer


class LRSchedule:
    """What all schedules share: the optimiser, its first rate, and how often `step` was called.

    Making a schedule sets the rate of step 0.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.base_lr = float(optimizer.lr.item())
        self.last_epoch = 0
        self._set()

    def rate(self, step: int) -> float:
        """The learning rate after `step` steps."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its rate is")

    def step(self) -> None:
        """One step further."""
        self.last_epoch += 1
        self._set()

    def get_last_lr(self) -> float:
        """The rate that was set last."""
        return self.rate(self.last_epoch)

    def _set(self) -> None:
        self.optimizer.lr = self.rate(self.last_epoch)


class LambdaLR(LRSchedule):
    """The first rate times what a function of the step says."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float]) -> None:
        self.lr_lambda = lr_lambda
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        """See LRSchedule."""
        return self.base_lr * self.lr_lambda(step)


class StepLR(LRSchedule):
    """Times gamma every step_size steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        self.step_size, self.gamma = _positive("step_size", step_size), gamma
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        """See LRSchedule."""
        return self.base_lr * self.gamma ** (step // self.step_size)


class MultiStepLR(LRSchedule):
    """Times gamma at each milestone."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        """See LRSchedule."""
        return self.base_lr * self.gamma ** sum(step >= m for m in self.milestones)


class ExponentialLR(LRSchedule):
    """Times gamma at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self.gamma = gamma
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        """See LRSchedule."""
        return self.base_lr * self.gamma**step


class LinearLR(LRSchedule):
    """A warmup: the factor goes evenly from start_factor to end_factor over total_iters steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = _positive("total_iters", total_iters)
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        """See LRSchedule."""
        part = min(step, self.total_iters) / self.total_iters
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * part)


class CosineAnnealingLR(LRSchedule):
    """Half a cosine from the first rate to eta_min over T_max steps (Loshchilov and Hutter, 2017).

    Behind T_max it goes up again, as the formula says.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        self.T_max, self.eta_min = _positive("T_max", T_max), eta_min
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        """See LRSchedule."""
        wave = (1 + math.cos(math.pi * step / self.T_max)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * wave


class OneCycleLR(LRSchedule):
    """Up to max_lr and down far below the start, once (Smith and Topin, 2019).

    It begins at max_lr / div_factor, reaches max_lr after pct_start of total_steps, and ends at
    max_lr / div_factor / final_div_factor. anneal_strategy: "cos" or "linear". Raises ArgumentError
    for steps beyond total_steps.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float,
        total_steps: int,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
    ) -> None:
        if anneal_strategy not in ("cos", "linear") or not 0 < pct_start < 1:
            raise ArgumentError(
                "a cycle goes up and down by cosines or straight lines",
                asked=f"OneCycleLR(anneal_strategy={anneal_strategy!r}, pct_start={pct_start})",
                because="the strategy is 'cos' or 'linear', the share of going up between 0 and 1",
            )
        self.max_lr, self.total_steps = max_lr, _positive("total_steps", total_steps)
        self.top = pct_start * total_steps - 1
        self.cosine = anneal_strategy == "cos"
        self.first = max_lr / div_factor
        self.last = self.first / final_div_factor
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        """See LRSchedule."""
        if step >= self.total_steps:
            raise ArgumentError(
                "the cycle is over",
                asked=f"step {step}",
                because=f"it was made for {self.total_steps} steps",
                try_="make it with as many steps as there will be",
            )
        if step <= self.top:
            return self._between(self.first, self.max_lr, step / self.top)
        return self._between(
            self.max_lr, self.last, (step - self.top) / (self.total_steps - 1 - self.top)
        )

    def _between(self, start: float, end: float, part: float) -> float:
        if self.cosine:
            part = (1 - math.cos(math.pi * part)) / 2
        return start + (end - start) * part


class SequentialLR(LRSchedule):
    """One schedule after the other, each from its milestone on, each counting from its own start.

    All must be schedules of the same optimiser, made while it had its first rate.
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRSchedule], milestones: Sequence[int]
    ) -> None:
        if len(schedulers) != len(milestones) + 1 or list(milestones) != sorted(milestones):
            raise ArgumentError(
                "between two schedules there is one milestone",
                asked=f"{len(schedulers)} schedules and milestones {list(milestones)}",
                try_="give one milestone less than schedules, in rising order",
            )
        if any(each.optimizer is not optimizer for each in schedulers):
            raise ArgumentError(
                "these schedules belong to another optimiser",
                asked=f"SequentialLR of {len(schedulers)} schedules",
                try_="make all of them with the optimiser that this one is for",
            )
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        for each in self.schedulers[1:]:
            each.base_lr = self.schedulers[0].base_lr
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        """See LRSchedule."""
        current = sum(step >= m for m in self.milestones)
        start = self.milestones[current - 1] if current else 0
        return self.schedulers[current].rate(step - start)


class ReduceLROnPlateau:
    """Times `factor` when a measure has not improved for more than `patience` steps.

    mode: "min" where less is better, else "max". An improvement is one by more than `threshold` of
    the best so far. The rate never falls below min_lr.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ) -> None:
        if mode not in ("min", "max") or not 0 <= factor < 1:
            raise ArgumentError(
                "a plateau is left downwards",
                asked=f"ReduceLROnPlateau(mode={mode!r}, factor={factor})",
                because="mode is 'min' or 'max', the factor from 0 to below 1",
            )
        self.optimizer, self.mode, self.factor = optimizer, mode, factor
        self.patience, self.threshold = patience, threshold
        self.cooldown, self.min_lr = cooldown, min_lr
        self.best = math.inf if mode == "min" else -math.inf
        self.bad = self.cooling = 0
        self.last_lr = float(optimizer.lr.item())

    def step(self, metric: float) -> None:
        """Tell the measure of this step."""
        better = (
            metric < self.best * (1 - self.threshold)
            if self.mode == "min"
            else metric > self.best * (1 + self.threshold)
        )
        if better:
            self.best, self.bad = metric, 0
        else:
            self.bad += 1
        if self.cooling:
            self.cooling -= 1
            self.bad = 0
        if self.bad > self.patience:
            self.last_lr = max(self.last_lr * self.factor, self.min_lr)
            self.optimizer.lr = self.last_lr
            self.cooling, self.bad = self.cooldown, 0

    def get_last_lr(self) -> float:
        """The rate that was set last."""
        return self.last_lr


def _positive(name: str, count: int) -> int:
    if count < 1:
        raise ArgumentError("a schedule has at least one step", asked=f"{name}={count}")
    return count
