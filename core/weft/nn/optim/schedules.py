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
from typing import Any, cast

from weft.base.arguments import kind_of, real, shown, whole
from weft.base.errors import ArgumentError, WrongKind
from weft.nn.optim.base import Optimizer

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR",
    "LRSchedule", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR",
    "StepLR",
]  # fmt: skip

_NO_OPTIONS = frozenset(
    "optimizer base_lr base_lrs last_epoch group lr_lambdas schedulers scale_fn _reached".split()
)


class LRSchedule:
    """What all schedules share: the optimiser, its first rate, and how often `step` was called.

    Making a schedule sets the rate of step 0. last_epoch: the number of steps that were taken
    before, of an optimiser whose groups have their first rate as "initial_lr"; -1: none. A subclass
    overrides `rate`, or as in PyTorch `get_lr`, which gives the rates of all groups.

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
    multiplies = False  # whether the rate is the first one times a number that depends on the step

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = only_one(optimizer, type(self).__name__)
        steps = whole(last_epoch, "last_epoch", least=-1)
        if steps >= 0 and any("initial_lr" not in group for group in optimizer.param_groups):
            raise ArgumentError(
                "a schedule that goes on needs the first rates",
                asked=f"{type(self).__name__}(last_epoch={last_epoch})",
                because="a group has no 'initial_lr'",
                try_="optimizer.load_state_dict(saved) first, or schedule.load_state_dict(saved)",
            )
        # a schedule that was made before has changed the rate already
        self.base_lrs: list[float] = [
            group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups
        ]
        self.base_lr = self.base_lrs[0]
        self.last_epoch = steps + 1
        self._set()

    def rate(self, step: int) -> float:
        """The learning rate after `step` steps of a group whose first rate is `self.base_lr`."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its rate is")

    def following(self, lr: float, step: int) -> float:
        """The rate at a step of a group whose rate was `lr` before, which other schedules may have
        changed too; step 0 is the making of the schedule.

        >>> schedule = nn.optim.StepLR(nn.optim.SGD([Tensor([1.0])], lr=0.5), step_size=2)
        >>> schedule.following(8.0, 1), round(schedule.following(8.0, 2), 6)
        (8.0, 0.8)
        """
        if not self.multiplies:
            return self.rate(step)
        base, self.base_lr = self.base_lr, 1.0
        before, factor = self.rate(step - 1) if step else 1.0, self.rate(step)
        self.base_lr = base
        return lr * factor / before if before else lr

    def step(self, epoch: float | None = None) -> None:
        """One step further, or to the step `epoch`."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else cast("int", epoch)
        self._set()

    def rates(self, step: int) -> list[float]:
        """The learning rate of each group after `step` steps.

        >>> schedule = nn.optim.StepLR(nn.optim.SGD([Tensor([1.0])], lr=0.5), step_size=2)
        >>> [round(schedule.rates(step)[0], 6) for step in range(4)]
        [0.5, 0.5, 0.05, 0.05]
        """
        own = getattr(self, "get_lr", None)
        if own is not None:
            return [float(each) for each in own()]
        found = []
        for number, base in enumerate(self.base_lrs):
            self.base_lr, self.group = base, number
            found.append(self.rate(step))
        self.base_lr, self.group = self.base_lrs[0], 0
        return found

    def get_last_lr(self) -> list[float]:
        """The rate that was set last, for each group."""
        if hasattr(self, "get_lr"):
            return [group["lr"] for group in self.optimizer.param_groups]
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
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = functions_of(optimizer, lr_lambda, "LambdaLR")
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        factor = self.lr_lambdas[self.group % len(self.lr_lambdas)](step)
        return float(self.base_lr * factor)


class MultiplicativeLR(LRSchedule):
    """The rate before times what a function of the step says, from step 1 on.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.MultiplicativeLR(sgd, lambda step: 0.5)
    >>> [schedule.rate(step) for step in range(4)]
    [1.0, 0.5, 0.25, 0.125]
    """

    multiplies = True

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = functions_of(optimizer, lr_lambda, "MultiplicativeLR")
        self._reached: dict[int, tuple[int, float]] = {}  # by group: a step, and its factor
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        reached, factor = self._reached.get(self.group, (0, 1.0))
        if reached > step:
            reached, factor = 0, 1.0
        function = self.lr_lambdas[self.group % len(self.lr_lambdas)]
        for number in range(reached + 1, step + 1):
            factor *= function(number)
        self._reached[self.group] = (step, factor)
        return float(self.base_lr * factor)


class StepLR(LRSchedule):
    """Times gamma every step_size steps.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.StepLR(sgd, step_size=2, gamma=0.1)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [1.0, 0.1, 0.1, 0.01]
    """

    multiplies = True

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = positive("step_size", step_size), real(gamma, "gamma")
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        return self.base_lr * self.gamma ** (step // self.step_size)


class MultiStepLR(LRSchedule):
    """Times gamma at each milestone.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.MultiStepLR(sgd, milestones=[2, 4], gamma=0.1)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [1.0, 0.1, 0.1, 0.01]
    """

    multiplies = True

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = sorted(steps_of(milestones)), real(gamma, "gamma")
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        return self.base_lr * self.gamma ** sum(step >= m for m in self.milestones)


class ExponentialLR(LRSchedule):
    """Times gamma at every step.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.ExponentialLR(sgd, gamma=0.5)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [0.5, 0.25, 0.125, 0.0625]
    """

    multiplies = True

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = real(gamma, "gamma")
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        return self.base_lr * self.gamma**step


class LinearLR(LRSchedule):
    """A warmup: the factor goes evenly from start_factor to end_factor over total_iters steps.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.LinearLR(sgd, start_factor=0.25, total_iters=3)
    >>> [round(schedule.rate(step), 4) for step in range(1, 5)]
    [0.5, 0.75, 1.0, 1.0]
    """

    multiplies = True

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor = real(start_factor, "start_factor")
        self.end_factor = real(end_factor, "end_factor")
        self.total_iters = positive("total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

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

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = positive("T_max", T_max), real(eta_min, "eta_min")
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        wave = (1 + math.cos(math.pi * step / self.T_max)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * wave

    def following(self, lr: float, step: int) -> float:
        if not step:
            return lr
        before = self.rate(step - 1) - self.eta_min
        if (step - 1 - self.T_max) % (2 * self.T_max) == 0:
            return lr + self.rate(step) - self.eta_min  # from the minimum
        return self.eta_min + (lr - self.eta_min) * (self.rate(step) - self.eta_min) / before


class ConstantLR(LRSchedule):
    """Times factor for the first total_iters steps.

    >>> sgd = nn.optim.SGD([Tensor([1.0])], lr=0.5)
    >>> nn.optim.ConstantLR(sgd, factor=0.5, total_iters=3).get_last_lr()
    [0.25]
    """

    multiplies = True

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.factor = real(factor, "factor")
        self.total_iters = positive("total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        return self.base_lr * (self.factor if step < self.total_iters else 1.0)


class PolynomialLR(LRSchedule):
    """Down to 0 over total_iters steps, as (1 - part) ** power.

    >>> schedule = nn.optim.PolynomialLR(nn.optim.SGD([Tensor([1.0])], lr=0.5), total_iters=2)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    multiplies = True

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = positive("total_iters", total_iters)
        self.power = real(power, "power")
        super().__init__(optimizer, last_epoch)

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
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_0, self.T_mult = positive("T_0", T_0), positive("T_mult", T_mult)
        self.eta_min = real(eta_min, "eta_min")
        super().__init__(optimizer, last_epoch)

    def rate(self, step: int) -> float:
        length = self.T_0
        while step >= length:
            if self.T_mult == 1:
                step %= length
                break
            step, length = step - length, length * self.T_mult
        wave = (1 + math.cos(math.pi * step / length)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * wave


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


def functions_of(optimizer: Any, given: Any, who: str) -> list[Callable[[int], float]]:
    """A function of the step, or one for each group. :raises ArgumentError: for anything else."""
    several = isinstance(given, Sequence)
    found = list(given) if several else [given]
    groups = len(only_one(optimizer, who).param_groups)
    if not all(map(callable, found)) or (several and len(found) != groups):
        raise ArgumentError(
            "the factor is a function of the step, or one such function for each group",
            asked=f"{who}(optimizer, {shown(given)})",
            because=f"that is {kind_of(given)}",
            try_="lambda step: 0.9**step",
        )
    return found


def steps_of(milestones: Any) -> list[int]:
    """Milestones as whole numbers. Raises ArgumentError."""
    given = milestones if isinstance(milestones, tuple | list) else (milestones,)
    return [whole(step, "a milestone") for step in given]


def positive(name: str, count: int) -> int:
    return whole(count, name, least=1)


def per_group(optimizer: Any, who: str, name: str, given: Any) -> list[float]:
    """A number for each group. :raises ArgumentError: for another number of them."""
    groups = only_one(optimizer, who).param_groups
    found = list(given) if isinstance(given, tuple | list) else [given] * len(groups)
    if len(found) != len(groups):
        raise ArgumentError(
            f"{name} is a number, or one for each group",
            asked=f"{who} with {len(found)} of them",
            because=f"the optimiser has {len(groups)} groups",
        )
    return [float(real(each, name)) for each in found]
