"""Normalization over layers, groups and batches, and gradients of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import dtypes
from weft.tensor import Tensor
from weft.torch.operators.derivatives import gradients
from weft.torch.registry import converter
from weft.uop.symbolic.sint import smax, sprod

Optional = Tensor | None


def _wide(x: Tensor) -> Tensor:
    """Return x in the dtype of its statistics."""
    return x.cast(dtypes.float32) if x.dtype.itemsize < 4 else x


def _statistics(x: Tensor, axes: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor]:
    """Return the mean and the reciprocal of the standard deviation, with axes of size one."""
    mean = x.mean(axes, keepdim=True)
    variance = (x - mean).square().mean(axes, keepdim=True)
    return mean, (variance + eps).rsqrt()


@converter("aten::native_layer_norm")
def layer_norm(
    x: Tensor, normalized_shape: Sequence[int], weight: Optional, bias: Optional, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize the last axes: result, mean, reciprocal of the standard deviation."""
    wide = _wide(x)
    mean, rstd = _statistics(wide, tuple(range(-len(normalized_shape), 0)), eps)
    y = (wide - mean) * rstd
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias), mean, rstd


@converter("aten::native_layer_norm_backward")
def layer_norm_backward(
    grad: Tensor, x: Tensor, normalized_shape: Sequence[int], mean: Tensor, rstd: Tensor,
    weight: Optional, bias: Optional, output_mask: Sequence[bool],
) -> tuple[Optional, Optional, Optional]:  # fmt: skip
    """Return the gradients of input, weight and bias."""
    axes = tuple(range(-len(normalized_shape), 0))
    outer = tuple(range(x.ndim - len(axes)))
    grad, normal = _wide(grad), (_wide(x) - mean) * rstd
    of_x = of_weight = of_bias = None
    if output_mask[0]:
        scaled = grad if weight is None else grad * weight
        offset = scaled.mean(axes, keepdim=True)
        share = (scaled * normal).mean(axes, keepdim=True)
        of_x = (scaled - offset - normal * share) * rstd
    if output_mask[1]:
        of_weight = (grad * normal).sum(outer) if outer else grad * normal
    if output_mask[2]:
        of_bias = grad.sum(outer) if outer else grad
    return of_x, of_weight, of_bias


@converter("aten::native_group_norm")
def group_norm(
    x: Tensor, weight: Optional, bias: Optional, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize groups of channels: result, mean, reciprocal of the standard deviation."""
    grouped = _wide(x).reshape(N, group, C // group * HxW)
    mean, rstd = _statistics(grouped, (-1,), eps)
    y = ((grouped - mean) * rstd).reshape(tuple(x.shape))
    y = _affine(y, weight, bias)
    return y, mean.reshape(N, group), rstd.reshape(N, group)


def _affine(y: Tensor, weight: Optional, bias: Optional) -> Tensor:
    """Return y times weight plus bias, which are along axis 1."""
    for factor, method in ((weight, "mul"), (bias, "add")):
        if factor is not None:
            y = getattr(y, method)(_channels(factor, y))
    return y


def _channels(factor: Tensor, like: Tensor) -> Tensor:
    return factor.reshape(1, factor.shape[0], *(1,) * (like.ndim - 2))


@converter("aten::native_group_norm_backward")
def group_norm_backward(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Optional, N: int, C: int,
    HxW: int, group: int, output_mask: Sequence[bool],
) -> tuple[Optional, Optional, Optional]:  # fmt: skip
    """Return the gradients of input, weight and bias."""
    shape = (N, group, C // group, HxW)
    grad = _wide(grad).reshape(shape)
    scale = rstd.reshape(N, group, 1, 1)
    normal = (_wide(x).reshape(shape) - mean.reshape(N, group, 1, 1)) * scale
    of_x = of_weight = of_bias = None
    if output_mask[0]:
        scaled = grad if weight is None else grad * weight.reshape(1, group, C // group, 1)
        offset = scaled.mean((2, 3), keepdim=True)
        share = (scaled * normal).mean((2, 3), keepdim=True)
        of_x = ((scaled - offset - normal * share) * scale).reshape(tuple(x.shape))
    if output_mask[1]:
        of_weight = (grad * normal).sum((0, 3)).reshape(C)
    if output_mask[2]:
        of_bias = grad.sum((0, 3)).reshape(C)
    return of_x, of_weight, of_bias


@converter("aten::_native_batch_norm_legit_no_training")
def batch_norm_inference(
    x: Tensor, weight: Optional, bias: Optional, running_mean: Tensor, running_var: Tensor,
    momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Normalize by the stored statistics. There are no statistics of the batch: two empty ones."""
    scale = (running_var + eps).rsqrt()
    scale = scale if weight is None else scale * weight
    offset = -running_mean * scale
    offset = offset if bias is None else offset + bias
    y = _wide(x) * _channels(scale, x) + _channels(offset, x)
    none = Tensor.zeros(0, dtype=running_mean.dtype, device=x.device)
    return y, none, none


@converter("aten::_native_batch_norm_legit.no_stats")
def batch_norm_without_state(
    x: Tensor, weight: Optional, bias: Optional, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize by the statistics of the batch: result, mean, reciprocal of the deviation."""
    wide = _wide(x)
    mean, rstd = _statistics(wide, (0, *range(2, x.ndim)), eps)
    y = _affine((wide - mean) * rstd, weight, bias)
    return y, mean.reshape(-1), rstd.reshape(-1)


@converter("aten::_native_batch_norm_legit_functional")
def batch_norm_functional(
    x: Tensor, weight: Optional, bias: Optional, running_mean: Tensor, running_var: Tensor,
    training: bool, momentum: float, eps: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Normalize, and return the new running mean and variance after the results."""
    if not training:
        results = batch_norm_inference(x, weight, bias, running_mean, running_var, momentum, eps)
        return (*results, running_mean, running_var)
    y, mean, rstd = batch_norm_without_state(x, weight, bias, training, momentum, eps)
    axes = (0, *range(2, x.ndim))
    count = sprod(x.shape[axis] for axis in axes)
    variance = (_wide(x) - _channels(mean, x)).square().sum(axes) / smax(count - 1, 1)
    new_mean = running_mean * (1 - momentum) + mean * momentum
    new_var = running_var * (1 - momentum) + variance * momentum
    return y, mean, rstd, new_mean, new_var


@converter("aten::_native_batch_norm_legit")
def batch_norm(
    x: Tensor, weight: Optional, bias: Optional, running_mean: Tensor, running_var: Tensor,
    training: bool, momentum: float, eps: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Normalize, and write the running statistics."""
    *results, new_mean, new_var = batch_norm_functional(
        x, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if training:
        running_mean.assign(new_mean.cast(running_mean.dtype))
        running_var.assign(new_var.cast(running_var.dtype))
    return tuple(results)


@converter("aten::_fused_rms_norm")
def rms_norm(
    x: Tensor, normalized_shape: Sequence[int], weight: Optional, eps: float | None
) -> tuple[Any, ...]:
    """Divide by the root of the mean square of the last axes: result, reciprocal of the root."""
    wide = _wide(x)
    smallest = 2.0**-52 if x.dtype is dtypes.float64 else 2.0**-23
    square = wide.square().mean(tuple(range(-len(normalized_shape), 0)), keepdim=True)
    scale = (square + (smallest if eps is None else eps)).rsqrt()
    return (wide * scale if weight is None else wide * scale * weight), scale


# ---- weights ----------------------------------------------------------------------------------


@converter("aten::_weight_norm_interface")
def weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Tensor, Tensor]:
    """Return a weight of given norms in the direction of v, and the norms of v.

    :param dim: the axis of v that is not summed over.

    Source: T. Salimans, D. P. Kingma, "Weight normalization" (2016).
    """
    axes = tuple(axis for axis in range(v.ndim) if axis != dim % v.ndim)
    norms = _wide(v).square().sum(axes, keepdim=True).sqrt()
    return v * (g / norms), norms


@converter("aten::_weight_norm_interface_backward")
def weight_norm_backward(
    grad: Tensor, v: Tensor, g: Tensor, norms: Tensor, dim: int
) -> tuple[Tensor, ...]:
    """Return the gradients of the direction and of the norms of a weight."""
    return tuple(gradients(lambda v, g: weight_norm(v, g, dim)[0], (v, g), grad))
