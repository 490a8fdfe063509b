"""Weight normalisation: direction and length of the rows of a weight as parameters.

Source: T. Salimans and D. Kingma, "Weight normalization" (2016).
"""

from __future__ import annotations

from typing import Any, TypeVar

from weft.base.errors import ArgumentError
from weft.nn.module import Module
from weft.nn.parameter import Parameter, parameter
from weft.nn.utils.computed_attributes import compute_attribute, is_computed, restore_attribute
from weft.tensor import Tensor

Layer = TypeVar("Layer", bound=Module)


def norm_except(weight: Tensor, dim: int | None) -> Tensor:
    """The norms of the parts of a weight along an axis, as a tensor that broadcasts; of the whole
    weight for None or -1."""
    if dim is None or dim == -1:
        return weight.square().sum().sqrt()
    axes = tuple(axis for axis in range(weight.ndim) if axis != dim % weight.ndim)
    return weight.square().sum(axes, keepdim=True).sqrt()


def weight_norm(module: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Let a weight be weight_g * weight_v / |weight_v|, both parameters; gives the module.

    dim: the axis along which each part has a norm; None: one norm of all.
    `nn.utils.parametrizations.weight_norm` does the same with other names.

    >>> layer = nn.utils.weight_norm(nn.Linear(3, 2))
    >>> list(layer.state_dict()), layer.weight_g.shape
    (['bias', 'weight_g', 'weight_v'], (2, 1))
    """
    weight = vars(module).get(name)
    if not isinstance(weight, Parameter):
        raise ArgumentError(
            "there is no such parameter",
            asked=f"weight_norm of {type(module).__name__}.{name}",
            because="it is normalised already" if is_computed(module, name) else None,
        )
    value = weight.detach()
    del vars(module)[name]
    setattr(module, f"{name}_g", parameter(norm_except(value, dim).contiguous().realize()))
    setattr(module, f"{name}_v", parameter(value.clone().realize()))

    def get(owner: Any) -> Tensor:
        length, direction = getattr(owner, f"{name}_g"), getattr(owner, f"{name}_v")
        return direction * (length / norm_except(direction, dim))  # type: ignore[no-any-return]

    compute_attribute(module, name, get)
    return module


def remove_weight_norm(module: Layer, name: str = "weight") -> Layer:
    """Let a weight be one parameter again, with the value that it has; gives the module.

    :raises ArgumentError: where `weight_norm` has not been called.
    """
    if not is_computed(module, name) or f"{name}_g" not in vars(module):
        raise ArgumentError(
            "this weight is not normalised",
            asked=f"remove_weight_norm of {type(module).__name__}.{name}",
        )
    value = getattr(module, name).detach().clone().realize()
    restore_attribute(module, name)
    delattr(module, f"{name}_g")
    delattr(module, f"{name}_v")
    setattr(module, name, parameter(value))
    return module
