"""Scaled dot-product attention and its gradient."""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import dtypes
from weft.tensor import Tensor
from weft.torch.registry import converter

Optional = Tensor | None


def _scores(
    query: Tensor, key: Tensor, is_causal: bool, attn_mask: Optional, scale: float | None
) -> tuple[Tensor, float]:
    """Return the masked, scaled products of queries and keys, and the scale."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    wide = dtypes.float32 if query.dtype.itemsize < 4 else query.dtype
    scores = query.matmul(key.transpose(-2, -1), dtype=wide) * factor
    if is_causal:
        rows, columns = query.shape[-2], key.shape[-2]
        visible = Tensor.ones(rows, columns, dtype=dtypes.bool, device=query.device).tril()
        scores = visible.where(scores, -math.inf)
    if attn_mask is not None:
        if attn_mask.dtype is dtypes.bool:
            scores = attn_mask.where(scores, -math.inf)
        else:
            scores = scores + attn_mask
    return scores, factor


@converter("aten::_scaled_dot_product_flash_attention_for_cpu")
def attention(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float = 0.0, is_causal: bool = False,
    *, attn_mask: Optional = None, scale: float | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the weighted values, and the logarithm of the sum of each row of weights."""
    scores, _ = _scores(query, key, is_causal, attn_mask, scale)
    weights = scores.softmax(-1)
    return weights.cast(value.dtype) @ value, scores.logsumexp(-1)


@converter("aten::_scaled_dot_product_flash_attention_for_cpu_backward")
def attention_backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, out: Tensor, logsumexp: Tensor,
    dropout_p: float, is_causal: bool, *, attn_mask: Optional = None, scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients of queries, keys and values. The weights are computed again.

    Source: T. Dao et al., "FlashAttention" (2022), appendix B.4.
    """
    scores, factor = _scores(query, key, is_causal, attn_mask, scale)
    weights = (scores - logsumexp.unsqueeze(-1)).exp()
    of_value = weights.cast(grad.dtype).transpose(-2, -1) @ grad
    of_weights = grad.matmul(value.transpose(-2, -1), dtype=weights.dtype)
    share = (grad.cast(weights.dtype) * out).sum(-1, keepdim=True)
    of_scores = (weights * (of_weights - share) * factor).cast(query.dtype)
    return of_scores @ key, of_scores.transpose(-2, -1) @ query, of_value
