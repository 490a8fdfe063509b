"""Schedules: what the learning rate is at each step. Names and formulas as in PyTorch.

schedule = CosineAnnealingLR(optimizer, T_max=100)
for batch in data:
    ...
    optimizer.step()
    schedule.step()
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

from weft.base.arguments import kind_of, real, shown, whole
from weft.base.errors import ArgumentError, WrongKind
from weft.nn.optim.base import Optimizer

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR",
    "LRSchedule", "LambdaLR", "LinearLR", "MultiStepLR", "OneCycleLR", "PolynomialLR",
    "SequentialLR", "StepLR",
]  # fmt: skip

_NO_OPTIONS = frozenset(
    {"optimizer", "base_lr", "base_lrs", "last_epoch", "group", "lr_lambdas", "schedulers"}
)


class LRSchedule:
    """What all schedules share: the optimiser, its first rate, and how often `step` was called.

    Making a schedule sets the rate of step 0.

    >>> class Halving(nn.optim.LRSchedule):
    ...     def rate(self, step):
    ...         return self.base_lr / 2**step
    >>> schedule = Halving(nn.optim.SGD([Tensor([1.0])], lr=1.0))
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    base_lr: float
    group = 0  # the number of the group whose rate is computed

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = only_one(optimizer, type(self).__name__)
        # a schedule that was made before has changed the rate already
        self.base_lrs: list[float] = [
            group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups
        ]
        self.base_lr = self.base_lrs[0]
        self.last_epoch = 0
        self._set()

    def rate(self, step: int) -> float:
        """The learning rate after `step` steps of a group whose first rate is `self.base_lr`."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its rate is")

    def step(self) -> None:
        """One step further."""
        self.last_epoch += 1
        self._set()

    def rates(self, step: int) -> list[float]:
        """The learning rate of each group after `step` steps.

        >>> schedule = nn.optim.StepLR(nn.optim.SGD([Tensor([1.0])], lr=0.5), step_size=2)
        >>> [round(schedule.rates(step)[0], 6) for step in range(4)]
        [0.5, 0.5, 0.05, 0.05]
        """
        found = []
        for number, base in enumerate(self.base_lrs):
            self.base_lr, self.group = base, number
            found.append(self.rate(step))
        self.base_lr, self.group = self.base_lrs[0], 0
        return found

    def get_last_lr(self) -> list[float]:
        """The rate that was set last, for each group."""
        return self.rates(self.last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule as plain numbers, with PyTorch's names: the first rates, the
        number of calls of `step`, and the options, except functions.

        >>> schedule = nn.optim.StepLR(nn.optim.SGD([Tensor([1.0])], lr=0.5), step_size=2)
        >>> schedule.step()
        >>> schedule.state_dict()
        {'base_lrs': [0.5], 'last_epoch': 1, 'step_size': 2, 'gamma': 0.1}
        """
        first = {"base_lrs": list(self.base_lrs), "last_epoch": self.last_epoch}
        return first | {name: copy(value) for name, value in self._options().items()}

    def _options(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _NO_OPTIONS}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore a saved `state_dict`, also of PyTorch's schedule of the same kind: options and
        rate are restored.

        :raises WrongKind: for any other object. :raises ArgumentError: for another number of
            groups.

        >>> schedule = nn.optim.StepLR(nn.optim.SGD([Tensor([1.0])], lr=0.5), step_size=2)
        >>> schedule.load_state_dict({"base_lrs": [1.0], "last_epoch": 4})
        >>> round(schedule.get_last_lr()[0], 6)
        0.01
        """
        check_state(state_dict, "last_epoch", "schedule")
        given = state_dict.get("base_lrs", [state_dict.get("base_lr")])
        if len(given) != len(self.base_lrs):
            raise ArgumentError(
                "the saved schedule has another number of groups",
                asked=f"load the rates {given}",
                because=f"the optimiser has {len(self.base_lrs)} groups",
            )
        for name in self._options().keys() & state_dict.keys():
            value = state_dict[name]
            # PyTorch counts milestones
            setattr(self, name, sorted(value.elements()) if isinstance(value, Counter) else value)
        self.base_lrs = [float(each) for each in given]
        self.last_epoch = int(state_dict["last_epoch"])
        self._set()

    def _set(self) -> None:
        rates = self.rates(self.last_epoch)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate


class LambdaLR(LRSchedule):
    """The first rate times what a function of the step says.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.LambdaLR(sgd, lambda step: 1 / (1 + step))
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [0.5, 0.3333, 0.25, 0.2]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
    ) -> None:
        several = isinstance(lr_lambda, Sequence)
        self.lr_lambdas: list[Any] = list(lr_lambda) if several else [lr_lambda]  # type: ignore[arg-type]
        groups = len(only_one(optimizer, "LambdaLR").param_groups)
        if not all(map(callable, self.lr_lambdas)) or (several and len(self.lr_lambdas) != groups):
            raise ArgumentError(
                "the factor is a function of the step, or one such function for each group",
                asked=f"LambdaLR(optimizer, {shown(lr_lambda)})",
                because=f"that is {kind_of(lr_lambda)}",
                try_="lambda step: 0.9**step",
            )
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        factor = self.lr_lambdas[self.group % len(self.lr_lambdas)](step)
        return float(self.base_lr * factor)


class StepLR(LRSchedule):
    """Times gamma every step_size steps.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.StepLR(sgd, step_size=2, gamma=0.1)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [1.0, 0.1, 0.1, 0.01]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        self.step_size, self.gamma = _positive("step_size", step_size), real(gamma, "gamma")
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        return self.base_lr * self.gamma ** (step // self.step_size)


class MultiStepLR(LRSchedule):
    """Times gamma at each milestone.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.MultiStepLR(sgd, milestones=[2, 4], gamma=0.1)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [1.0, 0.1, 0.1, 0.01]
    """

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        self.milestones, self.gamma = sorted(_steps(milestones)), real(gamma, "gamma")
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        return self.base_lr * self.gamma ** sum(step >= m for m in self.milestones)


class ExponentialLR(LRSchedule):
    """Times gamma at every step.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.ExponentialLR(sgd, gamma=0.5)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [0.5, 0.25, 0.125, 0.0625]
    """

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self.gamma = real(gamma, "gamma")
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        return self.base_lr * self.gamma**step


class LinearLR(LRSchedule):
    """A warmup: the factor goes evenly from start_factor to end_factor over total_iters steps.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.LinearLR(sgd, start_factor=0.25, total_iters=3)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        self.start_factor = real(start_factor, "start_factor")
        self.end_factor = real(end_factor, "end_factor")
        self.total_iters = _positive("total_iters", total_iters)
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        part = min(step, self.total_iters) / self.total_iters
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * part)


class CosineAnnealingLR(LRSchedule):
    """Half a cosine from the first rate to eta_min over T_max steps (Loshchilov and Hutter, 2017).

    Behind T_max it goes up again, as the formula says.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.CosineAnnealingLR(sgd, T_max=4)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [0.8536, 0.5, 0.1464, 0.0]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        self.T_max, self.eta_min = _positive("T_max", T_max), real(eta_min, "eta_min")
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        wave = (1 + math.cos(math.pi * step / self.T_max)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * wave


class ConstantLR(LRSchedule):
    """Times factor for the first total_iters steps.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=0.5)
    >>> nn.optim.ConstantLR(sgd, factor=0.5, total_iters=3).get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5) -> None:
        self.factor = real(factor, "factor")
        self.total_iters = _positive("total_iters", total_iters)
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        return self.base_lr * (self.factor if step < self.total_iters else 1.0)


class PolynomialLR(LRSchedule):
    """Down to 0 over total_iters steps, as (1 - part) ** power.

    >>> schedule = nn.optim.PolynomialLR(nn.optim.SGD([Tensor([1.0])], lr=0.5), total_iters=2)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0) -> None:
        self.total_iters = _positive("total_iters", total_iters)
        self.power = real(power, "power")
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        return self.base_lr * (1.0 - min(step, self.total_iters) / self.total_iters) ** self.power


class CosineAnnealingWarmRestarts(LRSchedule):
    """Half a cosine down to eta_min, again and again (Loshchilov and Hutter, 2017).

    The first takes T_0 steps, each later one T_mult times as many as the one before.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=0.5)
    >>> schedule = nn.optim.CosineAnnealingWarmRestarts(sgd, T_0=2)
    >>> [round(schedule.rate(step), 3) for step in range(4)]
    [0.5, 0.25, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0
    ) -> None:
        self.T_0, self.T_mult = _positive("T_0", T_0), _positive("T_mult", T_mult)
        self.eta_min = real(eta_min, "eta_min")
        super().__init__(optimizer)

    def rate(self, step: int) -> float:
        length = self.T_0
        while step >= length:
            if self.T_mult == 1:
                step %= length
                break
            step, length = step - length, length * self.T_mult
        wave = (1 + math.cos(math.pi * step / length)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * wave


class OneCycleLR(LRSchedule):
    """Up to max_lr and down far below the start, once (Smith and Topin, 2019).

    It begins at max_lr / div_factor, reaches max_lr after pct_start of total_steps, and ends at
    max_lr / div_factor / final_div_factor. anneal_strategy: "cos" or "linear". The momentum is left
    as it is. Raises ArgumentError for steps beyond total_steps.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.OneCycleLR(sgd, max_lr=1.0, total_steps=5)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [0.9505, 0.6113, 0.1883, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ArgumentError(
                    "a cycle has a length",
                    asked="OneCycleLR without total_steps",
                    try_="total_steps=1000, or epochs=10, steps_per_epoch=100",
                )
            total_steps = whole(epochs, "epochs") * whole(steps_per_epoch, "steps_per_epoch")
        max_lr, pct_start = real(max_lr, "max_lr"), real(pct_start, "pct_start")
        div_factor = real(div_factor, "div_factor")
        final_div_factor = real(final_div_factor, "final_div_factor")
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
        if step >= self.total_steps:
            raise ArgumentError(
                "the cycle is over",
                asked=f"step {step}",
                because=f"it was made for {self.total_steps} steps",
                try_="make it with as many steps as there will be",
            )
        if step <= self.top:
            # a top at the very first step leaves nothing to climb
            part = step / self.top if self.top else 1.0
            return self._between(self.first, self.max_lr, part)
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

    >>> optimizer, optim = nn.optim.SGD([Tensor([1.0])], lr=1.0), nn.optim
    >>> warmup = optim.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> decay = optim.ExponentialLR(optimizer, gamma=0.5)
    >>> schedule = optim.SequentialLR(optimizer, [warmup, decay], milestones=[2])
    >>> for _ in range(4):
    ...     schedule.step()
    ...     print(schedule.get_last_lr()[0])
    0.75
    1.0
    0.5
    0.25
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRSchedule], milestones: Sequence[int]
    ) -> None:
        milestones = _steps(milestones)
        if not isinstance(schedulers, tuple | list) or not all(
            isinstance(each, LRSchedule) for each in schedulers
        ):
            raise ArgumentError(
                "a sequence of schedules is needed",
                asked=f"SequentialLR(optimizer, {shown(schedulers)}, ...)",
                try_="[LinearLR(optimizer), ExponentialLR(optimizer, 0.9)]",
            )
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
        super().__init__(optimizer)

    def state_dict(self) -> dict[str, Any]:
        """See LRSchedule. The states of the schedules are part of it."""
        return super().state_dict() | {"_schedulers": [one.state_dict() for one in self.schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See LRSchedule. :raises ArgumentError: for another number of schedules."""
        check_state(state_dict, "last_epoch", "schedule")
        inner = state_dict.get("_schedulers", [])
        if inner and len(inner) != len(self.schedulers):
            raise ArgumentError(
                "the saved sequence has another number of schedules",
                asked=f"load the states of {len(inner)} schedules",
                because=f"this one has {len(self.schedulers)}",
            )
        for schedule, state in zip(self.schedulers, inner):
            schedule.load_state_dict(state)
        state = dict(state_dict)
        if "_milestones" in state:  # PyTorch's, which leaves the first rates to the schedules
            state["milestones"] = list(state["_milestones"])
        if inner:
            state.setdefault("base_lrs", inner[0]["base_lrs"])
        super().load_state_dict(state)

    def rate(self, step: int) -> float:
        current = sum(step >= m for m in self.milestones)
        start = self.milestones[current - 1] if current else 0
        within = self.schedulers[current]
        within.base_lr, within.group = self.base_lr, self.group
        return within.rate(step - start)


def check_state(state: Any, key: str, what: str) -> None:
    """:raises WrongKind: for what is no saved state of a schedule, which has `key`."""
    if not isinstance(state, Mapping) or key not in state:
        raise WrongKind(
            f"the state of a {what} is a dict that has {key!r}",
            asked=f"load_state_dict of {shown(state)}",
            try_="schedule.load_state_dict(other.state_dict())",
        )


def only_one(optimizer: Any, who: str) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise ArgumentError(
            "a schedule moves the rate of one optimiser",
            asked=f"{who} of a {type(optimizer).__name__}",
            because="each optimiser of a group has a rate of its own",
            try_="make one for each: [StepLR(each, 10) for each in group.optimizers]",
        )
    return optimizer


def _steps(milestones: Any) -> list[int]:
    """Milestones as whole numbers. Raises ArgumentError."""
    given = milestones if isinstance(milestones, tuple | list) else (milestones,)
    return [whole(step, "a milestone") for step in given]


def _positive(name: str, count: int) -> int:
    return whole(count, name, least=1)
