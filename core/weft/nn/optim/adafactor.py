"""Adafactor: adaptive rates whose state of a matrix is one row and one column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.nn.optim.counted import CountedOptimizer, follow
from weft.nn.optim.option_checks import check_options
from weft.nn.optim.param_groups import ParamGroup, Params
from weft.tensor import Tensor


class Adafactor(CountedOptimizer):
    """Adafactor (Shazeer and Stern, 2018), without momentum.

    The square of a gradient is followed by means of its rows and columns (last two axes), each
    with the weight step^beta2_decay for what is new; their product over the mean is the estimate v.
    update = gradient / sqrt(max(v, eps[0]^2)), scaled down to a root mean square of d at most;
    value -= max(eps[1], rms(value)) * min(lr, 1 / sqrt(step)) * update. Parameters of fewer than
    two axes keep all squares. eps[0] None: the epsilon of the dtype. weight_decay scales the value
    by 1 - lr * weight_decay first.

    >>> w = Tensor([[1.0, -2.0]], requires_grad=True)
    >>> optimizer = nn.optim.Adafactor([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [[0.8419, -1.8419]]
    """

    _is_plain = True
    _numbers = Optimizer._numbers - {"eps"}
    state_names: ClassVar[Mapping[str, str]] = {
        **CountedOptimizer.state_names,
        "rows": "row_var", "columns": "col_var", "square": "variance",
    }  # fmt: skip

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_options("Adafactor", weight_decay=weight_decay, eps=eps[0] or 0.0)
        check_options("Adafactor", eps=eps[1])
        if beta2_decay > 0 or d < 1:
            raise ArgumentError(
                "the average forgets more slowly with each step, and updates are scaled down",
                asked=f"Adafactor(beta2_decay={shown(beta2_decay)}, d={shown(d)})",
                because="beta2_decay is at most 0, d at least 1",
            )
        super().__init__(
            params, lr, {"foreach": foreach}, beta2_decay=beta2_decay, eps=eps, d=d,
            weight_decay=weight_decay, maximize=maximize,
        )  # fmt: skip
        self.rows, self.columns, self.square = (
            self._new_state(name, self.params) for name in ("rows", "columns", "square")
        )

    def _new_state(self, name: str, params: Sequence[Tensor]) -> list[Any]:
        state = []
        for each in params:
            shape: tuple[int, ...] | None = tuple(each.shape) if each.ndim < 2 else None
            if name != "square":
                row, column = (*each.shape[:-1], 1), (*each.shape[:-2], 1, *each.shape[-1:])
                shape = None if each.ndim < 2 else row if name == "rows" else column
            zeros = None
            if shape is not None:
                where: dict[str, Any] = {"dtype": self._wide(each), "device": each.device}
                zeros = Tensor.zeros(*shape, **where, requires_grad=False).contiguous().realize()
            state.append(zeros)
        return state

    def _coefficients(self, count: Tensor, options: ParamGroup, rows: slice) -> Sequence[Any]:
        rate = count.rsqrt().minimum(options.rate)
        return [1.0 - count**options.beta2_decay, rate]

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options = self.options(index)
        kept, rate = (self._coefficient(index, number, value) for number in range(2))
        least = options.eps[0]
        if least is None:
            least = dtypes.finfo(self.params[index].dtype).eps
        square, state = gradient * gradient, []
        if value.ndim < 2:
            estimate = follow(self.square[index], square, kept)
            state.append(estimate)
        else:
            rows = follow(self.rows[index], square.mean(-1, keepdim=True), kept)
            columns = follow(self.columns[index], square.mean(-2, keepdim=True), kept)
            state += [rows, columns]
            estimate = rows * columns / rows.mean(-2, keepdim=True).maximum(least)
        update = gradient * estimate.maximum(least * least).rsqrt()
        update = update / (_root_mean_square(update) / options.d).maximum(1.0)
        change = update * (_root_mean_square(value).maximum(options.eps[1]) * rate)
        if options.weight_decay:
            change = change + value * (self._rate_for(value, index) * options.weight_decay)
        return change, state


def _root_mean_square(x: Tensor) -> Tensor:
    return x.square().mean().sqrt()
