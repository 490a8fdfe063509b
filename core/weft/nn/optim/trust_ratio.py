"""LARS and LAMB: every layer moves in proportion to the norm of its own weights."""

from __future__ import annotations

from weft.nn.optim.adam import Adam
from weft.nn.optim.param_groups import Params
from weft.nn.optim.sgd import SGD
from weft.tensor import Tensor


def trust_ratio(value: Tensor, change: Tensor) -> Tensor:
    """|value| / |change|, and 1 where either is 0; a scalar."""
    norm = value.square().sum().sqrt()
    moved = change.square().sum().sqrt()
    return ((norm > 0) & (moved > 0)).where(norm / moved, 1.0)


class LARS(SGD):
    """SGD with momentum and layer-wise rates (You, Gitman and Ginsburg, 2017).

    The gradient (plus weight_decay * value) is scaled by
    tcoef * |value| / (|gradient| + weight_decay * |value|) before it enters the momentum, and by 1
    where either is 0; with tcoef 0 it is not scaled. The learning rate enters the momentum with it,
    so that earlier steps keep the rate of their time; without `classic` what comes out of the
    momentum is scaled by both. Without `pre_wd` the decay does not go through ratio and momentum:
    the value is scaled by 1 - lr * weight_decay instead.

    >>> w = Tensor([[1.0, 0.5], [0.0, 2.0]], requires_grad=True)
    >>> optimizer = nn.optim.LARS([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [[0.9999, 0.4999], [0.0, 1.9998]]
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 1e-4,
        nesterov: bool = False,
        classic: bool = True,
        tcoef: float = 1e-3,
        *,
        pre_wd: bool = True,
    ) -> None:
        super().__init__(params, lr, momentum, weight_decay, nesterov, classic)
        self._add_defaults(tcoef=tcoef, pre_wd=pre_wd)

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options = self.options(index)
        decay = options.weight_decay
        step = gradient + value * decay if options.pre_wd else gradient
        if options.tcoef:
            norm, gradient_norm = value.square().sum().sqrt(), gradient.square().sum().sqrt()
            ratio = options.tcoef * norm / (gradient_norm + decay * norm)
            ratio = ((norm > 0) & (gradient_norm > 0)).where(ratio, 1.0)
        else:
            ratio = Tensor.ones((), dtype=value.dtype, device=value.device)
        change, state = self._along_momentum(
            index, value, step * ratio if options.classic else step
        )
        change = change if options.classic else change * ratio
        if decay and not options.pre_wd:
            rate = self._rate_for(value, index)
            # of the value that is decayed first
            change = change + value * (rate * decay)
        return change, state


class LAMB(Adam):
    """Adam with layer-wise rates (You et al., 2020).

    Adam's step plus weight_decay * value is scaled by |value| over its own norm; with `adam` it is
    not.

    >>> w = Tensor([[1.0, 0.5], [0.0, 2.0]], requires_grad=True)
    >>> optimizer = nn.optim.LAMB([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [[0.8677, 0.3677], [0.0, 1.8677]]
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        adam: bool = False,
        b1: float | None = None,
        b2: float | None = None,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, b1=b1, b2=b2)
        self._add_defaults(adam=adam)

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        change, state = self._direction(index, value, gradient)
        options = self.options(index)
        if options.weight_decay:
            change = change + value * options.weight_decay
        rate = self._rate_for(value, index)
        change = change if options.adam else change * trust_ratio(value, change)
        return change * rate, state
