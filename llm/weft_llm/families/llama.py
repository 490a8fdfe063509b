"""Llama 2, Llama 3 and SmolLM: the decoder of `weft_llm.layers` as it is.

Source: H. Touvron et al., "Llama 2: Open Foundation and Fine-Tuned Chat Models" (2023).
"""

from __future__ import annotations

from weft_llm.configuration import Config
from weft_llm.layers import Attention, Block, Decoder


class LlamaBlock(Block):
    """A block whose output projection has a bias where the others have one."""

    def attention(self, config: Config, layer: int) -> Attention:
        """The attention of a layer."""
        return Attention(config, layer, out_bias=config.attention_bias)


class Llama(Decoder):
    """Grouped queries, rotary positions, a gated network."""

    block = LlamaBlock
