"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from weft.nn.optim.base import Optimizer
from weft.nn.optim.option_checks import check_differentiable, checked_betas
from weft.nn.optim.param_groups import Params
from weft.tensor import Tensor


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015), with L2 weight decay added to the gradient.

    The averages start at zero and are divided by what the same moving average of the number 1 has
    reached. That equals 1 - beta^t, and loses no digits when beta^t is close to 1. `fused`,
    `foreach` and `capturable` are accepted and have no effect: every step is captured and replayed
    as it is.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.Adam([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.9, -1.9]
    """

    decoupled = False
    _is_plain = True
    state_names: ClassVar[Mapping[str, str]] = {
        "mean": "exp_avg",
        "square": "exp_avg_sq",
        "largest": "max_exp_avg_sq",
    }
    state_rows = ("averages_of_one",)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        maximize: bool = False,
        *,
        b1: float | None = None,
        b2: float | None = None,
        fused: bool | None = None,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_differentiable(type(self).__name__, differentiable)
        if isinstance(betas, tuple | list) and len(betas) == 2:
            betas = betas[0] if b1 is None else b1, betas[1] if b2 is None else b2
        betas = checked_betas(type(self).__name__, betas)
        super().__init__(
            params, lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
            maximize=maximize,
        )  # fmt: skip
        self.mean, self.square = self._zeros(), self._zeros()
        self.largest: list[Tensor] = []
        self._make_state()
        # What the two averages of the number 1 have reached and the number of steps, for each
        # parameter a row: one kernel moves all.
        where: dict[str, Any] = {"dtype": self.dtype, "device": self.device, "requires_grad": False}
        self.averages_of_one = Tensor.zeros(len(self.params), 3, **where).contiguous()
        self._set_weights()
        self.averages_of_one.realize()

    def _make_state(self) -> None:
        if not self.largest and any(group.amsgrad for group in self.param_groups):
            self.largest = self._zeros()

    def _set_weights(self) -> None:
        """What both averages and the number of steps take of what they were, and of what is new:
        (2, 3), and where groups differ (2, parameters, 3)."""
        self._of_groups = [(tuple(group.betas), len(group.params)) for group in self.param_groups]
        groups = [([float(b) for b in betas], count) for betas, count in self._of_groups]
        kept = [[*betas, 1.0] for betas, count in groups for _ in range(count)]
        new = [[*(1.0 - b for b in betas), 1.0] for betas, count in groups for _ in range(count)]
        both = [kept[0], new[0]] if all(row == kept[0] for row in kept) else [kept, new]
        self._weights = Tensor(
            both, dtype=self.dtype, device=self.device, requires_grad=False
        ).realize()

    def _advance(self, ready: list[int]) -> list[Tensor]:
        if self._of_groups != [(tuple(g.betas), len(g.params)) for g in self.param_groups]:
            self._set_weights()
        moved = self.averages_of_one * self._weights[0] + self._weights[1]
        self.averages_of_one.assign(self._among(ready, moved, self.averages_of_one))
        return [self.averages_of_one]

    def translated(self, number: int, found: dict[str, Any]) -> dict[str, Any]:
        """See Optimizer. PyTorch counts steps; here the averages of the number 1 are kept."""
        if "step" in found and "averages_of_one" not in found:
            step = float(found["step"])
            reached = [1.0 - beta**step for beta in self.options(number).betas]
            row = Tensor([*reached, step], dtype=self.dtype, device=self.device)
            found["averages_of_one"] = row
        return found

    def exported(self, found: dict[str, Tensor]) -> dict[str, Tensor]:
        """See Optimizer. PyTorch's step is the last number of the row."""
        return {"step": found["averages_of_one"][2], **found}

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options = self.options(index)
        decay = options.weight_decay
        # the option is PyTorch's, and comes with its saved groups
        decoupled = self.decoupled or options.get("decoupled_weight_decay", False)
        if decay and not decoupled:
            gradient = gradient + value * decay
        change, state = self._direction(index, value, gradient)
        if decay and decoupled:
            change = change + value * decay
        return change * self._rate_for(value, index), state

    def _direction(
        self, index: int, value: Tensor, gradient: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """The quotient of the two averages, and the averages, which have taken the gradient in."""
        mean, square = self.mean[index], self.square[index]
        first, second = self.options(index).betas
        mean.assign(mean * first + gradient * (1.0 - first))
        square.assign(square * second + gradient * gradient * (1.0 - second))
        state, reached = [mean, square], square
        if self.options(index).amsgrad:
            reached = self.largest[index]
            reached.assign(reached.maximum(square))
            state.append(reached)
        ones = self._beside(self.averages_of_one, value)
        eps = self.options(index).eps
        return (mean / ones[index, 0]) / ((reached / ones[index, 1]).sqrt() + eps), state


class AdamW(Adam):
    """Adam whose weight decay acts on the value itself (Loshchilov and Hutter, 2019).

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.AdamW([w], lr=0.1, weight_decay=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.89, -1.88]
    """

    decoupled = True
    _is_plain = True

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        maximize: bool = False,
        *,
        b1: float | None = None,
        b2: float | None = None,
        fused: bool | None = None,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, maximize, b1=b1, b2=b2,
            differentiable=differentiable,
        )  # fmt: skip
