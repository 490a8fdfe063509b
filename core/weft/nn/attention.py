"""Attention with several heads."""

from __future__ import annotations

from weft.base.dtype import DType
from weft.base.errors import ArgumentError, ShapeError
from weft.nn import init
from weft.nn.linear import Linear
from weft.tensor import Tensor


class MultiHeadAttention:
    """softmax(q k^T / sqrt(d)) v for each of `num_heads` heads (Vaswani et al., 2017).

    in_proj_weight (3 * embed_dim, embed_dim) holds the maps to queries, keys and values one below
    the other, in_proj_bias (3 * embed_dim,) or None their biases, out_proj the map behind the
    heads. Dropout acts on the weights of the attention, in training only.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(
                "the heads do not divide the features",
                asked=f"{embed_dim} features, {num_heads} heads",
                because="each head takes an equal share",
                try_="choose a number of heads that divides embed_dim",
            )
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.in_proj_weight = init.glorot_uniform(
            3 * embed_dim, embed_dim, device=device, dtype=dtype
        )
        self.in_proj_bias = (
            Tensor.zeros(3 * embed_dim, device=device, dtype=dtype).contiguous() if bias else None
        )
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)

    def __call__(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """(batch, length, embed_dim) for query (batch, length, embed_dim), and key and value
        (batch, other length, embed_dim).

        Without key and value the query attends to itself, without value to the key. attn_mask: bool
        (True: may attend) or numbers to add, shape broadcast to (batch, heads, length, other
        length). Raises ShapeError for other shapes.
        """
        key = query if key is None else key
        value = key if value is None else value
        for name, given in (("query", query), ("key", key), ("value", value)):
            if given.ndim != 3 or given.shape[2] != self.embed_dim:
                raise ShapeError(
                    "attention takes a batch of sequences",
                    asked=f"{name} of {given.shape}",
                    because=f"it was made for (batch, length, {self.embed_dim})",
                    try_="add a batch axis, x.unsqueeze(0)",
                )
        heads = self._projected(query, key, value)
        mixed = heads[0].scaled_dot_product_attention(
            heads[1], heads[2], attn_mask=attn_mask, dropout_p=self.dropout, is_causal=is_causal
        )
        return self.out_proj(mixed.transpose(1, 2).reshape(*query.shape[:2], self.embed_dim))

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        """Queries, keys and values as (batch, heads, length, features of a head)."""
        if key is query and value is query:
            joint = query.linear(self.in_proj_weight.transpose(0, 1), self.in_proj_bias)
            parts = list(joint.chunk(3, dim=2))
        else:
            weights = self.in_proj_weight.chunk(3, dim=0)
            biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3, dim=0)
            parts = [
                given.linear(weight.transpose(0, 1), bias)
                for given, weight, bias in zip((query, key, value), weights, biases, strict=True)
            ]
        size = self.embed_dim // self.num_heads
        return [p.reshape(*p.shape[:2], self.num_heads, size).transpose(1, 2) for p in parts]
