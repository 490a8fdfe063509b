"""Qwen 2, whose queries, keys and values have biases, and Qwen 3, which normalizes heads.

Source: A. Yang et al., "Qwen2 Technical Report" (2024) and "Qwen3 Technical Report" (2025).
"""

from __future__ import annotations

from weft_llm.configuration import Config
from weft_llm.layers import Attention, Block, Decoder


class Qwen3Block(Block):
    """A block that normalizes the heads of queries and keys."""

    def attention(self, config: Config, layer: int) -> Attention:
        """The attention of a layer."""
        return Attention(config, layer, norms=True, out_bias=config.attention_bias)


class Qwen2(Decoder):
    """`Config.attention_bias` is True; the output projection has no bias."""


class Qwen3(Decoder):
    """No biases, RMS norms of queries and keys."""

    block = Qwen3Block
