"""Schedules of cycles: up to a largest rate and down again, once or many times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from weft.base.arguments import choice, real, whole
from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.nn.optim.schedules import LRSchedule, per_group, positive

__all__ = ["CyclicLR", "OneCycleLR"]


class OneCycleLR(LRSchedule):
    """Up to max_lr and down far below the start, once (Smith and Topin, 2019).

    It begins at max_lr / div_factor, reaches max_lr after pct_start of total_steps, and ends at
    max_lr / div_factor / final_div_factor; with three_phase it goes down to its first rate as fast
    as it went up, and then to its last one. max_lr is a number, or one for each group.
    anneal_strategy: "cos" or "linear". The momentum is left as it is. Raises ArgumentError for
    steps beyond total_steps, and for cycle_momentum=True.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.OneCycleLR(sgd, max_lr=1.0, total_steps=5)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [0.9505, 0.6113, 0.1883, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = False,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        _check_momentum("OneCycleLR", cycle_momentum)
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ArgumentError(
                    "a cycle has a length",
                    asked="OneCycleLR without total_steps",
                    try_="total_steps=1000, or epochs=10, steps_per_epoch=100",
                )
            total_steps = whole(epochs, "epochs") * whole(steps_per_epoch, "steps_per_epoch")
        pct_start = real(pct_start, "pct_start")
        div_factor = real(div_factor, "div_factor")
        final_div_factor = real(final_div_factor, "final_div_factor")
        if anneal_strategy not in ("cos", "linear") or not 0 < pct_start < 1:
            raise ArgumentError(
                "a cycle goes up and down by cosines or straight lines",
                asked=f"OneCycleLR(anneal_strategy={anneal_strategy!r}, pct_start={pct_start})",
                because="the strategy is 'cos' or 'linear', the share of going up between 0 and 1",
            )
        self.max_lrs = per_group(optimizer, "OneCycleLR", "max_lr", max_lr)
        self.total_steps, self.three_phase = positive("total_steps", total_steps), three_phase
        self.top = pct_start * total_steps - 1
        self.cosine = anneal_strategy == "cos"
        self.div_factor, self.final_div_factor = div_factor, final_div_factor
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        if step >= self.total_steps:
            raise ArgumentError(
                "the cycle is over",
                asked=f"step {step}",
                because=f"it was made for {self.total_steps} steps",
                try_="make it with as many steps as there will be",
            )
        highest = self.max_lrs[self.group]
        first = highest / self.div_factor
        corners = [(0.0, first), (self.top, highest)]
        if self.three_phase:
            corners.append((2 * self.top, first))
        corners.append((self.total_steps - 1, first / self.final_div_factor))
        for (start, low), (end, high) in pairwise(corners):
            if step <= end:
                # a top at the very first step leaves nothing to climb
                return self._between(
                    low, high, (step - start) / (end - start) if end > start else 1
                )
        return corners[-1][1]

    def _between(self, start: float, end: float, part: float) -> float:
        if self.cosine:
            part = (1 - math.cos(math.pi * part)) / 2
        return start + (end - start) * part


class CyclicLR(LRSchedule):
    """From base_lr to max_lr and back in straight lines, again and again (Smith, 2017).

    step_size_up, step_size_down: the steps of each half; step_size_down is step_size_up unless
    given. mode: "triangular"; "triangular2", each cycle half as high as the one before; or
    "exp_range", times gamma**step. scale_fn: a function in the place of the mode, of the number of
    the cycle from 1 or, with scale_mode="iterations", of the step. base_lr and max_lr are numbers,
    or one for each group. The momentum is left as it is; raises ArgumentError for
    cycle_momentum=True.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.CyclicLR(sgd, base_lr=0.5, max_lr=1.5, step_size_up=2)
    >>> [schedule.rate(step) for step in range(6)]
    [0.5, 1.0, 1.5, 1.0, 0.5, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = False,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        _check_momentum("CyclicLR", cycle_momentum)
        self.mode = choice(mode, "mode", ("triangular", "triangular2", "exp_range"))
        self.scale_mode = choice(scale_mode, "scale_mode", ("cycle", "iterations"))
        up = real(step_size_up, "step_size_up")
        down = up if step_size_down is None else real(step_size_down, "step_size_down")
        if up <= 0 or down < 0:
            raise ArgumentError(
                "the halves of a cycle have steps",
                asked=f"CyclicLR(step_size_up={up}, step_size_down={down})",
            )
        self.total_size, self.step_ratio = float(up + down), up / (up + down)
        self.gamma, self.scale_fn = real(gamma, "gamma"), scale_fn
        self.max_lrs = per_group(optimizer, "CyclicLR", "max_lr", max_lr)
        first = per_group(optimizer, "CyclicLR", "base_lr", base_lr)
        for group, lr in zip(optimizer.param_groups, first, strict=True):
            group["initial_lr"] = lr
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        cycle = math.floor(1 + step / self.total_size)
        part = 1.0 + step / self.total_size - cycle
        up = part <= self.step_ratio
        height = part / self.step_ratio if up else (part - 1) / (self.step_ratio - 1)
        lowest = self.base_lr
        return lowest + (self.max_lrs[self.group] - lowest) * height * self._scale(step, cycle)

    def _scale(self, step: int, cycle: int) -> float:
        if self.scale_fn is not None:
            return self.scale_fn(cycle if self.scale_mode == "cycle" else step)
        if self.mode == "triangular2":
            return 0.5 ** (cycle - 1)
        return self.gamma**step if self.mode == "exp_range" else 1.0


def _check_momentum(who: str, cycled: bool) -> None:
    if cycled:
        raise ArgumentError(
            "the momentum is not changed by a schedule",
            asked=f"{who}(cycle_momentum=True)",
            because="it is a constant of the captured step, which each new value would compile",
            try_="cycle_momentum=False",
        )
