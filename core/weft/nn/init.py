"""How the first weights of a module are drawn.

Every function gives a lazy Tensor of the asked shape; nothing is computed until somebody reads it.
Fans: weights are laid out (outputs, inputs, *kernel), so that fan-in is all but the first axis.
"""

from __future__ import annotations

import math

from weft.base.dtype import DType
from weft.base.errors import ArgumentError
from weft.base.sequences import prod
from weft.tensor import Tensor


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """(fan-in, fan-out) of a weight of layout (outputs, inputs, *kernel).

    >>> nn.init.fans((8, 3, 5, 5))
    (75, 200)
    """
    if len(shape) < 2:
        raise ArgumentError(
            "a weight needs an axis of outputs and one of inputs",
            asked=f"the fans of shape {shape}",
            because=f"it has {len(shape)} axes",
            try_="give a shape (outputs, inputs, *kernel)",
        )
    field = prod(shape[2:])
    return shape[1] * field, shape[0] * field


def uniform(
    *shape: int, bound: float, device: str | None = None, dtype: DType | None = None
) -> Tensor:
    """Uniform on [-bound, bound).

    >>> nn.init.uniform(2, 3, bound=0.5).abs().max().item() <= 0.5
    True
    """
    return Tensor.uniform(*shape, low=-bound, high=bound, device=device, dtype=dtype)


def fan_in_uniform(
    *shape: int, fan_in: int, device: str | None = None, dtype: DType | None = None
) -> Tensor:
    """Uniform on +-1/sqrt(fan_in): the outputs of a linear layer start with bounded variance.

    >>> nn.init.fan_in_uniform(2, 3, fan_in=4).abs().max().item() <= 0.5
    True
    """
    return uniform(*shape, bound=1.0 / math.sqrt(max(fan_in, 1)), device=device, dtype=dtype)


def glorot_uniform(*shape: int, device: str | None = None, dtype: DType | None = None) -> Tensor:
    """Uniform with variance 2 / (fan-in + fan-out) (Glorot and Bengio, 2010).

    >>> nn.init.glorot_uniform(2, 4).abs().max().item() <= 1
    True
    """
    bound = math.sqrt(6.0 / max(sum(fans(shape)), 1))
    return uniform(*shape, bound=bound, device=device, dtype=dtype)


def kaiming_uniform(
    *shape: int,
    negative_slope: float = 0.0,
    device: str | None = None,
    dtype: DType | None = None,
) -> Tensor:
    """Uniform with variance gain^2 / fan-in for (leaky) ReLU networks (He et al., 2015).

    >>> nn.init.kaiming_uniform(2, 6).abs().max().item() <= 1
    True
    """
    bound = math.sqrt(3.0) * _kaiming_deviation(shape, negative_slope)
    return uniform(*shape, bound=bound, device=device, dtype=dtype)


def kaiming_normal(
    *shape: int,
    negative_slope: float = 0.0,
    device: str | None = None,
    dtype: DType | None = None,
) -> Tensor:
    """Normal with variance gain^2 / fan-in for (leaky) ReLU networks (He et al., 2015).

    >>> nn.init.kaiming_normal(8, 3, 3, 3).shape
    (8, 3, 3, 3)
    """
    deviation = _kaiming_deviation(shape, negative_slope)
    return Tensor.normal(*shape, mean=0.0, std=deviation, device=device, dtype=dtype)


def _kaiming_deviation(shape: tuple[int, ...], negative_slope: float) -> float:
    fan_in, _ = fans(shape)
    return math.sqrt(2.0 / (1.0 + negative_slope**2) / max(fan_in, 1))
