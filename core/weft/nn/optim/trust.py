"""LARS and LAMB: every layer moves in proportion to the size of its own weights."""

from __future__ import annotations

from collections.abc import Iterable

from weft.nn.optim.adam import Adam
from weft.nn.optim.sgd import SGD
from weft.tensor import Tensor


def trust_ratio(value: Tensor, change: Tensor, divisor: Tensor | None = None) -> Tensor:
    """|value| / |change| (or / divisor), and 1 where either is 0; a scalar."""
    size = value.square().sum().sqrt()
    moved = change.square().sum().sqrt()
    ratio = size / (moved if divisor is None else divisor)
    return ((size > 0) & (moved > 0)).where(ratio, 1.0)


class LARS(SGD):
    """SGD with momentum and layer-wise rates (You, Gitman and Ginsburg, 2017).

    The gradient (plus weight_decay * value) is scaled by
    tcoef * |value| / (|gradient| + weight_decay * |value|) before it enters the momentum. With
    `classic` the learning rate enters the momentum too, so that earlier steps keep the rate of
    their time.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 1e-4,
        nesterov: bool = False,
        classic: bool = True,
        tcoef: float = 1e-3,
    ) -> None:
        super().__init__(params, lr, momentum, weight_decay, nesterov)
        self.classic, self.tcoef = classic, tcoef

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        rate = self._scalar(self.lr).cast(value.dtype)
        size, slope = value.square().sum().sqrt(), gradient.square().sum().sqrt()
        ratio = self.tcoef * trust_ratio(value, gradient, slope + self.weight_decay * size)
        scaled = (gradient + value * self.weight_decay) * ratio
        if not self.momentum:
            return scaled * rate, []
        step = scaled * rate if self.classic else scaled
        velocity = self.velocity[index]
        velocity.assign(velocity * self.momentum + step)
        change = step + velocity * self.momentum if self.nesterov else velocity
        return (change if self.classic else change * rate), [velocity]


class LAMB(Adam):
    """Adam with layer-wise rates (You et al., 2020).

    Adam's step plus weight_decay * value is scaled by |value| over its own size.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        change, state = self._direction(index, value, gradient)
        if self.weight_decay:
            change = change + value * self.weight_decay
        rate = self._scalar(self.lr).cast(value.dtype)
        return change * trust_ratio(value, change) * rate, state
