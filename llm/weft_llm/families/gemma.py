"""Gemma, Gemma 2 and Gemma 3: scaled embeddings, norms around each part, local layers.

The norms of these models multiply by 1 + weight: the loader adds the 1.

Source: Gemma Team, "Gemma 2: Improving Open Language Models at a Practical Size" (2024) and
"Gemma 3 Technical Report" (2025).
"""

from __future__ import annotations

import math

from weft import Tensor, nn
from weft_llm.attention import Context
from weft_llm.configuration import Config
from weft_llm.layers import Attention, Block, Decoder
from weft_llm.rotary import Rotation


class Gemma2Block(Block):
    """Norms before and after both the attention and the network."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__(config, layer)
        size, eps = config.hidden_size, config.norm_eps
        self.pre_feedforward_layernorm = nn.RMSNorm(size, eps)
        self.post_feedforward_layernorm = nn.RMSNorm(size, eps)

    def forward(self, x: Tensor, context: Context, rotation: Rotation) -> Tensor:
        """The shape of x, (batch, length, hidden)."""
        mixed = self.self_attn(self.input_layernorm(x), context, rotation)
        x = x + self.post_attention_layernorm(mixed)
        mixed = self.mlp(self.pre_feedforward_layernorm(x))
        return x + self.post_feedforward_layernorm(mixed)


class Gemma3Block(Gemma2Block):
    """Gemma 2's block with norms of queries and keys."""

    def attention(self, config: Config, layer: int) -> Attention:
        """The attention of a layer."""
        return Attention(config, layer, norms=True)


class Gemma(Decoder):
    """Embeddings are multiplied by the square root of their size."""

    def embed(self, tokens: Tensor) -> Tensor:
        """The vectors of tokens."""
        return self.embed_tokens(tokens) * math.sqrt(self.config.hidden_size)


class Gemma2(Gemma):
    """Soft caps, and a sliding window in every second layer."""

    block = Gemma2Block


class Gemma3(Gemma):
    """Five local layers, with a rotary base of their own, for each global one."""

    block = Gemma3Block
