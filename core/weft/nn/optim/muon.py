"""Muon: momentum whose matrix steps are made orthogonal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from weft.base.arguments import choice, shown
from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.nn.optim.param_groups import Params
from weft.tensor import Tensor


def orthogonalised(
    matrix: Tensor,
    steps: int = 5,
    coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
    eps: float = 1e-7,
) -> Tensor:
    """A matrix with the singular vectors of `matrix` and singular values near 1.

    `steps` of the quintic iteration x -> a x + (b g + c g g) x with g = x x^T (Newton-Schulz;
    coefficients of Jordan et al., 2024), on the matrix scaled to norm 1, in its own dtype. With the
    default coefficients the singular values end between about 0.7 and 1.2, not at 1.
    """
    if not isinstance(matrix, Tensor) or matrix.ndim != 2:
        raise ArgumentError(
            "a matrix has singular vectors",
            asked=f"orthogonalised({shown(matrix)})",
            because="it has two axes",
            try_="x.reshape(x.shape[0], -1)",
        )
    scaled = matrix / matrix.square().sum().sqrt().maximum(eps)
    return towards_one(scaled, steps, coefficients)


def towards_one(matrix: Tensor, steps: int, coefficients: tuple[float, float, float]) -> Tensor:
    """The same steps from singular values between 0 and about 1; see `orthogonalised`."""
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.transpose(0, 1) if tall else matrix
    for _ in range(steps):
        gram = (x @ x.transpose(0, 1)).contiguous()
        more = gram * b + (gram @ gram) * c if c else gram * b
        x = (x * a + more @ x).contiguous()
    return x.transpose(0, 1) if tall else x


class Muon(Optimizer):
    """Momentum, orthogonalised, for matrices (Jordan et al., 2024).

    velocity = momentum * velocity + (1 - momentum) * gradient; the step is the orthogonalised
    velocity, or with `nesterov` the same blend once more, times lr * sqrt(max(1, rows / columns));
    the value is scaled by 1 - lr * weight_decay first. Weights of convolutions are taken as
    matrices of (outputs, the rest). Raises ArgumentError for parameters of fewer than two axes:
    those belong to another optimiser, in an OptimizerGroup. adjust_lr_fn="match_rms_adamw": the
    step is times lr * 0.2 * sqrt(max(rows, columns)), about the size of AdamW's (Liu et al., 2025).

    >>> w = Tensor([[1.0, 0.5], [0.0, 2.0]], requires_grad=True)
    >>> optimizer = nn.optim.Muon([w], lr=0.1)
    >>> with Tensor.train():
    ...     _ = (w * w).sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [[0.881, 0.4899], [0.0247, 1.9102]]
    """

    state_names: ClassVar[Mapping[str, str]] = {"velocity": "momentum_buffer"}

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        choice(adjust_lr_fn or "original", "adjust_lr_fn", ("original", "match_rms_adamw"))
        if not isinstance(ns_coefficients, tuple | list) or len(ns_coefficients) != 3:
            raise ArgumentError(
                "a step towards orthogonality has three coefficients",
                asked=f"Muon(ns_coefficients={shown(ns_coefficients)})",
                because="it is a x + b g x + c g g x",
                try_="(3.4445, -4.775, 2.0315)",
            )
        super().__init__(
            params, lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
            ns_coefficients=tuple(ns_coefficients), eps=eps, ns_steps=ns_steps,
            adjust_lr_fn=adjust_lr_fn,
        )  # fmt: skip
        for each in self.params:
            if each.ndim < 2:
                raise ArgumentError(
                    "Muon moves matrices",
                    asked=f"Muon of a parameter of shape {each.shape}",
                    because="a vector has no singular vectors to keep",
                    try_="OptimizerGroup(Muon(matrices), AdamW(the_rest))",
                )
        self.velocity = self._zeros()

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        rate, options = self._rate_for(value, index), self.options(index)
        velocity, momentum = self.velocity[index], options.momentum
        velocity.assign(velocity * momentum + gradient * (1.0 - momentum))
        step: Tensor = velocity
        if options.nesterov:
            step = gradient * (1.0 - momentum) + velocity * momentum
        matrix = step.reshape(step.shape[0], -1)
        rows, columns = matrix.shape
        change = orthogonalised(matrix, options.ns_steps, options.ns_coefficients, options.eps)
        factor = max(1.0, rows / columns) ** 0.5
        if options.adjust_lr_fn == "match_rms_adamw":
            factor = 0.2 * max(rows, columns) ** 0.5
        change = change.reshape(value.shape) * factor
        return (change + value * options.weight_decay) * rate, [velocity]
