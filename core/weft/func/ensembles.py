"""Ensembles: the parameters of several equal models as one set of stacked tensors.

Source: PyTorch, `torch.func.stack_module_state`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import kind_of
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor import Tensor


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters, and the buffers, of equal models: each tensor with a new first axis.

    The tensors are copies; the parameters require gradients.

    :raises ArgumentError: without models, for other objects, and for models of other structure.
    :raises ShapeError: for parameters of different shapes.

    >>> models = [nn.Linear(2, 3) for _ in range(4)]
    >>> parameters, buffers = weft.func.stack_module_state(models)
    >>> parameters["weight"].shape, buffers
    ((4, 3, 2), {})
    """
    if not models or not all(hasattr(each, "named_parameters") for each in models):
        raise ArgumentError(
            "an ensemble is a list of equal modules",
            asked=f"stack_module_state of {len(models)} models",
            because="there is none" if not models else f"one is {kind_of(models[0])}",
        )
    parameters = _stacked([dict(each.named_parameters()) for each in models])
    for each in parameters.values():
        each.requires_grad_()
    return parameters, _stacked([dict(each.named_buffers()) for each in models])


def _stacked(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    first = states[0]
    for number, state in enumerate(states):
        if state.keys() != first.keys():
            raise ArgumentError(
                "the models of an ensemble have the same parameters",
                asked=f"stack_module_state: model 0 has {sorted(first)}, model {number} "
                f"{sorted(state)}",
            )
        for name, each in state.items():
            if each.shape != first[name].shape:
                raise ShapeError(
                    "the parameters of an ensemble have the same shapes",
                    asked=f"stack_module_state: {name} has shape {first[name].shape} in model 0, "
                    f"{each.shape} in model {number}",
                )
    return {
        name: each.detach().stack(*[state[name].detach() for state in states[1:]]).clone()
        for name, each in first.items()
    }
