"""Linear maps, dropout, embedding, distances and attention as functions."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import real
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.nn.embedding import look_up
from weft.nn.functional.dimensions import over_axes
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor
from weft.tensor.autocast import low_bias

__all__ = [
    "alpha_dropout", "bilinear", "cosine_similarity", "dropout", "dropout1d", "dropout2d",
    "dropout3d", "embedding", "feature_alpha_dropout", "linear", "one_hot", "pairwise_distance",
    "pdist", "scaled_dot_product_attention",
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


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Row i of weight (rows, features) for every integer i of input; no gradient reaches the row
    `padding_idx`. See `nn.Embedding` for the options.

    :raises DTypeError: for an input that has no integers.

    >>> nn.functional.embedding(Tensor([1]), Tensor([[1.0], [2.0]])).tolist()
    [[2.0]]
    """
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    indices = tensor_of(input, "embedding")
    return look_up(indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the place of each class, and 0 elsewhere: (..., num_classes).

    >>> nn.functional.one_hot(Tensor([0, 2]), 3).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    return tensor_of(tensor, "one_hot").one_hot(num_classes)


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
    return _alpha_dropped(tensor_of(input, "alpha_dropout"), p, training, None)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels of (batch, channels, ...).

    >>> nn.functional.feature_alpha_dropout(Tensor.ones(1, 2, 3), 0.5).tolist()
    [[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]
    """
    return _alpha_dropped(tensor_of(input, "feature_alpha_dropout"), p, training, 2)


def _alpha_dropped(x: Tensor, p: float, training: bool, axes: int | None) -> Tensor:
    """Dropout that keeps mean and variance, drawn once for the axes behind the first `axes`."""
    if not training or not p:
        return x
    if p == 1:
        return x * 0
    saturated = -1.7580993408473766
    shape = tuple(x.shape) if axes is None else (*x.shape[:axes], *(1,) * (x.ndim - axes))
    draws = Tensor.rand(*shape, device=x.device, dtype=dtypes.float32, requires_grad=False)
    kept = draws >= real(p, "p")
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


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of all pairs of rows (rows, features): row 0 with 1, 2, ...,
    then row 1 with 2, ...

    >>> nn.functional.pdist(Tensor([[0.0], [1.0], [3.0]])).tolist()
    [1.0, 3.0, 2.0]
    """
    x = tensor_of(input, "pdist")
    if x.ndim != 2:
        raise ShapeError("pdist takes rows", asked=f"pdist of {x.shape}", try_="x.cdist(y)")
    count = x.shape[0]
    first, second = Tensor.triu_indices(count, count, 1, device=x.device)
    return (x[first] - x[second]).norm(p, -1)


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
