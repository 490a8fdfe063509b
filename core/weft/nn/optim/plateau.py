"""A learning rate that falls when a measure stops getting better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from typing import Any

from weft.base.arguments import real, shown, whole
from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.nn.optim.schedules import check_state, only_one
from weft.tensor import Tensor

_SEEN = ("best", "bad", "cooling", "last_lr")
_OPTIONS = dict.fromkeys(("mode", "factor", "patience", "threshold", "cooldown", "min_lr")).keys()
_TORCHS = {
    "num_bad_epochs": "bad", "cooldown_counter": "cooling", "_last_lr": "last_lr",
    "min_lrs": "min_lr",
}  # fmt: skip


class ReduceLROnPlateau:
    """Times `factor` when a measure has not improved for more than `patience` steps.

    mode: "min" where less is better, else "max". An improvement is one by more than `threshold` of
    the best so far. The rate never falls below min_lr.

    >>> optimizer = nn.optim.SGD([Tensor([1.0])], lr=1.0)
    >>> schedule = nn.optim.ReduceLROnPlateau(optimizer, patience=1)
    >>> for loss in (5.0, 5.0, 5.0):
    ...     schedule.step(loss)
    >>> round(schedule.get_last_lr()[0], 4)
    0.1
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
        if mode not in ("min", "max") or not 0 <= real(factor, "factor") < 1:
            raise ArgumentError(
                "a plateau is left downwards",
                asked=f"ReduceLROnPlateau(mode={shown(mode)}, factor={factor})",
                because="mode is 'min' or 'max', the factor from 0 to below 1",
            )
        self.optimizer = only_one(optimizer, "ReduceLROnPlateau")
        self.mode, self.factor = mode, real(factor, "factor")
        self.patience, self.threshold = whole(patience, "patience"), real(threshold, "threshold")
        self.cooldown, self.min_lr = whole(cooldown, "cooldown"), real(min_lr, "min_lr")
        self.best = math.inf if mode == "min" else -math.inf
        self.bad = self.cooling = 0
        self.last_lr: list[float] = [group["lr"] for group in optimizer.param_groups]

    def step(self, metric: float | Tensor) -> None:
        """Tell the measure of this step."""
        metric = metric.item() if isinstance(metric, Tensor) else float(real(metric, "the measure"))
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
            self._set([max(rate * self.factor, self.min_lr) for rate in self.last_lr])
            self.cooling, self.bad = self.cooldown, 0

    def _set(self, rates: list[float]) -> None:
        self.last_lr = rates
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate

    def get_last_lr(self) -> list[float]:
        """The rate that was set last, for each group."""
        return self.last_lr

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule as plain numbers: its history, and the options.

        >>> optimizer = nn.optim.SGD([Tensor([1.0])], lr=1.0)
        >>> schedule = nn.optim.ReduceLROnPlateau(optimizer)
        >>> schedule.step(5.0)
        >>> state = schedule.state_dict()
        >>> state["best"], state["bad"], state["patience"]
        (5.0, 0, 10)
        """
        return {name: copy(getattr(self, name)) for name in (*_SEEN, *_OPTIONS)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore a saved `state_dict`, also of PyTorch: options and rate are restored.

        :raises WrongKind: for any other object. :raises ArgumentError: if improvements are counted
        as absolute numbers.

        >>> optimizer = nn.optim.SGD([Tensor([1.0])], lr=1.0)
        >>> schedule = nn.optim.ReduceLROnPlateau(optimizer)
        >>> schedule.load_state_dict({"best": 5.0, "bad": 0, "cooling": 0, "last_lr": [0.5]})
        >>> optimizer.lr.item()
        0.5
        """
        check_state(state_dict, "best", "plateau")
        if state_dict.get("threshold_mode", "rel") != "rel":
            raise ArgumentError(
                "an improvement is a part of the best so far",
                asked=f"load threshold_mode={shown(state_dict['threshold_mode'])}",
                try_="threshold_mode='rel' where it is saved",
            )
        given = {_TORCHS.get(name, name): value for name, value in state_dict.items()}
        if isinstance(lowest := given.get("min_lr"), list):
            given["min_lr"] = min(lowest)
        for name in _OPTIONS & given.keys():
            setattr(self, name, given[name])
        self.best = float(given["best"])
        self.bad, self.cooling = int(given["bad"]), int(given["cooling"])
        rates = given["last_lr"]
        self._set([float(rate) for rate in (rates if isinstance(rates, list) else [rates])])
