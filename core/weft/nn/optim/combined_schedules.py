"""Schedules made of other schedules: one after the other, or all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from weft.base.arguments import shown
from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.nn.optim.schedules import LRSchedule, check_state, only_one, steps_of

__all__ = ["ChainedScheduler", "SequentialLR"]


class _Combined(LRSchedule):
    """What both share: the schedules, and their states."""

    schedulers: list[LRSchedule]

    def state_dict(self) -> dict[str, Any]:
        """See LRSchedule. The states of the schedules are part of it."""
        return super().state_dict() | {"_schedulers": [one.state_dict() for one in self.schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See LRSchedule. :raises ArgumentError: for another number of schedules."""
        check_state(state_dict, self._needed, "schedule")
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
        if inner:  # PyTorch leaves some numbers to the schedules
            state.setdefault("base_lrs", inner[0]["base_lrs"])
            state.setdefault("last_epoch", inner[0]["last_epoch"])
        super().load_state_dict(state)

    _needed = "last_epoch"


class SequentialLR(_Combined):
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
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRSchedule],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        milestones = steps_of(milestones)
        checked = _checked("SequentialLR", optimizer, schedulers)
        if len(checked) != len(milestones) + 1 or list(milestones) != sorted(milestones):
            raise ArgumentError(
                "between two schedules there is one milestone",
                asked=f"{len(checked)} schedules and milestones {list(milestones)}",
                try_="give one milestone less than schedules, in rising order",
            )
        self.schedulers, self.milestones = checked, list(milestones)
        super().__init__(optimizer, last_epoch)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See LRSchedule. :raises ArgumentError: for another number of schedules."""
        if isinstance(state_dict, Mapping) and "_milestones" in state_dict:  # PyTorch's name
            state_dict = {**state_dict, "milestones": list(state_dict["_milestones"])}
        super().load_state_dict(state_dict)

    def rate(self, step: int) -> float:
        current = sum(step >= m for m in self.milestones)
        start = self.milestones[current - 1] if current else 0
        within = self.schedulers[current]
        within.base_lr, within.group = self.base_lr, self.group
        return within.rate(step - start)


class ChainedScheduler(_Combined):
    """Several schedules at once: each changes the rate that the one before it gives.

    >>> optimizer, optim = nn.optim.SGD([Tensor([1.0])], lr=1.0), nn.optim
    >>> warmup = optim.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> schedule = optim.ChainedScheduler([warmup, optim.ExponentialLR(optimizer, gamma=0.5)])
    >>> [schedule.rate(step) for step in range(4)]
    [0.5, 0.25, 0.25, 0.125]
    """

    _needed = "_schedulers"

    def __init__(
        self, schedulers: Sequence[LRSchedule], optimizer: Optimizer | None = None
    ) -> None:
        if optimizer is None and isinstance(schedulers, tuple | list) and schedulers:
            optimizer = getattr(schedulers[0], "optimizer", None)
        self.schedulers = _checked("ChainedScheduler", optimizer, schedulers)
        self._reached: dict[int, tuple[int, float]] = {}  # by group: a step, and its rate
        super().__init__(only_one(optimizer, "ChainedScheduler"))

    def step(self, epoch: float | None = None) -> None:
        for each in self.schedulers:
            each.last_epoch = each.last_epoch + 1 if epoch is None else cast("int", epoch)
        super().step(epoch)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See LRSchedule. :raises ArgumentError: for another number of schedules."""
        self._reached.clear()
        super().load_state_dict(state_dict)

    def rate(self, step: int) -> float:
        reached, lr = self._reached.get(self.group, (-1, self.base_lr))
        if reached > step:
            reached, lr = -1, self.base_lr
        for number in range(reached + 1, step + 1):
            for each in self.schedulers:
                each.base_lr, each.group = self.base_lr, self.group
                lr = each.following(lr, number)
        self._reached[self.group] = (step, lr)
        return lr


def _checked(who: str, optimizer: Any, schedulers: Any) -> list[LRSchedule]:
    """Schedules of one optimiser, as a list. :raises ArgumentError: for anything else."""
    if (
        not isinstance(schedulers, tuple | list)
        or not schedulers
        or not all(isinstance(each, LRSchedule) for each in schedulers)
    ):
        raise ArgumentError(
            "a sequence of schedules is needed",
            asked=f"{who} of {shown(schedulers)}",
            try_="[LinearLR(optimizer), ExponentialLR(optimizer, 0.9)]",
        )
    if any(each.optimizer is not optimizer for each in schedulers):
        raise ArgumentError(
            "these schedules belong to another optimiser",
            asked=f"{who} of {len(schedulers)} schedules",
            try_="make all of them with the optimiser that this one is for",
        )
    return list(schedulers)
