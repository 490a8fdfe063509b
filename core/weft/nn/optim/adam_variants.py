"""Variants of Adam: Adamax, NAdam and RAdam."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weft.nn.optim.counted import CountedOptimizer, bias_correction, follow
from weft.nn.optim.option_checks import check_options, checked_betas
from weft.nn.optim.param_groups import ParamGroup, Params
from weft.tensor import Tensor


class Adamax(CountedOptimizer):
    """Adam with the maximum in the place of the root of squares (Kingma and Ba, 2015, section 7).

    mean = b1 * mean + (1 - b1) * gradient; largest = max(b2 * largest, |gradient| + eps);
    value -= lr / (1 - b1^step) * mean / largest. weight_decay * value is added to the gradient.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.Adamax([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.9, -1.9]
    """

    _is_plain = True
    state_names: ClassVar[Mapping[str, str]] = {
        **CountedOptimizer.state_names, "mean": "exp_avg", "largest": "exp_inf",
    }  # fmt: skip

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        options: dict[str, Any] = {"eps": eps, "weight_decay": weight_decay}
        check_options("Adamax", **options)
        options["betas"] = checked_betas("Adamax", betas)
        flags = {"foreach": foreach, "differentiable": differentiable, "capturable": capturable}
        super().__init__(params, lr, flags, **options, maximize=maximize)
        self.mean, self.largest = self._zeros(), self._zeros()

    def _coefficients(self, count: Tensor, options: ParamGroup, rows: slice) -> Sequence[Any]:
        return [options.rate / bias_correction(options.betas[0], count)]

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options, mean, largest = self.options(index), self.mean[index], self.largest[index]
        gradient = self._decayed(index, value, gradient)
        follow(mean, gradient, options.betas[0])
        largest.assign((largest * options.betas[1]).maximum(gradient.abs() + options.eps))
        return mean / largest * self._coefficient(index, 0, value), [mean, largest]


class _WithSquares(CountedOptimizer):
    """What NAdam and RAdam share: the averages of gradients and of their squares, and weight decay
    that is added to the gradient, or with decoupled_weight_decay scales the value."""

    state_names: ClassVar[Mapping[str, str]] = {
        **CountedOptimizer.state_names, "mean": "exp_avg", "square": "exp_avg_sq",
    }  # fmt: skip

    def __init__(
        self, params: Params, lr: float, betas: Any, flags: Mapping[str, Any], **options: Any
    ) -> None:
        who = type(self).__name__
        check_options(who, eps=options["eps"], weight_decay=options["weight_decay"])
        super().__init__(params, lr, flags, betas=checked_betas(who, betas), **options)
        self.mean, self.square = self._zeros(), self._zeros()

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options = self.options(index)
        decay = value.zeros_like()
        if options.weight_decay and options.decoupled_weight_decay:
            # the step goes from the value that is scaled
            decay = value * (self._rate_for(value, index) * options.weight_decay)
        else:
            gradient = self._decayed(index, value, gradient)
        first, second = options.betas
        mean = follow(self.mean[index], gradient, first)
        square = follow(self.square[index], gradient * gradient, second)
        return decay + self._direction(index, gradient, mean, square), [mean, square]

    def _direction(self, index: int, gradient: Tensor, mean: Tensor, square: Tensor) -> Tensor:
        """What the averages, which have taken the gradient in, make of it; lr included."""
        raise NotImplementedError


class NAdam(_WithSquares):
    """Adam with Nesterov's momentum (Dozat, 2016).

    mu(t) = b1 * (1 - 0.96^(t * momentum_decay) / 2), product = the product of all mu up to step t;
    value -= lr * ((1 - mu(t)) / (1 - product) * gradient
    + mu(t + 1) / (1 - product * mu(t + 1)) * mean) / (sqrt(square / (1 - b2^t)) + eps).

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.NAdam([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.8944, -1.8944]
    """

    _is_plain = True
    state_rows: ClassVar[tuple[str, ...]] = ("counts", "mu_product")

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options("NAdam", momentum_decay=momentum_decay)
        flags = {"foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        super().__init__(
            params, lr, betas, flags, eps=eps, weight_decay=weight_decay, maximize=maximize,
            momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip
        self.mu_product = self._row_numbers()

    def _momentum(self, count: Tensor, options: ParamGroup) -> Tensor:
        decayed = (count * (options.momentum_decay * math.log(0.96))).exp()
        return (1.0 - decayed * 0.5) * options.betas[0]

    def _advance(self, ready: list[int]) -> list[Tensor]:
        factors = self._by_group(lambda count, group, rows: [self._momentum(count + 1, group)])
        assert factors is not None
        moved = (self.counts == 0).where(1.0, self.mu_product) * factors[:, 0]
        self.mu_product.assign(self._among(ready, moved, self.mu_product))
        return [self.mu_product, *super()._advance(ready)]

    def _coefficients(self, count: Tensor, options: ParamGroup, rows: slice) -> Sequence[Any]:
        momentum, next_momentum = self._momentum(count, options), self._momentum(count + 1, options)
        product = self.mu_product[rows]
        return [
            options.rate * (1.0 - momentum) / (1.0 - product),
            options.rate * next_momentum / (1.0 - product * next_momentum),
            bias_correction(options.betas[1], count),
        ]

    def _direction(self, index: int, gradient: Tensor, mean: Tensor, square: Tensor) -> Tensor:
        of_gradient, of_mean, correction = (self._coefficient(index, n, mean) for n in range(3))
        root = (square / correction).sqrt() + self.options(index).eps
        return (gradient * of_gradient + mean * of_mean) / root


class RAdam(_WithSquares):
    """Adam whose adaptive rate is rectified, and left out while its variance is unbounded (Liu et
    al., 2020).

    rho = 2 / (1 - b2) - 1; rho(t) = rho - 2 t b2^t / (1 - b2^t). Where rho(t) > 5
    value -= lr * r * mean / (1 - b1^t) * sqrt(1 - b2^t) / (sqrt(square) + eps) with
    r^2 = (rho(t) - 4) (rho(t) - 2) rho / ((rho - 4) (rho - 2) rho(t)), else
    value -= lr * mean / (1 - b1^t).

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.RAdam([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.8, -1.6]
    """

    _is_plain = True

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        flags = {"foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        super().__init__(
            params, lr, betas, flags, eps=eps, weight_decay=weight_decay, maximize=maximize,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip

    def _coefficients(self, count: Tensor, options: ParamGroup, rows: slice) -> Sequence[Any]:
        first, second = options.betas
        correction = bias_correction(second, count)
        limit = 2.0 / (1.0 - second) - 1.0
        length = limit - count * 2.0 * (1.0 - correction) / correction
        ratio = (length - 4.0) * (length - 2.0) * limit / length
        rectified = length > 5.0
        share = rectified.where(ratio, 1.0) / ((limit - 4.0) * (limit - 2.0) or 1.0)
        factor = rectified.where((share * correction).maximum(0.0).sqrt(), 0.0)
        rate = options.rate / bias_correction(first, count)
        return [rate * factor, rectified.where(0.0, rate)]

    def _direction(self, index: int, gradient: Tensor, mean: Tensor, square: Tensor) -> Tensor:
        adaptive, plain = (self._coefficient(index, number, mean) for number in range(2))
        return mean * (adaptive / (square.sqrt() + self.options(index).eps) + plain)
