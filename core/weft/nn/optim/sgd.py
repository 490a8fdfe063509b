"""Gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Iterable

from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.tensor import Tensor


class SGD(Optimizer):
    """Stochastic gradient descent with momentum, Nesterov's form of it, and L2 weight decay.

    gradient += weight_decay * value; velocity = momentum * velocity + gradient;
    value -= lr * velocity, or lr * (gradient + momentum * velocity) with `nesterov`.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        if nesterov and not momentum:
            raise ArgumentError(
                "Nesterov's step looks ahead along the momentum",
                asked="SGD(nesterov=True, momentum=0)",
                because="without momentum there is nothing to look ahead along",
                try_="give a momentum, 0.9 for instance",
            )
        super().__init__(params, lr)
        self.momentum, self.weight_decay, self.nesterov = momentum, weight_decay, nesterov
        self.velocity = self._zeros() if momentum else []

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        rate = self._scalar(self.lr).cast(value.dtype)
        if self.weight_decay:
            gradient = gradient + value * self.weight_decay
        if not self.momentum:
            return gradient * rate, []
        velocity = self.velocity[index]
        velocity.assign(velocity * self.momentum + gradient)
        if self.nesterov:
            return (gradient + velocity * self.momentum) * rate, [velocity]
        return velocity * rate, [velocity]
