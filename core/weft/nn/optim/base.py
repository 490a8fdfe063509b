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
        """One realised tensor of zeros for each parameter, in parts where the parameter is."""
        state = []
        for each in self.params:
            kind = self._wide(each)
            zeros = Tensor.zeros(*each.shape, dtype=kind, device=self.device, requires_grad=False)
            state.append(zeros.shard_like(each).clone())
        Tensor.realize(*state)
        return state
