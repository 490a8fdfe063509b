"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Iterable

from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.tensor import Tensor


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015), with L2 weight decay added to the gradient.

    The averages start at zero and are divided by what the same moving average of the number 1 has
    reached. That equals 1 - beta^t, and loses no digits when beta^t is close to 1.
    """

    decoupled = False

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        if not all(0.0 <= beta < 1.0 for beta in betas):
            raise ArgumentError(
                "a moving average needs a weight from 0 to below 1",
                asked=f"{type(self).__name__}(betas={betas})",
                because="with 1 the average would never move",
                try_="(0.9, 0.999) is usual",
            )
        super().__init__(params, lr)
        self.betas, self.eps, self.weight_decay = betas, eps, weight_decay
        self.mean, self.square = self._zeros(), self._zeros()
        # What the two averages of the number 1 have reached, side by side: one kernel moves both.
        weights = [[float(beta) for beta in betas], [1.0 - beta for beta in betas]]
        self._weights = Tensor(weights, dtype=self.dtype, device=self.device)
        self.averages_of_one = Tensor.zeros(2, dtype=self.dtype, device=self.device).contiguous()
        Tensor.realize(self._weights, self.averages_of_one)

    def _advance(self) -> list[Tensor]:
        self.averages_of_one.assign(self.averages_of_one * self._weights[0] + self._weights[1])
        return [self.averages_of_one]

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        if self.weight_decay and not self.decoupled:
            gradient = gradient + value * self.weight_decay
        change, state = self._direction(index, value, gradient)
        if self.weight_decay and self.decoupled:
            change = change + value * self.weight_decay
        return change * self._scalar(self.lr).cast(value.dtype), state

    def _direction(
        self, index: int, value: Tensor, gradient: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """The quotient of the two averages, and the averages, which have taken the gradient in."""
        mean, square = self.mean[index], self.square[index]
        mean.assign(mean * self.betas[0] + gradient * (1.0 - self.betas[0]))
        square.assign(square * self.betas[1] + gradient * gradient * (1.0 - self.betas[1]))
        mean_of_one, square_of_one = (self.averages_of_one[i].cast(value.dtype) for i in (0, 1))
        change = (mean / mean_of_one) / ((square / square_of_one).sqrt() + self.eps)
        return change, [mean, square]


class AdamW(Adam):
    """Adam whose weight decay acts on the value itself (Loshchilov and Hutter, 2019)."""

    decoupled = True

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)
