"""Attention with several heads."""

from __future__ import annotations

import math
from contextlib import nullcontext

from weft.base.arguments import whole
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.nn import init
from weft.nn.functional.attention import split_heads
from weft.nn.input_checks import tensor_for
from weft.nn.linear import Linear
from weft.nn.module import Module
from weft.nn.parameter import parameter
from weft.nn.training_mode import is_training
from weft.tensor import Tensor


class MultiHeadAttention(Module):
    """softmax(q k^T / sqrt(d)) v for each of `num_heads` heads (Vaswani et al., 2017).

    in_proj_weight (3 * embed_dim, embed_dim) holds the maps to queries, keys and values one below
    the other, in_proj_bias (3 * embed_dim,) or None their biases, out_proj the map behind the
    heads. Keys of `kdim` and values of `vdim` features have maps of their own instead:
    q_proj_weight, k_proj_weight, v_proj_weight. Dropout acts on the weights of the attention, in
    training only.

    >>> attention = nn.MultiHeadAttention(8, num_heads=2)
    >>> attention(Tensor.ones(1, 5, 8)).shape
    (1, 5, 8)
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        embed_dim, num_heads = whole(embed_dim, "embed_dim"), whole(num_heads, "num_heads")
        if num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(
                "the heads do not divide the features",
                asked=f"{embed_dim} features, {num_heads} heads",
                because="each head takes an equal share",
                try_="choose a number of heads that divides embed_dim",
            )
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim

        def drawn(*shape: int) -> Tensor:
            return parameter(init.glorot_uniform(*shape, device=device, dtype=dtype))

        self.in_proj_weight: Tensor | None = None
        if self.kdim == self.vdim == embed_dim:
            self.in_proj_weight = drawn(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight = drawn(embed_dim, embed_dim)
            self.k_proj_weight = drawn(embed_dim, self.kdim)
            self.v_proj_weight = drawn(embed_dim, self.vdim)
        self.in_proj_bias = (
            parameter(Tensor.zeros(3 * embed_dim, device=device, dtype=dtype)) if bias else None
        )
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """(batch, length, embed_dim) for query (batch, length, embed_dim), key (batch, other
        length, kdim) and value (batch, other length, vdim).

        Without key and value the query attends to itself, without value to the key. attn_mask: bool
        (True: may attend) or numbers to add, shape broadcast to (batch, heads, length, other
        length). key_padding_mask (batch, other length), bool: True where a key is padding, which no
        query attends to. Raises ShapeError for other shapes, DTypeError for a padding mask of
        numbers.
        """
        query = tensor_for(self, query)
        key = query if key is None else key
        value = key if value is None else value
        _check("query", query, self.embed_dim)
        _check("key", key, self.kdim)
        _check("value", value, self.vdim)
        parts = self._projected(query, key, value)
        mask, is_causal = self._mask(query, key, attn_mask, is_causal, key_padding_mask)
        dropout = self.dropout if self.dropout and is_training(self) else 0.0
        with Tensor.train() if dropout else nullcontext():
            mixed = parts[0].scaled_dot_product_attention(
                parts[1], parts[2], attn_mask=mask, dropout_p=dropout, is_causal=is_causal
            )
        return self.out_proj(mixed.transpose(1, 2).reshape(*query.shape[:2], self.embed_dim))

    def weights(
        self,
        query: Tensor,
        key: Tensor | None = None,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """How much of each key every head takes: (batch, heads, length, other length), rows that
        add up to 1. Arguments as in a call; dropout does not act."""
        key = query if key is None else key
        _check("query", query, self.embed_dim)
        _check("key", key, self.kdim)
        queries, keys = self._projected(query, key)
        mask, is_causal = self._mask(query, key, attn_mask, is_causal, key_padding_mask)
        if is_causal:
            mask = _earlier(query, key)
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        if mask is not None:
            whole = mask.dtype is dtypes.bool
            scores = mask.where(scores, -math.inf) if whole else scores + mask
        return scores.softmax(-1)

    def _projected(self, query: Tensor, key: Tensor, value: Tensor | None = None) -> list[Tensor]:
        """Queries, keys and values as (batch, heads, length, features of a head)."""
        joint = self.in_proj_weight
        if joint is not None and key is query and value is query:
            parts = list(query.linear(joint.transpose(0, 1), self.in_proj_bias).chunk(3, dim=2))
        else:
            weights = (
                [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
                if joint is None
                else joint.chunk(3, dim=0)
            )
            biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3, dim=0)
            parts = [
                given.linear(weight.transpose(0, 1), bias)
                for given, weight, bias in zip((query, key, value), weights, biases, strict=True)
                if given is not None
            ]
        return [split_heads(part, self.num_heads) for part in parts]

    def _mask(
        self,
        query: Tensor,
        key: Tensor,
        mask: Tensor | None,
        is_causal: bool,
        padding: Tensor | None,
    ) -> tuple[Tensor | None, bool]:
        """All masks combined to one, and whether `is_causal` is still to be passed."""
        if mask is not None and mask.ndim == 3:
            raise ShapeError(
                "a mask of three axes does not say which the heads are",
                asked=f"attn_mask of {mask.shape}",
                because="it must broadcast with (batch, heads, length, other length)",
                try_="unsqueeze(1) for one mask per sample, unsqueeze(0) for one per head",
            )
        if padding is None:
            return mask, is_causal
        if padding.dtype is not dtypes.bool:
            raise DTypeError(
                "a padding mask says yes or no",
                asked=f"key_padding_mask of {padding.dtype}",
                because="True marks the keys that are padding",
                try_="compare: tokens == padding",
            )
        if tuple(padding.shape) != tuple(key.shape[:2]):
            raise ShapeError(
                "the padding mask does not belong to these keys",
                asked=f"key_padding_mask of {padding.shape} with keys of {key.shape}",
                because=f"it must be {tuple(key.shape[:2])}",
                try_="give one value for each key",
            )
        seen = padding.logical_not().reshape(key.shape[0], 1, 1, key.shape[1])
        if is_causal and mask is None:
            return seen & _earlier(query, key), False
        if mask is None or mask.dtype is dtypes.bool:
            return (seen if mask is None else seen & mask), is_causal
        return seen.where(mask, -math.inf), is_causal


def _check(name: str, given: Tensor, features: int) -> None:
    if given.ndim != 3 or given.shape[2] != features:
        raise ShapeError(
            "attention takes a batch of sequences",
            asked=f"{name} of {given.shape}",
            because=f"it was made for (batch, length, {features})",
            try_="add a batch axis, x.unsqueeze(0)",
        )


def _earlier(query: Tensor, key: Tensor) -> Tensor:
    """(length, other length), True where the position of the key is not after the query."""
    return Tensor.ones(query.shape[1], key.shape[1], dtype=dtypes.bool, device=query.device).tril()
