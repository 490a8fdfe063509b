"""Attention with several heads as a function of all its weights (Vaswani et al., 2017)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError
from weft.nn.functional.layers import linear
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["multi_head_attention_forward"]


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
    bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
    out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None,
    need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """(result, weights) of query, key and value (length, batch, features), or without the batch;
    the function behind `nn.MultiheadAttention`, whose arguments these are.

    weights: (batch, length, other length), with average_attn_weights=False (batch, heads, length,
    other length), None unless need_weights. bias_k, bias_v (1, 1, embed_dim): one more key and
    value. add_zero_attn: another one of zeros. static_k, static_v (batch * heads, other length,
    features of a head): projected keys and values. A boolean mask is True where a query may NOT
    attend. :raises ArgumentError: for a query of other features.

    >>> x, w = Tensor.ones(5, 1, 4), Tensor.ones(12, 4)
    >>> result, weights = nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, w, None, None, None, False, 0.0, Tensor.eye(4), None)
    >>> result.shape, weights.shape
    ((5, 1, 4), (1, 5, 5))
    """
    query = tensor_of(query, "multi_head_attention_forward", "query")
    if query.shape[-1] != embed_dim_to_check:
        raise ArgumentError(
            "the query does not have the features of this attention",
            asked=f"a query of {query.shape}", because=f"embed_dim is {embed_dim_to_check}",
        )  # fmt: skip
    single = query.ndim == 2
    if single:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    if not use_separate_proj_weight and in_proj_weight is not None:
        weights = list(in_proj_weight.chunk(3, dim=0))
    biases: Sequence[Tensor | None] = (
        [None] * 3 if in_proj_bias is None else in_proj_bias.chunk(3, dim=0)
    )
    given = [each.transpose(0, 1) for each in (query, key, value)]
    parts = [
        split_heads(linear(each, weight, bias), num_heads)  # type: ignore[arg-type]
        for each, weight, bias in zip(given, weights, biases, strict=True)
    ]
    for place, static in ((1, static_k), (2, static_v)):
        if static is not None:
            parts[place] = static.reshape(-1, num_heads, *static.shape[1:])
    result, found = attend(
        parts, added_mask(parts[0], parts[1], attn_mask, key_padding_mask, is_causal), bias_k,
        bias_v, add_zero_attn, dropout_p if training else 0.0, need_weights, average_attn_weights,
    )  # fmt: skip
    result = linear(result, out_proj_weight, out_proj_bias).transpose(0, 1)
    if single:
        return result.squeeze(1), None if found is None else found.squeeze(0)
    return result, found


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(batch, heads, length, features of a head) of (batch, length, features)."""
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(1, 2)


def attend(
    parts: Sequence[Tensor], mask: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None,
    add_zero: bool, dropout: float, need_weights: bool, average: bool,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """softmax(q k^T / sqrt(d) + mask) v of the heads of query, key and value, joined to (batch,
    length, features), and the weights if requested; with a learnt and a zero key and value behind
    the others if requested."""
    query, key, value = parts
    if bias_k is not None and bias_v is not None:
        key, value, mask = _longer(key, value, mask, bias_k, bias_v)
    if add_zero:
        zeros = Tensor.zeros(key.shape[1] * key.shape[3], dtype=key.dtype, device=key.device)
        key, value, mask = _longer(key, value, mask, zeros, zeros)
    weights = None
    with Tensor.train() if dropout else nullcontext():
        if need_weights:
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            weights = (scores if mask is None else scores + mask).softmax(-1)
            weights = weights.dropout(dropout) if dropout else weights
            mixed = weights @ value
        else:
            mixed = query.scaled_dot_product_attention(key, value, mask, dropout)
    result = mixed.transpose(1, 2)
    result = result.reshape(*result.shape[:2], -1)
    return result, weights.mean(1) if weights is not None and average else weights


def _longer(
    key: Tensor, value: Tensor, mask: Tensor | None, more_key: Tensor, more_value: Tensor
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Keys and values with one more (features,) behind, which no mask covers."""
    batch, heads, _, size = key.shape
    rows = [
        each.reshape(1, heads, 1, size).expand(batch, heads, 1, size)
        for each in (more_key, more_value)
    ]
    longer = None if mask is None else mask.pad((*(None,) * (mask.ndim - 1), (0, 1)))
    return key.cat(rows[0], dim=2), value.cat(rows[1], dim=2), longer


def added_mask(
    query: Tensor, key: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool
) -> Tensor | None:
    """All masks as one to be added to the scores (batch, heads, length, other length)."""
    batch, heads, rows, _ = query.shape
    columns = key.shape[2]
    if mask is None and is_causal:
        mask = Tensor.ones(rows, columns, dtype=dtypes.bool, device=query.device).triu(1)
    found = None if mask is None else _as_numbers(mask, query.dtype)
    if found is not None and found.ndim == 3:
        found = found.reshape(-1, heads, rows, columns)
    if padding is not None:
        blocked = _as_numbers(padding, query.dtype).reshape(batch, 1, 1, columns)
        found = blocked if found is None else found + blocked
    return found


def _as_numbers(mask: Tensor, dtype: DType) -> Tensor:
    if mask.dtype is not dtypes.bool:
        return mask
    zero = Tensor.zeros(*mask.shape, dtype=dtype, device=mask.device)
    return mask.where(-math.inf, zero)
