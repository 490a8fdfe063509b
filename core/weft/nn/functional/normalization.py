"""Normalisation as functions, with PyTorch's names and order of arguments."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.base.promotion import least_upper_float
from weft.nn.input_checks import tensor_of
from weft.nn.instance_norm import by_instance
from weft.nn.norm import (
    along_channels,
    as_shape,
    by_batch,
    check_channels,
    last_axes,
    normalised,
    scaled,
    widened,
)
from weft.tensor import Tensor

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize",
    "rms_norm",
]  # fmt: skip


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Per channel (axis 1): by the batch's own statistics if `training`, and the running ones move
    towards them, else by the running ones (Ioffe and Szegedy, 2015)."""
    x = tensor_of(input, "batch_norm")
    if running_mean is not None:
        check_channels("batch", x, running_mean.shape[0])
    return by_batch(x, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Per sample and channel over the spatial axes (Ulyanov, Vedaldi and Lempitsky, 2016).

    The running statistics move towards those of the input, or replace them unless use_input_stats.
    """
    x = tensor_of(input, "instance_norm")
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    return by_instance(x, running_mean, running_var, weight, bias, momentum, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Over the last axes, which have the given shape (Ba, Kiros and Hinton, 2016).

    >>> nn.functional.layer_norm(Tensor([[1.0, 3.0]]), (2,)).tolist()
    [[-1.0, 1.0]]
    """
    x = tensor_of(input, "layer_norm")
    axes = last_axes("layer", x, as_shape(normalized_shape))
    return scaled(normalised(widened(x), axes, eps), weight, bias, x.dtype)


def rms_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """input / sqrt(mean(input^2) + eps) over the last axes (Zhang and Sennrich, 2019).

    eps: the machine epsilon of the input's dtype where it is None.
    """
    x = tensor_of(input, "rms_norm")
    axes = last_axes("root-mean-square", x, as_shape(normalized_shape))
    wide = widened(x)
    small = _epsilon(x) if eps is None else eps
    y = wide * (wide.square().mean(axes, keepdim=True) + small).rsqrt()
    return scaled(y, weight, None, x.dtype)


def _epsilon(x: Tensor) -> float:
    known = {dtypes.double: 2.0**-52, dtypes.half: 2.0**-10, dtypes.bfloat16: 2.0**-7}
    return known.get(x.dtype, 2.0**-23)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Per sample over groups of channels (Wu and He, 2018)."""
    x = tensor_of(input, "group_norm")
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ShapeError(
            "the groups do not divide the channels",
            asked=f"group_norm of {x.shape} in {shown(num_groups)} groups",
            because="axis 1 holds the channels, and each group has the same number of them",
        )
    grouped = widened(x).reshape(x.shape[0], num_groups, -1)
    y = normalised(grouped, (2,), eps).reshape(*x.shape)
    return scaled(y, weight, bias, x.dtype, along_channels(x.ndim))


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """input over its p-norm along an axis, which counts as eps at least."""
    return tensor_of(input, "normalize").normalize(p, dim, eps)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """input / (k + alpha * mean(input^2))^beta, the mean over `size` neighbouring channels, those
    that do not exist counting 0 (Krizhevsky, Sutskever and Hinton, 2012).

    >>> nn.functional.local_response_norm(Tensor([[[2.0]]]), 1, alpha=0.25, beta=1.0).tolist()
    [[[1.0]]]
    """
    x = tensor_of(input, "local_response_norm")
    if x.ndim < 3 or whole(size, "size") < 1:
        raise ShapeError(
            "there are channels and space, and a size of at least 1",
            asked=f"local_response_norm of {x.shape} with size={shown(size)}",
            because="the axes are (batch, channels, *space)",
        )
    return over_neighbours(x, size, size // 2, alpha, beta, k)


def over_neighbours(
    x: Tensor, size: int, before: int, alpha: float, beta: float, k: float
) -> Tensor:
    """x / (k + alpha * mean(x^2))^beta over `size` channels, of which so many are before it."""
    wide, channels = widened(x), x.shape[1]
    around = tuple((before, size - 1 - before) if i == 1 else None for i in range(x.ndim))
    squares = wide.square().pad(around)
    sums = squares[:, :channels]
    for shift in range(1, size):
        sums = sums + squares[:, shift : shift + channels]
    return (wide / (sums * (alpha / size) + k) ** beta).cast(least_upper_float(x.dtype))
