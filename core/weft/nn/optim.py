"""Optimisers: one lazy assignment per parameter, all realised together by `step`.

An optimiser's own numbers (momentum, moving averages, the learning rate) are tensors, so that a
recorded training step may be replayed. They are kept in float32 when parameters are narrower.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, GradientError
from weft.base.promotion import least_upper_dtype
from weft.tensor import Tensor


class Optimizer:
    """What all optimisers share; each kind overrides `_change`, and `_advance` if need be.

    `params` may be all tensors of a model: those with `requires_grad=False` are kept as `buffers`
    (running statistics, say) and realised with every step; the others are trained, and
    `requires_grad` is switched on for them.

    `lr` is a tensor of one element. It can be set to a number at any time: `optimiser.lr = 0.01`.
    """

    def __init__(self, params: Iterable[Tensor], lr: float) -> None:
        given = list({id(each): each for each in params}.values())
        self.buffers = [each for each in given if each.requires_grad is False]
        self.params = [each for each in given if each.requires_grad is not False]
        if not self.params:
            raise ArgumentError(
                "there is nothing to train",
                asked=f"{type(self).__name__} of {len(given)} tensors",
                because="none of them may have a gradient" if given else "no tensor was given",
                try_="give weft.nn.state.get_parameters(model)",
            )
        for each in self.params:
            if not dtypes.is_float(each.dtype):
                raise DTypeError(
                    "only floating-point tensors can be trained",
                    asked=f"{type(self).__name__} of a tensor of {each.dtype}",
                    because="a step moves a value by a fraction",
                    try_="make that tensor with requires_grad=False, or leave it out",
                )
        self.device = self.params[0].device
        if any(each.device != self.device for each in self.params):
            raise ArgumentError(
                "one optimiser works on one device",
                asked=f"{type(self).__name__} of tensors on "
                + ", ".join(sorted({str(each.device) for each in self.params})),
                because="the learning rate lives beside the parameters",
                try_="move the model to one device, or make one optimiser for each",
            )
        for each in self.params:
            each.requires_grad_(True)
        self.dtype = least_upper_dtype(dtypes.float32, *(each.dtype for each in self.params))
        self._rate = self._number(lr)
        Tensor.realize(*self.params, *self.buffers, self._rate)

    @property
    def lr(self) -> Tensor:
        """The learning rate, shape (1,)."""
        return self._rate

    @lr.setter
    def lr(self, value: float | Tensor) -> None:
        if not isinstance(value, Tensor):
            value = Tensor([value], dtype=self.dtype, device=self.device)
        self._rate.assign(value.reshape(1).cast(self.dtype)).realize()

    def zero_grad(self) -> None:
        """Forget the gradients, so that the next backward starts from nothing."""
        for each in self.params:
            each.grad = None

    def step(self) -> None:
        """Move every parameter that has a gradient.

        Raises GradientError outside `Tensor.train()` and when no parameter has a gradient.
        """
        Tensor.realize(*self.schedule_step())

    def schedule_step(self) -> list[Tensor]:
        """Record a step without running it; gives all tensors that must be realised together."""
        if not Tensor.training:
            raise GradientError(
                "a step outside training",
                asked=f"{type(self).__name__}.step()",
                because="Tensor.training is False, so that layers behaved as in use, not as in "
                "training",
                try_="wrap the training loop: with Tensor.train(): ...",
            )
        ready = [
            (index, each, each.grad)
            for index, each in enumerate(self.params)
            if each.grad is not None
        ]
        if not ready:
            raise GradientError(
                "no parameter has a gradient",
                asked=f"{type(self).__name__}.step() on {len(self.params)} parameters",
                because="loss.backward() was not called since zero_grad, or the loss does not "
                "depend on them",
                try_="call loss.backward() first",
            )
        state = self._advance()
        for index, parameter, gradient in ready:
            value = parameter.detach().cast(self._wide(parameter))
            change, moved = self._change(index, value, gradient.detach().cast(value.dtype))
            parameter.assign((value - change).cast(parameter.dtype))
            state += moved
        return [*self.params, *self.buffers, *state]

    def _advance(self) -> list[Tensor]:
        """Update what belongs to the step and not to a parameter; gives the tensors touched."""
        return []

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        """(what to subtract from `value`, the state tensors touched) for one parameter."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a parameter changes")

    def _scalar(self, number: Tensor) -> Tensor:
        """A one-element tensor as a scalar, which broadcasts without adding an axis."""
        return number.reshape(())

    def _number(self, value: float) -> Tensor:
        return Tensor.full(
            (1,), value, dtype=self.dtype, device=self.device, requires_grad=False
        ).contiguous()

    def _wide(self, parameter: Tensor) -> DType:
        return least_upper_dtype(dtypes.float32, parameter.dtype)

    def _zeros(self) -> list[Tensor]:
        """One realised tensor of zeros for each parameter."""
        state = [
            Tensor.zeros(
                *each.shape, dtype=self._wide(each), device=self.device, requires_grad=False
            ).contiguous()
            for each in self.params
        ]
        Tensor.realize(*state)
        return state


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
        rate = self._scalar(self.lr).cast(value.dtype)
        if self.weight_decay and not self.decoupled:
            gradient = gradient + value * self.weight_decay
        mean, square = self.mean[index], self.square[index]
        mean.assign(mean * self.betas[0] + gradient * (1.0 - self.betas[0]))
        square.assign(square * self.betas[1] + gradient * gradient * (1.0 - self.betas[1]))
        mean_of_one, square_of_one = (self.averages_of_one[i].cast(value.dtype) for i in (0, 1))
        change = (mean / mean_of_one) / ((square / square_of_one).sqrt() + self.eps)
        if self.weight_decay and self.decoupled:
            change = change + value * self.weight_decay
        return change * rate, [mean, square]


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
