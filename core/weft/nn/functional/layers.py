"""Linear maps, normalisation, dropout, embedding and attention as functions."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.embedding import look_up
from weft.nn.functional.dimensions import over_axes
from weft.nn.input_checks import tensor_of
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
from weft.tensor.autocast import low_bias

__all__ = [
    "alpha_dropout", "batch_norm", "bilinear", "cosine_similarity", "dropout", "dropout1d",
    "dropout2d", "dropout3d", "embedding", "group_norm", "instance_norm", "layer_norm", "linear",
    "normalize", "one_hot", "pairwise_distance", "rms_norm", "scaled_dot_product_attention",
]  # fmt: skip


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, for weight (out_features, in_features).

    `Tensor.linear` takes the weight as (in_features, out_features).

    >>> nn.functional.linear(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), Tensor([5.0])).tolist()
    [[16.0]]
    """
    x, weight = tensor_of(input, "linear"), tensor_of(weight, "linear", "weight")
    y = x @ (weight.transpose(0, 1) if weight.ndim > 1 else weight)
    return y if bias is None else y + low_bias(bias, y)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[k] @ input2 for each output k: weight (out, in1, in2)."""
    x, other = tensor_of(input1, "bilinear"), tensor_of(input2, "bilinear", "second input")
    product = Tensor.einsum("...i,oij,...j->...o", x, weight, other)
    return product if bias is None else product + low_bias(bias, product)


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Row i of weight (rows, features) for every integer i of input; no gradient reaches the row
    `padding_idx`. :raises DTypeError: for an input that has no integers.

    >>> nn.functional.embedding(Tensor([1]), Tensor([[1.0], [2.0]])).tolist()
    [[2.0]]
    """
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    return look_up(tensor_of(input, "embedding"), weight, padding_idx)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the place of each class, and 0 elsewhere: (..., num_classes).

    >>> nn.functional.one_hot(Tensor([0, 2]), 3).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    return tensor_of(tensor, "one_hot").one_hot(num_classes)


# ---- normalisation -------------------------------------------------------------------------------


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
    """Per sample and channel over the spatial axes (Ulyanov, Vedaldi and Lempitsky, 2016)."""
    x = tensor_of(input, "instance_norm")
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    if running_mean is not None:
        raise ArgumentError(
            "running statistics are updated by the layer",
            asked="instance_norm(running_mean=..., use_input_stats=True)",
            try_="nn.InstanceNorm2d(features, track_running_stats=True)",
        )
    y = normalised(widened(x), tuple(range(2, x.ndim)), eps)
    return scaled(y, weight, bias, x.dtype, along_channels(x.ndim))


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


# ---- dropout -------------------------------------------------------------------------------------


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """If `training`, each element is 0 with probability p, else scaled by 1 / (1 - p).

    Srivastava et al., 2014. As in PyTorch the mode of a module has no effect: give
    training=self.training.

    >>> nn.functional.dropout(Tensor([1.0, 2.0]), 0.5, training=False).tolist()
    [1.0, 2.0]
    """
    x = tensor_of(input, "dropout")
    if not training:
        return x
    with Tensor.train():
        return x.dropout(p)


def _dropoutnd(
    axes: int, /, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """`dropout` of whole channels of (batch, channels, {sizes})."""
    x = tensor_of(input, f"dropout{axes}d")
    if not training or not p:
        return x
    lead = x.shape[: max(x.ndim - axes, 0)]
    kept = Tensor.ones(*lead, dtype=x.dtype, device=x.device)
    return x * dropout(kept, p).reshape(*lead, *(1,) * (x.ndim - len(lead)))


dropout1d, dropout2d, dropout3d = over_axes(_dropoutnd)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean and variance of SELU's outputs (Klambauer et al., 2017)."""
    x = tensor_of(input, "alpha_dropout")
    if not training or not p:
        return x
    saturated = -1.7580993408473766
    kept = x.rand_like(requires_grad=False, dtype=dtypes.float32) >= real(p, "p")
    scale = ((1 - p) * (1 + p * saturated**2)) ** -0.5
    return kept.contiguous().where(x, saturated) * scale - scale * p * saturated


# ---- distances and attention ---------------------------------------------------------------------


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between x1 and x2 along an axis."""
    return tensor_of(x1, "cosine_similarity").cosine_similarity(x2, dim, eps)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis."""
    return tensor_of(x1, "pairwise_distance").pairwise_distance(x2, p, eps, keepdim)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value over the last two axes (Vaswani et al., 2017).

    scale: None is 1 / sqrt(features). A boolean mask is True where a query may attend; a mask of
    numbers is added. As in PyTorch, dropout_p applies in every mode: pass 0 in inference.

    >>> x = Tensor.ones(1, 2, 3, 4)
    >>> nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).shape
    (1, 2, 3, 4)
    """
    query = tensor_of(query, "scaled_dot_product_attention", "query")
    if scale is not None:
        query = query * (real(scale, "scale") * query.shape[-1] ** 0.5)
    more: tuple[Any, ...] = (key, value, attn_mask, dropout_p, is_causal, enable_gqa)
    if not dropout_p:
        return query.scaled_dot_product_attention(*more)
    with Tensor.train():
        return query.scaled_dot_product_attention(*more)
