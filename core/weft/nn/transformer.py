"""Layers of transformers with PyTorch's arguments, names of parameters and meaning of masks
(Vaswani et al., 2017; with norm_first: Xiong et al., 2020).

Sequences are (length, batch, features), or (batch, length, features) with batch_first. A boolean
mask is True where a query may NOT attend; a floating-point one is added to the scores.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from weft.base.arguments import choice
from weft.base.dtype import DType
from weft.base.errors import ShapeError
from weft.nn import functional as F
from weft.nn import init
from weft.nn.attention import MultiHeadAttention
from weft.nn.containers import ModuleList
from weft.nn.functional.attention import added_mask, attend
from weft.nn.input_checks import tensor_for
from weft.nn.linear import Linear
from weft.nn.module import Module
from weft.nn.norm import LayerNorm
from weft.nn.parameter import parameter
from weft.nn.stateless import Dropout
from weft.nn.training_mode import is_training
from weft.tensor import Tensor


class MultiheadAttention(MultiHeadAttention):
    """Attention with several heads, as in PyTorch: gives the result and the weights.

    add_bias_kv: a learnt key and value behind all others, bias_k and bias_v. add_zero_attn: a key
    and value of zeros. `nn.MultiHeadAttention` (capital H) has the same parameters, takes batches
    first, gives the result alone, and its boolean masks are True where a query may attend.

    >>> attention = nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = Tensor.ones(1, 5, 8)
    >>> result, weights = attention(x, x, x)
    >>> result.shape, weights.shape
    ((1, 5, 8), (1, 5, 5))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(embed_dim, num_heads, dropout, bias, kdim, vdim, device, dtype)
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.bias_k = self._extra(device, dtype) if add_bias_kv else None
        self.bias_v = self._extra(device, dtype) if add_bias_kv else None

    def _extra(self, device: str | None, dtype: DType | None) -> Tensor:
        """A learnt key or value (1, 1, embed_dim)."""
        drawn = Tensor.empty(1, 1, self.embed_dim, device=device, dtype=dtype)
        return parameter(init.xavier_normal_(drawn))

    def forward(  # type: ignore[override]
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(result, weights): the result in the layout of query, the weights (batch, length, other
        length), with average_attn_weights=False (batch, heads, length, other length), and None
        unless need_weights.

        attn_mask: (length, other length), or one for each head, (batch * heads, length, other
        length). key_padding_mask: (batch, other length). is_causal: also without a mask.
        """
        query = tensor_for(self, query)
        if query.ndim == 2:
            batch = 0 if self.batch_first else 1
            q, k, v = (each.unsqueeze(batch) for each in (query, key, value))
            padding = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
            result, weights = self.forward(
                q, k, v, padding, need_weights, attn_mask, average_attn_weights, is_causal
            )
            return result.squeeze(batch), None if weights is None else weights.squeeze(0)
        self._check_inputs(query, key, value)
        if not self.batch_first:
            # the same object thrice stays the same: one product makes all three parts
            same_key, same_value = key is query, value is key
            query = query.transpose(0, 1)
            key = query if same_key else key.transpose(0, 1)
            value = key if same_value else value.transpose(0, 1)
        parts = self._projected(query, key, value)
        mask = added_mask(parts[0], parts[1], attn_mask, key_padding_mask, is_causal)
        p = self.dropout if self.dropout and is_training(self) else 0.0
        joined, weights = attend(
            parts, mask, self.bias_k, self.bias_v, self.add_zero_attn, p, need_weights,
            average_attn_weights,
        )  # fmt: skip
        result = self.out_proj(joined)
        return (result if self.batch_first else result.transpose(0, 1)), weights

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        sizes = (self.embed_dim, self.kdim, self.vdim)
        for name, each, size in zip(
            ("query", "key", "value"), (query, key, value), sizes, strict=True
        ):
            if tensor_for(self, each, name).ndim != 3 or each.shape[2] != size:
                layout = "(batch, length" if self.batch_first else "(length, batch"
                raise ShapeError(
                    "attention takes sequences",
                    asked=f"{name} of {each.shape}",
                    because=f"it was made for {layout}, {size})",
                    try_="batch_first=True for (batch, length, features)"
                    if not self.batch_first
                    else "put the features last",
                )


class _TransformerLayer(Module):
    """What the layers of encoder and decoder share: attention to itself, and a network of two
    linear maps for each position."""

    count: int
    activation: Callable[[Tensor], Tensor]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        heads: dict[str, Any] = {"bias": bias, "batch_first": batch_first, **place}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, **heads)
        if self.count == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, **heads)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **place)
        self.norm_first = norm_first
        for number in range(1, self.count + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, True, bias, **place))
        for number in range(1, self.count + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))
        if isinstance(activation, str):
            self.activation = getattr(F, choice(activation, "activation", ("relu", "gelu")))
        else:
            self.activation = activation

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _around(self, number: int, x: Tensor, block: Callable[[Tensor], Tensor]) -> Tensor:
        """x + block(x), normalised before the block or after the sum."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        result: Tensor
        if self.norm_first:
            result = x + dropout(block(norm(x)))
        else:
            result = norm(x + dropout(block(x)))
        return result


class TransformerEncoderLayer(_TransformerLayer):
    """Attention of a sequence to itself and a feed-forward network, each with a residual sum.

    >>> layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> layer(Tensor.ones(2, 5, 8)).shape
    (2, 5, 8)
    """

    count = 2

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The same shape as src. Masks: see MultiheadAttention."""

        def attend(x: Tensor) -> Tensor:
            found: Tensor = self.self_attn(
                x, x, x, src_key_padding_mask, False, src_mask, True, is_causal
            )[0]
            return found

        return self._around(2, self._around(1, src, attend), self._feed_forward)


class TransformerDecoderLayer(_TransformerLayer):
    """Attention of a sequence to itself and to the encoder's output, and a feed-forward network.

    >>> layer = nn.TransformerDecoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> layer(Tensor.ones(2, 3, 8), Tensor.ones(2, 5, 8)).shape
    (2, 3, 8)
    """

    count = 3

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The same shape as tgt. Masks: see MultiheadAttention."""

        def attend(x: Tensor) -> Tensor:
            found: Tensor = self.self_attn(
                x, x, x, tgt_key_padding_mask, False, tgt_mask, True, tgt_is_causal
            )[0]
            return found

        def read(x: Tensor) -> Tensor:
            found: Tensor = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask, True,
                memory_is_causal,
            )[0]  # fmt: skip
            return found

        x = self._around(2, self._around(1, tgt, attend), read)
        return self._around(3, x, self._feed_forward)


class TransformerEncoder(Module):
    """Copies of a layer one after the other, and a normalisation behind the last.

    `enable_nested_tensor` and `mask_check` have no effect.

    >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> nn.TransformerEncoder(layer, 2)(Tensor.ones(2, 5, 8)).shape
    (2, 5, 8)
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The same shape as src."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Copies of a decoder layer one after the other, and a normalisation behind the last.

    Called with the target sequence and the encoder's output, `memory`.

    >>> layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    >>> nn.TransformerDecoder(layer, 2)(Tensor.ones(2, 3, 8), Tensor.ones(2, 5, 8)).shape
    (2, 3, 8)
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The same shape as tgt; masks as for a layer."""
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                bool(tgt_is_causal), memory_is_causal,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder (Vaswani et al., 2017), or those that are given instead.

    >>> model = nn.Transformer(8, 2, 1, 1, dim_feedforward=16, batch_first=True)
    >>> model(Tensor.ones(2, 5, 8), Tensor.ones(2, 3, 8)).shape
    (2, 3, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        given = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        more = (batch_first, norm_first, bias, device, dtype)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*given, *more),
            num_encoder_layers,
            LayerNorm(d_model, layer_norm_eps, True, bias, **place),
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*given, *more),
            num_decoder_layers,
            LayerNorm(d_model, layer_norm_eps, True, bias, **place),
        )

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The same shape as tgt."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        result: Tensor = self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip
        return result

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: str | None = None) -> Tensor:
        """(sz, sz): -inf above the diagonal, 0 elsewhere.

        >>> nn.Transformer.generate_square_subsequent_mask(2).tolist()
        [[0.0, -inf], [0.0, 0.0]]
        """
        return Tensor.full((sz, sz), -math.inf, device=device).triu(1)
