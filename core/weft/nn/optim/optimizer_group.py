"""Several optimisers as one: other settings for other parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.base.arguments import kind_of, shown
from weft.base.errors import ArgumentError, GradientError
from weft.nn.optim.base import Optimizer
from weft.nn.optim.param_groups import ParamGroup
from weft.tensor import Tensor


class OptimizerGroup:
    """Optimisers that step together, in one schedule.

    Each has parameters and a learning rate of its own. Raises ArgumentError where a parameter
    belongs to two of them.

    >>> body, head = Tensor([1.0]), Tensor([2.0])
    >>> optim = nn.optim
    >>> group = optim.OptimizerGroup(optim.SGD([body], lr=0.1), optim.Adam([head], lr=0.01))
    >>> len(group.params), group[1].lr.item()
    (2, 0.01)
    """

    def __init__(self, *optimizers: Optimizer) -> None:
        if not optimizers:
            raise ArgumentError(
                "a group needs optimisers",
                asked="OptimizerGroup()",
                try_="OptimizerGroup(SGD(body, 0.1), SGD(head, 0.01))",
            )
        for each in optimizers:
            if not isinstance(each, Optimizer):
                raise ArgumentError(
                    "a group is of optimisers",
                    asked=f"OptimizerGroup({shown(each)})",
                    because=f"that is {kind_of(each)}",
                    try_="OptimizerGroup(SGD(body, 0.1), SGD(head, 0.01))",
                )
        self.optimizers = list(optimizers)
        if len({id(each) for each in self.params}) < len(self.params):
            raise ArgumentError(
                "a parameter has two optimisers",
                asked=f"a group of {len(optimizers)} optimisers",
                because="both would move it in one step",
                try_="give every parameter to one of them",
            )

    @property
    def params(self) -> list[Tensor]:
        """The parameters of all."""
        return [each for optimizer in self.optimizers for each in optimizer.params]

    @property
    def buffers(self) -> list[Tensor]:
        """The buffers of all."""
        return [each for optimizer in self.optimizers for each in optimizer.buffers]

    def __getitem__(self, index: int) -> Optimizer:
        return self.optimizers[index]

    @property
    def param_groups(self) -> list[ParamGroup]:
        """The groups of all."""
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def state_dict(self) -> list[dict[str, Any]]:
        """The state of each. See `Optimizer.state_dict`."""
        return [optimizer.state_dict() for optimizer in self.optimizers]

    def load_state_dict(self, state_dict: Sequence[Mapping[str, Any]]) -> None:
        """Restore a `state_dict`. :raises ArgumentError: for another number of optimisers."""
        if len(state_dict) != len(self.optimizers):
            raise ArgumentError(
                "the saved state is of another group",
                asked=f"load the states of {len(state_dict)} optimisers",
                because=f"this group has {len(self.optimizers)}",
            )
        for optimizer, state in zip(self.optimizers, state_dict, strict=True):
            optimizer.load_state_dict(state)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients; with set_to_none=False they become zeros."""
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none)

    def step(self) -> None:
        """Step all whose parameters have gradients. Raises what `Optimizer.step` raises."""
        Tensor.realize(*self.schedule_step())

    def schedule_step(self) -> list[Tensor]:
        """Record a step of each without running it."""
        ready = [o for o in self.optimizers if any(p.grad is not None for p in o.params)]
        if not ready and self.optimizers:
            ready = self.optimizers  # the first of them says what is missing
        changed = [tensor for optimizer in ready for tensor in optimizer.schedule_step()]
        if not changed:
            raise GradientError("nothing was changed by this step")
        return changed
