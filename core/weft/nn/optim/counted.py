"""The base of optimisers that count the steps of each parameter.

The numbers that depend on the count, such as the corrections of moving averages, are computed for
all parameters in one kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from weft.nn.optim.base import Optimizer
from weft.nn.optim.option_checks import check_differentiable
from weft.nn.optim.param_groups import ParamGroup, Params
from weft.tensor import Tensor


class CountedOptimizer(Optimizer):
    """An optimiser that counts the steps of each parameter; subclasses override `_coefficients`
    and `_change`.

    `flags` are arguments of PyTorch that have no effect, such as foreach: every step is captured
    and replayed as it is. They are kept in the groups, where PyTorch looks for them.
    """

    state_names: ClassVar[Mapping[str, str]] = {"counts": "step"}
    state_rows: ClassVar[tuple[str, ...]] = ("counts",)

    def __init__(
        self, params: Params, lr: float | Tensor, flags: Mapping[str, Any], **options: Any
    ) -> None:
        check_differentiable(type(self).__name__, flags.get("differentiable", False))
        super().__init__(params, lr, **options, **flags)
        self._coefficient_table: Tensor | None = None
        self.counts = self._row_numbers()
        self._make_state()

    def _row_numbers(self) -> Tensor:
        """A number for each parameter, 0 at first."""
        where: dict[str, Any] = {"dtype": self.dtype, "device": self.device, "requires_grad": False}
        return Tensor.zeros(len(self.params), **where).contiguous().realize()

    def _coefficients(self, count: Tensor, options: ParamGroup, rows: slice) -> Sequence[Any]:
        """What the steps of the parameters of a group, which are these rows of the state, need
        besides its options; `count` (parameters,) includes the present step."""
        return []

    def _advance(self, ready: list[int]) -> list[Tensor]:
        self.counts.assign(self._among(ready, self.counts + 1, self.counts))
        table = self._by_group(self._coefficients)
        self._coefficient_table = None if table is None else table.contiguous()
        return [self.counts]

    def _by_group(
        self, numbers: Callable[[Tensor, ParamGroup, slice], Sequence[Any]]
    ) -> Tensor | None:
        """(parameters, numbers) of what a function as `_coefficients` gives for each group."""
        found, first = [], 0
        for group in self.param_groups:
            rows = slice(first, first + len(group.params))
            first = rows.stop
            count = self.counts[rows]
            columns = [each + count * 0 for each in numbers(count, group, rows)]
            if columns and group.params:
                found.append(columns[0].stack(*columns[1:], dim=1))
        return found[0].cat(*found[1:]) if found else None

    def _record(self, gradients: Sequence[Tensor | None]) -> list[Tensor]:
        try:
            return super()._record(gradients)
        finally:
            self._coefficient_table = None  # no state

    def _coefficient(self, index: int, number: int, value: Tensor) -> Tensor:
        """A coefficient of a parameter beside `value`, as a scalar."""
        table = self._coefficient_table
        assert table is not None
        return self._beside(table, value)[index, number]

    def _is_first(self, index: int, value: Tensor) -> Tensor:
        """Whether the present step is the first one of a parameter, as a scalar."""
        return self._beside(self.counts, value)[index] == 1

    def _decayed(self, index: int, value: Tensor, gradient: Tensor) -> Tensor:
        """The gradient with L2 weight decay added."""
        decay = self.options(index).weight_decay
        return gradient + value * decay if decay else gradient


def follow(average: Tensor, value: Tensor, kept: float | Tensor) -> Tensor:
    """Move an exponential moving average, which keeps this share of what it was; gives it."""
    average.assign(average * kept + value * (1.0 - kept))
    return average


def bias_correction(beta: float, count: Tensor) -> Any:
    """1 - beta**count, without loss of digits for a beta close to 1."""
    return -(count * math.log(beta)).expm1() if beta > 0 else 1.0
