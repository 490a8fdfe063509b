"""Rates for each element from the squares of its gradients: Adagrad, RMSprop, Adadelta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weft.nn.optim.counted import CountedOptimizer, follow
from weft.nn.optim.option_checks import check_options
from weft.nn.optim.param_groups import ParamGroup, Params
from weft.tensor import Tensor


class Adagrad(CountedOptimizer):
    """Adagrad (Duchi, Hazan and Singer, 2011).

    sum += gradient^2; value -= lr / (1 + (step - 1) * lr_decay) * gradient / (sqrt(sum) + eps).
    The sum starts at initial_accumulator_value. weight_decay * value is added to the gradient.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.Adagrad([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.9, -1.9]
    """

    _is_plain = True
    state_names: ClassVar[Mapping[str, str]] = {**CountedOptimizer.state_names, "total": "sum"}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        options = {
            "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps,
            "initial_accumulator_value": initial_accumulator_value,
        }  # fmt: skip
        check_options("Adagrad", **options)
        flags = {"foreach": foreach, "differentiable": differentiable, "fused": fused}
        super().__init__(params, lr, flags, **options, maximize=maximize)
        self.total = self._zeros()

    def _coefficients(self, count: Tensor, options: ParamGroup, rows: slice) -> Sequence[Any]:
        return [options.rate / (1.0 + (count - 1.0) * options.lr_decay)]

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options, total = self.options(index), self.total[index]
        gradient = self._decayed(index, value, gradient)
        before = total
        if options.initial_accumulator_value:
            start = options.initial_accumulator_value
            before = self._is_first(index, value).where(start, total)
        total.assign(before + gradient * gradient)
        rate = self._coefficient(index, 0, value)
        return gradient / (total.sqrt() + options.eps) * rate, [total]


class RMSprop(CountedOptimizer):
    """RMSprop (Hinton, lecture 6e of Neural Networks for Machine Learning, 2012).

    square = alpha * square + (1 - alpha) * gradient^2; step = gradient / (sqrt(square) + eps);
    with `centered` the square of the mean gradient is subtracted from the square first (Graves,
    2013); with momentum velocity = momentum * velocity + step; value -= lr * step or velocity.
    weight_decay * value is added to the gradient.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.RMSprop([w], lr=0.1, alpha=0.75)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.8, -1.8]
    """

    _is_plain = True
    state_names: ClassVar[Mapping[str, str]] = {
        **CountedOptimizer.state_names,
        "square": "square_avg", "velocity": "momentum_buffer", "mean": "grad_avg",
    }  # fmt: skip

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = {"alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum}
        check_options("RMSprop", **options)
        flags = {"capturable": capturable, "foreach": foreach, "differentiable": differentiable}
        self.velocity: list[Tensor] = []
        self.mean: list[Tensor] = []
        super().__init__(params, lr, flags, **options, centered=centered, maximize=maximize)
        self.square = self._zeros()

    def _make_state(self) -> None:
        if not self.velocity and any(group.momentum for group in self.param_groups):
            self.velocity = self._zeros()
        if not self.mean and any(group.centered for group in self.param_groups):
            self.mean = self._zeros()

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options, square = self.options(index), self.square[index]
        gradient = self._decayed(index, value, gradient)
        state = [follow(square, gradient * gradient, options.alpha)]
        variance = square
        if options.centered:
            mean = follow(self.mean[index], gradient, options.alpha)
            state.append(mean)
            variance = square - mean * mean
        step = gradient / (variance.sqrt() + options.eps)
        if options.momentum:
            velocity = self.velocity[index]
            velocity.assign(velocity * options.momentum + step)
            state.append(velocity)
            step = velocity
        return step * self._rate_for(value, index), state


class Adadelta(CountedOptimizer):
    """Adadelta (Zeiler, 2012).

    square = rho * square + (1 - rho) * gradient^2;
    step = sqrt(moved + eps) / sqrt(square + eps) * gradient;
    moved = rho * moved + (1 - rho) * step^2; value -= lr * step. weight_decay * value is added to
    the gradient.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.Adadelta([w], eps=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.1056, -1.0299]
    """

    _is_plain = True
    state_names: ClassVar[Mapping[str, str]] = {
        **CountedOptimizer.state_names, "square": "square_avg", "moved": "acc_delta",
    }  # fmt: skip

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = {"rho": rho, "eps": eps, "weight_decay": weight_decay}
        check_options("Adadelta", **options)
        flags = {"foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        super().__init__(params, lr, flags, **options, maximize=maximize)
        self.square, self.moved = self._zeros(), self._zeros()

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options, square, moved = self.options(index), self.square[index], self.moved[index]
        gradient = self._decayed(index, value, gradient)
        follow(square, gradient * gradient, options.rho)
        step = (moved + options.eps).sqrt() / (square + options.eps).sqrt() * gradient
        follow(moved, step * step, options.rho)
        return step * self._rate_for(value, index), [square, moved]
