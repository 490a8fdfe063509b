"""Optimisers: one lazy assignment per parameter, all realised together by `step`.

An optimiser's own numbers (momentum, moving averages, the learning rate) are tensors, so that a
recorded training step may be replayed. They are kept in float32 when parameters are narrower.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.base.arguments import real
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, GradientError
from weft.base.promotion import least_upper_dtype
from weft.base.settings import settings
from weft.engine.capture import recording
from weft.nn.mode import take_defaulted
from weft.schedule.structure import walk
from weft.tensor import Tensor
from weft.tensor.jit import Jit
from weft.tensor.live import waiting_tensors
from weft.uop import Ops, UOp


class Optimizer:
    """What all optimisers share; each kind overrides `_change`, and `_advance` if need be.

    `params` may be all tensors of a model: those with `requires_grad=False` are kept as `buffers`
    (running statistics, say) and realised with every step; the others are trained, and
    `requires_grad` is switched on for them.

    `lr` is a tensor of one element. It can be set to a number at any time: `optimiser.lr = 0.01`.

    >>> w = Tensor([1.0])
    >>> optimizer = nn.optim.SGD([w], lr=0.5)
    >>> optimizer.lr = 0.25
    >>> optimizer.lr.item(), w.requires_grad
    (0.25, True)

    All that an optimiser knows is tensors: `weft.nn.state.get_state_dict(optimiser)` can be saved,
    and loaded into a new one of the same kind to go on from there.

    Parameters may lie on several devices: each moves where it lies, and the optimiser's own numbers
    are kept beside the first.

    Raises ArgumentError for parameters that are none, and for rates below 0; DTypeError for
    parameters that are not floating-point.
    """

    maximize = False
    # of a kind, not of those that are derived from it: whether its `_change` builds the same graph
    # at every step, without large values of its own
    _is_plain = False

    def __init__(self, params: Iterable[Tensor], lr: float | Tensor) -> None:
        given = _tensors(params, type(self).__name__)
        rate = float(lr.item()) if isinstance(lr, Tensor) else float(real(lr, "lr"))
        if not rate >= 0:
            raise ArgumentError(
                "a learning rate is a number from 0",
                asked=f"{type(self).__name__}(lr={lr})",
                because="a step goes against the gradient",
                try_="to climb, give maximize=True or negate the loss",
            )
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
        for each in self.params:
            each.requires_grad_(True)
        self.dtype = least_upper_dtype(dtypes.float32, *(each.dtype for each in self.params))
        self._rate = self._number(rate)
        Tensor.realize(*self.params, *self.buffers, self._rate)

    @property
    def lr(self) -> Tensor:
        """The learning rate, shape (1,).

        >>> optimizer = nn.optim.SGD([Tensor([1.0])], lr=0.5)
        >>> optimizer.lr = 0.25
        >>> optimizer.lr.item()
        0.25
        """
        return self._rate

    @lr.setter
    def lr(self, value: float | Tensor) -> None:
        if not isinstance(value, Tensor):
            value = Tensor([value], dtype=self.dtype, device=self.device)
        self._rate.assign(value.reshape(1).cast(self.dtype)).realize()

    def zero_grad(self) -> None:
        """Forget the gradients, so that the next backward starts from nothing.

        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * w).sum().backward()
        >>> nn.optim.SGD([w]).zero_grad()
        >>> w.grad is None
        True
        """
        for each in self.params:
            each.grad = None

    def step(self) -> None:
        """Move every parameter that has a gradient.

        Raises GradientError when no parameter has a gradient, and outside `Tensor.train()` where a
        layer that acts otherwise in training, such as Dropout, was called in a mode that nobody
        had asked for (see `weft.nn.mode`).

        >>> w = Tensor([4.0])
        >>> optimizer = nn.optim.SGD([w], lr=0.25)
        >>> with Tensor.train():
        ...     _ = (w * w).sum().backward()
        ...     optimizer.step()
        >>> w.item()
        2.0
        """
        gradients = self._gradients()
        if not vars(type(self)).get("_is_plain") or recording() is not None or not settings.JIT:
            Tensor.realize(*self._record(gradients))
            return
        Tensor.realize(*self._below(gradients))
        try:
            for each in self.params:
                each.grad = None  # new ones at every step would be state that changes
            self._replayed(*gradients)
        finally:
            for each, gradient in zip(self.params, gradients):
                each.grad = gradient

    def schedule_step(self) -> list[Tensor]:
        """Record a step without running it; gives all tensors that must be realised together.

        >>> w = Tensor([4.0])
        >>> optimizer = nn.optim.SGD([w], lr=0.25)
        >>> with Tensor.train():
        ...     loss = (w * w).sum().backward()
        ...     _ = loss.realize(*optimizer.schedule_step())
        >>> loss.item(), w.item()
        (16.0, 2.0)
        """
        return self._record(self._gradients())

    def _gradients(self) -> list[Tensor | None]:
        """The gradient of each parameter. Raises as `step` does."""
        layer = take_defaulted()
        if layer is not None and not Tensor.training:
            raise GradientError(
                "a step outside training",
                asked=f"{type(self).__name__}.step()",
                because=f"a {layer} acts otherwise in training, and was called in inference mode: "
                "neither train() nor eval() of its module was called, and Tensor.training is False",
                try_="model.train() before the training loop, or with Tensor.train(): ...",
            )
        found = [each.grad for each in self.params]
        if all(gradient is None for gradient in found):
            raise GradientError(
                "no parameter has a gradient",
                asked=f"{type(self).__name__}.step() on {len(self.params)} parameters",
                because="loss.backward() was not called since zero_grad, or the loss does not "
                "depend on them",
                try_="call loss.backward() first",
            )
        return found

    def _record(self, gradients: Sequence[Tensor | None]) -> list[Tensor]:
        """A step along these, lazily; gives all tensors that must be realised together."""
        ready = [index for index, gradient in enumerate(gradients) if gradient is not None]
        state = self._advance(ready)
        for index in ready:
            parameter, given = self.params[index], gradients[index]
            value = parameter.detach().cast(self._wide(parameter))
            gradient = given.detach().cast(value.dtype)  # type: ignore[union-attr]
            change, moved = self._change(index, value, -gradient if self.maximize else gradient)
            parameter.assign((value - change).cast(parameter.dtype))
            state += moved
        return [*self.params, *self.buffers, *state]

    def _replay(self, *gradients: Tensor | None) -> None:
        Tensor.realize(*self._record(gradients))

    # A step is the same for all gradients: it is recorded once, and replayed from then on.
    _replayed = Jit(_replay, quiet=True)

    def _below(self, gradients: Sequence[Tensor | None]) -> list[Tensor]:
        """What is to be computed before the parameters move: the gradients, and what still waits
        for the old values, in one schedule."""
        found = [*[each for each in gradients if each is not None], *self.buffers]
        read = {n for each in self.params for n in walk(each.uop) if n.op is Ops.BUFFER}
        waiting = waiting_tensors()
        for node in walk(UOp(Ops.SINK, src=tuple(dict.fromkeys([t.uop for t in waiting])))):
            for source in node.src:
                if source in read:
                    read.add(node)
                    break
        found += [each for each in waiting if each.uop in read]
        return found

    def _advance(self, ready: list[int]) -> list[Tensor]:
        """Update what does not depend on the gradients, for the parameters of the given numbers;
        gives the tensors touched."""
        return []

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        """(what to subtract from `value`, the state tensors touched) for one parameter."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a parameter changes")

    def _beside(self, number: Tensor, value: Tensor) -> Tensor:
        """A number of the optimiser's own where `value` is, in its dtype."""
        there = number if number.device == value.device else number.to(value.device)
        return there.cast(value.dtype)

    def _rate_for(self, value: Tensor) -> Tensor:
        """The learning rate beside `value`, as a scalar: it broadcasts without adding an axis."""
        return self._beside(self.lr, value).reshape(())

    def _number(self, value: float) -> Tensor:
        return Tensor.full(
            (1,), value, dtype=self.dtype, device=self.device, requires_grad=False
        ).contiguous()

    def _among(self, ready: list[int], moved: Tensor, still: Tensor) -> Tensor:
        """Rows of `moved` for the given parameters, of `still` for the others."""
        if len(ready) == len(self.params):
            return moved
        rows = [[index in ready] for index in range(len(self.params))]
        return Tensor(rows, device=self.device).where(moved, still)

    def _wide(self, parameter: Tensor) -> DType:
        return least_upper_dtype(dtypes.float32, parameter.dtype)

    def _zeros(self) -> list[Tensor]:
        """One realised tensor of zeros for each parameter, in parts where the parameter is."""
        state = []
        for each in self.params:
            kind = self._wide(each)
            zeros = Tensor.zeros(*each.shape, dtype=kind, device=each.device, requires_grad=False)
            state.append(zeros.shard_like(each).clone())
        Tensor.realize(*state)
        return state


def _tensors(params: Iterable[Tensor], who: str) -> list[Tensor]:
    """Each of the tensors once. Raises ArgumentError for anything else."""
    alone = isinstance(params, Tensor | dict | str) or not isinstance(params, Iterable)
    given = [params] if alone else list(params)
    for each in given:
        if isinstance(each, Tensor) and each is not params:
            continue
        name = "one tensor" if isinstance(each, Tensor) else f"a {type(each).__name__}"
        raise ArgumentError(
            "an optimiser takes a list of tensors",
            asked=f"{who} of {name}",
            because="its rows would be taken for parameters"
            if isinstance(each, Tensor)
            else "what is no tensor cannot be moved",
            try_="OptimizerGroup(SGD(body, 0.1), SGD(head, 0.01)) for groups of parameters"
            if isinstance(each, dict)
            else f"{who}(weft.nn.state.get_parameters(model))",
        )
    return list({id(each): each for each in given}.values())
