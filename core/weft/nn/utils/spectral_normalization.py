"""Spectral normalisation: a weight over its largest singular value.

Source: T. Miyato and others, "Spectral normalization for generative adversarial networks" (2018).
The value is estimated by the power method, one step for each reading in training.
"""

from __future__ import annotations

from typing import Any, TypeVar

from weft.base.arguments import whole
from weft.base.errors import ArgumentError
from weft.nn.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from weft.nn.module import Module
from weft.nn.parameter import Buffer, Parameter
from weft.nn.utils.computed_attributes import compute_attribute, is_computed, restore_attribute
from weft.tensor import Tensor

Layer = TypeVar("Layer", bound=Module)
_FIRST_STEPS = 15
_OPTIONS = "_spectral_options"


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight as (size of the axis `dim`, the rest)."""
    axes = [dim, *(axis for axis in range(weight.ndim) if axis != dim)]
    return weight.permute(*axes).flatten(1)


def scaled_to_one(vector: Tensor, eps: float) -> Tensor:
    """A vector over its norm, which is at least eps."""
    return vector / vector.square().sum().sqrt().maximum(eps)


def first_vectors(matrix: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Estimates of the first left and right singular vector, of drawn vectors."""
    where: dict[str, Any] = {"dtype": matrix.dtype, "device": matrix.device}
    rows, columns = matrix.shape
    u, v = (scaled_to_one(Tensor.randn(size, **where), eps) for size in (rows, columns))
    return power_steps(matrix, u, v, _FIRST_STEPS, eps)


def power_steps(
    matrix: Tensor, u: Tensor, v: Tensor, steps: int, eps: float, from_u: bool = False
) -> tuple[Tensor, Tensor]:
    """Steps of the power method from an estimate of one of the singular vectors."""
    if from_u:
        v, u = power_steps(matrix.transpose(0, 1), v, u, steps, eps)
        return u, v
    for _ in range(steps):
        u = scaled_to_one(matrix @ v, eps).contiguous()
        v = scaled_to_one(matrix.transpose(0, 1) @ u, eps).contiguous()
    return u, v


def usual_axis(module: Any) -> int:
    """The axis of the outputs in the weight of a layer."""
    return int(isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d))


def normalised(
    weight: Tensor, u: Tensor, v: Tensor, dim: int, steps: int, eps: float, from_u: bool = False
) -> Tensor:
    """weight / (u^T weight v), after some steps of the power method, which are kept in u and v."""
    matrix = as_matrix(weight, dim)
    if steps:
        new = power_steps(matrix.detach(), u.detach(), v.detach(), steps, eps, from_u)
        for estimate, value in zip((u, v), new, strict=True):
            estimate.assign(value)
    left, right = u.detach(), v.detach()
    return weight / (left * (matrix @ right)).sum()


def spectral_norm(
    module: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Layer:  # fmt: skip
    """Let a weight be weight_orig over its largest singular value; gives the module.

    The estimates of the singular vectors, weight_u and weight_v, are buffers. dim: the axis of the
    rows. `nn.utils.parametrizations.spectral_norm` does the same with other names.

    >>> layer = nn.utils.spectral_norm(nn.Linear(3, 2))
    >>> list(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    weight = vars(module).get(name)
    steps = whole(n_power_iterations, "n_power_iterations", least=1)
    if not isinstance(weight, Parameter):
        raise ArgumentError(
            "there is no such parameter",
            asked=f"spectral_norm of {type(module).__name__}.{name}",
            because="it is normalised already" if is_computed(module, name) else None,
        )
    axis = usual_axis(module) if dim is None else dim
    u, v = first_vectors(as_matrix(weight.detach(), axis), eps)
    Tensor.realize(u, v)
    del vars(module)[name]
    setattr(module, f"{name}_orig", weight)
    setattr(module, f"{name}_u", Buffer(u))
    setattr(module, f"{name}_v", Buffer(v))

    options = vars(module).setdefault(_OPTIONS, {})
    options[name] = (axis, steps, eps)
    compute_attribute(module, name, lambda owner: _computed(owner, name, owner.training))
    return module


def _computed(module: Any, name: str, training: bool) -> Tensor:
    weight, u, v = (getattr(module, f"{name}_{part}") for part in ("orig", "u", "v"))
    axis, steps, eps = vars(module)[_OPTIONS][name]
    return normalised(weight, u, v, axis, steps if training else 0, eps, from_u=True)


def remove_spectral_norm(module: Layer, name: str = "weight") -> Layer:
    """Let a weight be one parameter again, with the value that it has; gives the module.

    :raises ArgumentError: where `spectral_norm` has not been called.
    """
    if not is_computed(module, name) or f"{name}_orig" not in vars(module):
        raise ArgumentError(
            "this weight is not normalised",
            asked=f"remove_spectral_norm of {type(module).__name__}.{name}",
        )
    value = _computed(module, name, False).detach().clone().realize()
    restore_attribute(module, name)
    original = getattr(module, f"{name}_orig")
    for part in ("orig", "u", "v"):
        delattr(module, f"{name}_{part}")
    del vars(module)[_OPTIONS][name]
    original.replace(value)
    setattr(module, name, original)
    return module
