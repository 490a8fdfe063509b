"""Normalization over the batch, an instance, groups, the last axes, or neighbouring channels.

Statistics are computed in float32, or float64 for float64 inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import dtypes
from weft.base.promotion import least_upper_dtype, sum_acc_dtype
from weft.nn.functional.normalization import over_neighbours
from weft.onnx.graph import ELEMENT_TYPES, Node
from weft.onnx.registry import operator
from weft.tensor import Tensor


@operator("BatchNormalization")
def batch_normalization(
    node: Node, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, *,
    epsilon: float = 1e-5, momentum: float = 0.9, spatial: int = 1, is_test: int = 0,
    consumed_inputs: Any = None,
) -> Tensor | tuple[Tensor, ...]:  # fmt: skip
    """Batch normalization. A node with several outputs is in training mode.

    It then gives the running statistics, and the batch's own ones.

    :param spatial: 0: the statistics belong to each element instead of each channel.
    """
    if is_test or not any(node.outputs[1:]):
        return _batch_normalized(x, scale, bias, mean, var, epsilon, bool(spatial))
    y, running, own = _batch_training(x, scale, bias, mean, var, epsilon, momentum, bool(spatial))
    return (y, *running, *own)


@operator("BatchNormalization", since=14)
def batch_normalization_14(
    node: Node, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, *,
    epsilon: float = 1e-5, momentum: float = 0.9, training_mode: int = 0,
) -> Tensor | tuple[Tensor, ...]:  # fmt: skip
    """Batch normalization; in training mode also the running mean and variance."""
    if not training_mode:
        return _batch_normalized(x, scale, bias, mean, var, epsilon, True)
    y, running, _ = _batch_training(x, scale, bias, mean, var, epsilon, momentum, True)
    return (y, *running)


@operator("InstanceNormalization")
def instance_normalization(
    node: Node, x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5,
    consumed_inputs: Any = None,
) -> Tensor:  # fmt: skip
    """Each channel of each sample over its spatial axes."""
    y = _standardized(_wide(x), tuple(range(2, x.ndim)), epsilon)[0]
    return (y * _channels(scale, x.ndim) + _channels(bias, x.ndim)).cast(x.dtype)


@operator("LayerNormalization", since=17)
def layer_normalization(
    node: Node, x: Tensor, scale: Tensor, bias: Tensor | None = None, *, axis: int = -1,
    epsilon: float = 1e-5, stash_type: int = 1,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Over all axes from `axis` on; also the mean and the inverse standard deviation.

    :param stash_type: element type of the statistics.
    """
    stash = _stash(node, stash_type)
    wide = x.cast(least_upper_dtype(stash, x.dtype))
    y, mean, inverse = _standardized(wide, _last_axes(node, x, axis), epsilon)
    y = y.cast(x.dtype) * scale
    y = y if bias is None else y + bias
    return y.cast(x.dtype), mean.cast(stash), inverse.cast(stash)


@operator("RMSNormalization", since=23)
def rms_normalization(
    node: Node, x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:  # fmt: skip
    """x over its root mean square, over all axes from `axis` on, in the dtype of `scale`."""
    wide = x.cast(least_upper_dtype(_stash(node, stash_type), x.dtype))
    mean = wide.square().mean(_last_axes(node, x, axis), keepdim=True)
    y = wide * (mean + epsilon).rsqrt()
    return y.cast(x.dtype).cast(scale.dtype) * scale


@operator("GroupNormalization", since=18)
def group_normalization_18(
    node: Node, x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Groups of channels of each sample; scale and bias have one element a group."""
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise _no_groups(node, x, num_groups)
    each = x.shape[1] // num_groups
    scale, bias = scale.repeat_interleave(each, 0), bias.repeat_interleave(each, 0)
    return group_normalization(node, x, scale, bias, num_groups=num_groups, epsilon=epsilon)


@operator("GroupNormalization", since=21)
def group_normalization(
    node: Node, x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:  # fmt: skip
    """Groups of channels of each sample; scale and bias have one element a channel."""
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise _no_groups(node, x, num_groups)
    wide = x.cast(least_upper_dtype(_stash(node, stash_type), x.dtype))
    y = _standardized(wide.reshape(x.shape[0], num_groups, -1), (2,), epsilon)[0]
    y = y.reshape(*x.shape).cast(x.dtype)
    return (y * _channels(scale, x.ndim) + _channels(bias, x.ndim)).cast(x.dtype)


@operator("LRN")
def local_response_normalization(
    node: Node, x: Tensor, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Tensor:
    """x over a power of the sum of squares of `size` neighbouring channels.

    Source: A. Krizhevsky and others, "ImageNet classification with deep convolutional neural
    networks" (2012).
    """
    if x.ndim < 2 or size < 1:
        raise node.refuse(
            f"the shape is {x.shape} and size {size}", "an input (N, C, ...), a size of at least 1"
        )
    return over_neighbours(x, size, (size - 1) // 2, alpha, beta, bias)


@operator("LpNormalization")
def lp_normalization(node: Node, x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    """x over its p-norm along an axis; zeros stay zeros."""
    if p not in (1, 2):
        raise node.refuse(f"p is {p}", "p = 1 or p = 2")
    wide = _wide(x)
    if p == 1:
        norm = wide.abs().sum(axis, keepdim=True)
    else:
        norm = wide.square().sum(axis, keepdim=True).sqrt()
    return (norm == 0).where(0, wide / norm).cast(x.dtype)


@operator("MeanVarianceNormalization", since=9)
def mean_variance_normalization(
    node: Node, x: Tensor, *, axes: Sequence[int] = (0, 2, 3)
) -> Tensor:
    """(x - mean) / (standard deviation + 1e-9) over `axes`."""
    wide = _wide(x)
    centred = wide - wide.mean(tuple(axes), keepdim=True)
    deviation = centred.square().mean(tuple(axes), keepdim=True).sqrt()
    return (centred / (deviation + 1e-9)).cast(x.dtype)


def _wide(x: Tensor) -> Tensor:
    return x.cast(sum_acc_dtype(x.dtype))


def _standardized(x: Tensor, axes: tuple[int, ...], epsilon: float) -> tuple[Tensor, ...]:
    """(x - mean) / sqrt(variance + epsilon), the mean, and 1 / sqrt(variance + epsilon)."""
    mean = x.mean(axes, keepdim=True)
    centred = x - mean
    inverse = (centred.square().mean(axes, keepdim=True) + epsilon).rsqrt()
    return centred * inverse, mean, inverse


def _channels(x: Tensor, rank: int) -> Tensor:
    return x.reshape(1, -1, *(1,) * (rank - 2)) if rank > 1 else x


def _batch_normalized(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, epsilon: float, spatial: bool
) -> Tensor:
    wide = _wide(x)

    def per_channel(each: Tensor) -> Tensor:
        each = each.cast(wide.dtype)
        return _channels(each, x.ndim) if spatial else each

    factor = per_channel(scale) * (per_channel(var) + epsilon).rsqrt()
    return ((wide - per_channel(mean)) * factor + per_channel(bias)).cast(x.dtype)


def _batch_training(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, epsilon: float,
    momentum: float, spatial: bool,
) -> tuple[Tensor, tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:  # fmt: skip
    """The result, the running statistics, and the statistics of the batch."""
    axes = tuple(i for i in range(x.ndim) if i != 1) if spatial else (0,)
    wide = _wide(x)
    centre = wide.mean(axes, keepdim=True)
    spread = (wide - centre).square().mean(axes, keepdim=True)
    own = centre.reshape(*mean.shape), spread.reshape(*var.shape)
    y = _batch_normalized(x, scale, bias, *own, epsilon, spatial)
    running = tuple(
        (old * momentum + new * (1 - momentum)).cast(old.dtype)
        for old, new in zip((mean, var), own, strict=True)
    )
    return y, (running[0], running[1]), (own[0].cast(mean.dtype), own[1].cast(var.dtype))


def _stash(node: Node, stash_type: int) -> Any:
    name = ELEMENT_TYPES.get(stash_type, "")
    if name not in ("float32", "float64", "float16", "bfloat16"):
        raise node.refuse(f"stash_type is {stash_type}", "the number of a float type, 1 or 16")
    return getattr(dtypes, name)


def _last_axes(node: Node, x: Tensor, axis: int) -> tuple[int, ...]:
    if not -x.ndim <= axis < x.ndim:
        raise node.refuse(
            f"axis is {axis}, and the input has the shape {x.shape}",
            f"an axis from {-x.ndim} to {x.ndim - 1}",
        )
    return tuple(range(axis % x.ndim, x.ndim))


def _no_groups(node: Node, x: Tensor, num_groups: int) -> Exception:
    return node.refuse(
        f"num_groups is {num_groups}, and the input has the shape {x.shape}",
        "an input (N, C, ...) whose channels are divided by num_groups",
    )
