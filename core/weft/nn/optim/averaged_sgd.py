"""ASGD: stochastic gradient descent that also averages the values it goes through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weft.nn.optim.counted import CountedOptimizer
from weft.nn.optim.option_checks import check_options
from weft.nn.optim.param_groups import ParamGroup, Params
from weft.tensor import Tensor


class ASGD(CountedOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky, 1992).

    value -= eta * (gradient + lambd * value); average += mu * (value - average); then
    eta = lr / (1 + lambd * lr * step)^alpha and mu = 1 / max(1, step - t0), for the next step. The
    averages are `state_dict()["state"][number]["ax"]`. weight_decay * value is added to the
    gradient.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.ASGD([w], lr=0.25, lambd=0.0)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist(), optimizer.state_dict()["state"][0]["ax"].tolist()
    ([0.5, -1.0], [0.5, -1.0])
    """

    _is_plain = True
    state_names: ClassVar[Mapping[str, str]] = {**CountedOptimizer.state_names, "average": "ax"}
    state_rows: ClassVar[tuple[str, ...]] = ("counts", "eta", "mu")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options("ASGD", weight_decay=weight_decay)
        flags = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
        super().__init__(
            params, lr, flags, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay,
            maximize=maximize,
        )  # fmt: skip
        self.average = self._zeros()
        self.eta, self.mu = self._row_numbers(), self._row_numbers()

    def _coefficients(self, count: Tensor, options: ParamGroup, rows: slice) -> Sequence[Any]:
        first = count == 1
        return [first.where(options.rate, self.eta[rows]), first.where(1.0, self.mu[rows])]

    def _next(self, count: Tensor, options: ParamGroup, rows: slice) -> Sequence[Any]:
        """The next eta and mu."""
        shrunk = (1.0 + options.rate * count * options.lambd) ** options.alpha
        return [options.rate / shrunk, 1.0 / (count - options.t0).maximum(1.0)]

    def _advance(self, ready: list[int]) -> list[Tensor]:
        state = super()._advance(ready)
        moved = self._by_group(self._next)
        assert moved is not None
        for number, each in enumerate((self.eta, self.mu)):
            each.assign(self._among(ready, moved[:, number], each))
        return [*state, self.eta, self.mu]

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options, average = self.options(index), self.average[index]
        eta, mu = (self._coefficient(index, number, value) for number in range(2))
        change = (self._decayed(index, value, gradient) + value * options.lambd) * eta
        average.assign(average * (1.0 - mu) + (value - change) * mu)
        return change, [average]
