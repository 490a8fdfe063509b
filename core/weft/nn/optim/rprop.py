"""Rprop: steps whose sizes depend on the signs of the gradients alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from weft.base.arguments import shown
from weft.base.errors import ArgumentError
from weft.nn.optim.counted import CountedOptimizer
from weft.nn.optim.param_groups import Params
from weft.tensor import Tensor


class Rprop(CountedOptimizer):
    """Resilient backpropagation (Riedmiller and Braun, 1993).

    Each element has a step size, lr at first. It is multiplied by etas[1] where the gradient has
    the sign of the one before, by etas[0] where it has the other sign, and stays between
    step_sizes; then value -= sign(gradient) * size. Behind a change of sign the gradient counts as
    0, in this step and for the next comparison.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.Rprop([w], lr=0.5)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.5, -1.5]
    """

    _is_plain = True
    state_names: ClassVar[Mapping[str, str]] = {
        **CountedOptimizer.state_names, "previous": "prev", "size": "step_size",
    }  # fmt: skip

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ArgumentError(
                "one factor makes steps smaller, the other one larger",
                asked=f"Rprop(etas={shown(etas)})", try_="etas=(0.5, 1.2)",
            )  # fmt: skip
        flags = {"capturable": capturable, "foreach": foreach, "differentiable": differentiable}
        super().__init__(params, lr, flags, etas=etas, step_sizes=step_sizes, maximize=maximize)
        self.previous, self.size = self._zeros(), self._zeros()

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        options, previous, size = self.options(index), self.previous[index], self.size[index]
        less, more = options.etas
        before = self._is_first(index, value).where(self._rate_for(value, index), size)
        agreement = gradient * previous
        turned = agreement < 0
        factor = turned.where(less, (agreement > 0).where(more, 1.0))
        size.assign((before * factor).clamp(*options.step_sizes))
        previous.assign(turned.where(0.0, gradient))
        return previous.sign() * size, [previous, size]
