"""Gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from weft.base.arguments import shown
from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.nn.optim.option_checks import check_differentiable
from weft.nn.optim.param_groups import Params
from weft.nn.optim.state_dicts import tensor_from
from weft.tensor import Tensor


class SGD(Optimizer):
    """Stochastic gradient descent with momentum, Nesterov's form of it, and L2 weight decay.

    gradient += weight_decay * value; velocity = momentum * velocity + (1 - dampening) * gradient,
    and the gradient alone the first time; value -= lr * velocity, or
    lr * (gradient + momentum * velocity) with `nesterov`. With `classic` the learning rate enters
    the velocity, so that earlier steps keep the rate of their time. `maximize` climbs.
    `fused` and `foreach` are accepted and have no effect.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.SGD([w], lr=0.25, momentum=0.9)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.5, -1.0]
    """

    _is_plain = True
    state_names: ClassVar[Mapping[str, str]] = {"velocity": "momentum_buffer"}
    state_rows = ("moved",)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        classic: bool = False,
        dampening: float = 0.0,
        maximize: bool = False,
        *,
        fused: bool | None = None,
        foreach: bool | None = None,
        differentiable: bool = False,
    ) -> None:
        check_differentiable(type(self).__name__, differentiable)
        if not isinstance(nesterov, bool):
            raise ArgumentError(
                "whether the step looks ahead is a yes or a no",
                asked=f"{type(self).__name__} with nesterov={shown(nesterov)}",
                because="weight_decay comes right behind the momentum here, and nesterov behind it",
                try_="give what follows the momentum by its name",
            )
        if nesterov and (not momentum or dampening):
            raise ArgumentError(
                "Nesterov's step looks ahead along the momentum",
                asked=f"SGD(nesterov=True, momentum={momentum}, dampening={dampening})",
                because="without momentum there is nothing to look ahead along"
                if not momentum
                else "with dampening the momentum is not what was looked ahead along",
                try_="give a momentum, 0.9 for instance, and no dampening",
            )
        super().__init__(
            params, lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov,
            classic=classic, dampening=dampening, maximize=maximize,
        )  # fmt: skip
        self.velocity: list[Tensor] = []
        # 1 for parameters that have moved, where the first move is another than the later ones
        self.moved: Tensor | None = None
        self._make_state()

    def _make_state(self) -> None:
        groups = self.param_groups
        if not self.velocity and any(group.momentum for group in groups):
            self.velocity = self._zeros()
        if self.moved is None and any(group.momentum and group.dampening for group in groups):
            self.moved = self._have_velocity().realize()

    def _have_velocity(self) -> Tensor:
        """1 for parameters that have moved, else 0: shape (parameters, 1)."""
        rows = [self._has_velocity(each) for each in self.velocity]
        return rows[0].stack(*rows[1:]).contiguous()

    def _has_velocity(self, velocity: Tensor) -> Tensor:
        """Shape (1,). A parameter whose gradients were all 0 counts as one that has not moved."""
        found = (velocity.detach() != 0).any().reshape(1)
        return found.cast(self.dtype).to(self.device)

    def translated(self, number: int, found: dict[str, Any]) -> dict[str, Any]:
        """See Optimizer. Without dampening nothing is saved of which parameters have moved."""
        if found.get("momentum_buffer") is not None and "moved" not in found:
            found["moved"] = self._has_velocity(tensor_from(found["momentum_buffer"]))
        return found

    def _advance(self, ready: list[int]) -> list[Tensor]:
        if self.moved is None:
            return []
        dampening: Any = self.param_groups[0].dampening
        if len(self.param_groups) > 1:
            rows = [[group.dampening] for group in self.param_groups for _ in group.params]
            dampening = Tensor(rows, dtype=self.dtype, device=self.device)
        self._shares = 1.0 - self.moved * dampening
        moving = [index for index in ready if self.options(index).momentum]
        self.moved.assign(self._among(moving, self.moved * 0 + 1, self.moved))
        return [self.moved]

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        decay = self.options(index).weight_decay
        if decay:
            gradient = gradient + value * decay
        return self._along_momentum(index, value, gradient)

    def _along_momentum(
        self, index: int, value: Tensor, step: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """What momentum makes of a step, times the learning rate."""
        rate, options = self._rate_for(value, index), self.options(index)
        if not options.momentum:
            return step * rate, []
        if options.classic:
            step = step * rate
        velocity = self.velocity[index]
        share = None if self.moved is None else self._beside(self._shares, value)[index, 0]
        velocity.assign(velocity * options.momentum + (step if share is None else step * share))
        change = step + velocity * options.momentum if options.nesterov else velocity
        return (change if options.classic else change * rate), [velocity]
