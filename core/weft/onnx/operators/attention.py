"""Attention: scaled dot product, linear attention, and rotary position embeddings."""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import dtypes
from weft.base.promotion import least_upper_dtype, sum_acc_dtype
from weft.onnx.graph import ELEMENT_TYPES, Node
from weft.onnx.registry import operator
from weft.tensor import Tensor


@operator("Attention", since=23)
def attention(
    node: Node, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    past_key: Tensor | None = None, past_value: Tensor | None = None,
    nonpad_kv_seqlen: Tensor | None = None, *, is_causal: int = 0, kv_num_heads: int | None = None,
    q_num_heads: int | None = None, qk_matmul_output_mode: int = 0, scale: float | None = None,
    softcap: float = 0.0, softmax_precision: int | None = None, left_window_size: int = -1,
    right_window_size: int = -1,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Scaled dot product attention, with a cache of keys and values.

    Several query heads may share one head of keys and values. A row whose keys are all masked is
    zero. Source: A. Vaswani and others, "Attention is all you need" (2017).

    :param nonpad_kv_seqlen: number of valid keys of each sample.
    :param qk_matmul_output_mode: what the fourth output is: 0 the products, 1 after `softcap`, 2
        after the mask, 3 after softmax.
    """
    if (past_key is None) != (past_value is None) or not 0 <= qk_matmul_output_mode <= 3:
        raise node.refuse(
            f"one of past_key and past_value is given, or the mode is {qk_matmul_output_mode}",
            "both, or none of them; a mode from 0 to 3",
        )
    kind, is_packed = query.dtype, query.ndim == 3
    query = _split_heads(node, query, q_num_heads)
    key, value = (_split_heads(node, each, kv_num_heads) for each in (key, value))
    past = 0
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        key, value = past_key.cat(key, dim=2), past_value.cat(value, dim=2)
    wide = sum_acc_dtype(kind)
    # Both operands are scaled, so that products of 16-bit floats do not overflow.
    factor = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    heads = query.shape[1]
    other = _shared(node, key * factor, heads).transpose(-2, -1)
    products = (query * factor).matmul(other, dtype=wide).cast(kind)
    capped = (products / softcap).tanh() * softcap if softcap else products
    offset = past if nonpad_kv_seqlen is None else _valid(nonpad_kv_seqlen) - query.shape[2]
    window = (left_window_size, 0 if is_causal else right_window_size)
    allowed = _window_mask(query, key, offset, window)
    if nonpad_kv_seqlen is not None:
        padding = _positions(key, key.shape[2]) < _valid(nonpad_kv_seqlen)
        allowed = padding if allowed is None else allowed & padding
    masked = _masked(capped, allowed, _full_mask(attn_mask, key.shape[2]))
    shares = _softmax(node, masked, softmax_precision)
    if attn_mask is not None or nonpad_kv_seqlen is not None or left_window_size >= 0:
        # Every key may be masked. The softmax of such a row is not a number.
        shares = (masked.max(-1, keepdim=True) == -math.inf).where(0, shares)
    shares = shares.cast(kind)
    y = (shares @ _shared(node, value, heads)).cast(kind)
    if is_packed:
        y = _joined_heads(y)
    shown = (products, capped, masked, shares)[qk_matmul_output_mode]
    return y, key, value, shown.cast(kind)


@operator("LinearAttention", since=27)
def linear_attention(
    node: Node, query: Tensor, key: Tensor, value: Tensor, past_state: Tensor | None = None,
    decay: Tensor | None = None, beta: Tensor | None = None, *, q_num_heads: int,
    kv_num_heads: int, scale: float = 0.0, update_rule: str = "gated_delta", chunk_size: int = 64,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Attention through a state matrix of each head that every position updates.

    The positions are unrolled, in float32. Source: S. Yang and others, "Gated Delta Networks:
    Improving Mamba2 with the delta rule" (2024).
    """
    if update_rule not in ("linear", "gated", "delta", "gated_delta"):
        raise node.refuse(
            f"update_rule is {update_rule!r}", "'linear', 'gated', 'delta' or 'gated_delta'"
        )
    is_gated, is_delta = "gated" in update_rule, "delta" in update_rule
    if is_gated != (decay is not None) or is_delta != (beta is not None):
        raise node.refuse(
            f"the rule {update_rule!r} needs "
            + (" and ".join(["decay"] * is_gated + ["beta"] * is_delta) or "no decay, no beta"),
            "give the inputs of the rule, and no other",
        )
    kind, wide = query.dtype, dtypes.float32
    q, k, v = (
        _split_heads(node, each, count).cast(wide)
        for each, count in ((query, q_num_heads), (key, kv_num_heads), (value, kv_num_heads))
    )
    batch, _, length, size = q.shape
    gates = None if decay is None else _split_heads(node, decay, kv_num_heads).cast(wide).exp()
    rates = None if beta is None else beta.cast(wide).transpose(1, 2).unsqueeze(-1)
    if past_state is None:
        state = Tensor.zeros(batch, kv_num_heads, size, v.shape[-1], dtype=wide, device=q.device)
    else:
        state = past_state.cast(wide)
    outputs = []
    for place in range(length):
        if gates is not None:
            state = state * gates[:, :, place].unsqueeze(-1)
        column, new = k[:, :, place].unsqueeze(-1), v[:, :, place].unsqueeze(-2)
        if rates is not None:
            new = (new - (state * column).sum(-2, keepdim=True)) * rates[:, :, place].unsqueeze(-1)
        state = (state + column * new).contiguous()
        read = _shared(node, state, q_num_heads) * q[:, :, place].unsqueeze(-1)
        outputs.append(read.sum(-2))
    y = outputs[0].stack(*outputs[1:], dim=2) if outputs else v[:, :, :0]
    y = y * (scale or 1 / math.sqrt(size))
    return _joined_heads(y).cast(kind), state.cast(kind if past_state is None else past_state.dtype)


@operator("RotaryEmbedding", since=23)
def rotary_embedding(
    node: Node, x: Tensor, cos_cache: Tensor, sin_cache: Tensor, position_ids: Tensor | None = None,
    *, interleaved: int = 0, num_heads: int | None = None, rotary_embedding_dim: int = 0,
) -> Tensor:  # fmt: skip
    """Rotate pairs of features by angles that depend on the position.

    Source: J. Su and others, "RoFormer: Enhanced transformer with rotary position embedding"
    (2021).

    :param interleaved: pairs are neighbours; otherwise they are half the features apart.
    """
    is_packed = x.ndim == 3
    heads = _split_heads(node, x, num_heads)
    count = rotary_embedding_dim or heads.shape[-1]
    if position_ids is not None:
        cos_cache, sin_cache = cos_cache[position_ids], sin_cache[position_ids]
    if cos_cache.ndim != 3 or cos_cache.shape[-1] != count // 2:
        raise node.refuse(
            f"the cache has the shape {cos_cache.shape}, and {count} features are rotated",
            f"a cache (batch, positions, {count // 2})",
        )
    cos, sin = cos_cache.unsqueeze(1), sin_cache.unsqueeze(1)
    rotated, rest = heads[..., :count], heads[..., count:]
    if interleaved:
        one, other = rotated[..., 0::2], rotated[..., 1::2]
        pair = (one * cos - other * sin).stack(one * sin + other * cos, dim=-1)
        y = pair.reshape(*rotated.shape)
    else:
        one, other = rotated.chunk(2, -1)
        y = (one * cos - other * sin).cat(one * sin + other * cos, dim=-1)
    y = y if count == heads.shape[-1] else y.cat(rest, dim=-1)
    return _joined_heads(y) if is_packed else y


def _split_heads(node: Node, x: Tensor, heads: int | None) -> Tensor:
    """(batch, positions, heads * features) to (batch, heads, positions, features)."""
    if x.ndim == 4:
        return x
    if x.ndim != 3 or not heads or x.shape[-1] % heads:
        raise node.refuse(
            f"an input has the shape {x.shape}, and the number of heads is {heads}",
            "(batch, heads, positions, features), or three axes and the number of heads",
        )
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def _joined_heads(x: Tensor) -> Tensor:
    y = x.transpose(1, 2)
    return y.reshape(y.shape[0], y.shape[1], y.shape[2] * y.shape[3])


def _shared(node: Node, x: Tensor, heads: int) -> Tensor:
    """Each head as often as query heads read it."""
    own = x.shape[1]
    if heads % own:
        raise node.refuse(
            f"{heads} query heads cannot share {own} heads of keys",
            "a number of query heads that is a multiple of it",
        )
    return x if heads == own else x.repeat_interleave(heads // own, 1)


def _valid(lengths: Tensor) -> Tensor:
    return lengths.cast(dtypes.int32).reshape(-1, 1, 1, 1)


def _positions(like: Tensor, count: Any) -> Tensor:
    return Tensor.arange(count, dtype=dtypes.int32, device=like.device)


def _window_mask(query: Tensor, key: Tensor, offset: Any, window: tuple[int, int]) -> Tensor | None:
    """Whether query i sees key j: i + offset - left <= j <= i + offset + right; -1 is no bound."""
    left, right = window
    if max(window) < 0:
        return None
    own = _positions(query, query.shape[2]).unsqueeze(-1) + offset
    other = _positions(key, key.shape[2])
    if right < 0:
        return other >= own - left
    upper = other <= own + right
    return upper if left < 0 else upper & (other >= own - left)


def _full_mask(mask: Tensor | None, keys: Any) -> Tensor | None:
    """The mask for all keys: those behind its end are masked."""
    if mask is None or mask.shape[-1] == keys:
        return mask
    is_bool = mask.dtype is dtypes.bool
    around = (*(None,) * (mask.ndim - 1), (0, keys - mask.shape[-1]))
    return mask.pad(around, value=False if is_bool else -math.inf)


def _masked(scores: Tensor, allowed: Tensor | None, mask: Tensor | None) -> Tensor:
    if mask is not None:
        if mask.dtype is dtypes.bool:
            allowed = mask if allowed is None else allowed & mask
        else:
            scores = scores + mask.cast(scores.dtype)
    return scores if allowed is None else allowed.where(scores, -math.inf)


def _softmax(node: Node, scores: Tensor, precision: int | None) -> Tensor:
    if precision is None:
        # The standard rounds each step to the dtype of the inputs.
        powers = (scores - scores.max(-1, keepdim=True)).exp()
        return powers / powers.sum(-1, keepdim=True)
    name = ELEMENT_TYPES.get(precision, "")
    if name not in ("float32", "float64", "float16", "bfloat16"):
        raise node.refuse(
            f"softmax_precision is {precision}", "the number of a float type: 1, 10, 11 or 16"
        )
    return scores.cast(least_upper_dtype(getattr(dtypes, name), scores.dtype)).softmax(-1)
