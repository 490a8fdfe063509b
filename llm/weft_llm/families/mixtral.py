"""Mixtral: Mistral with a mixture of experts in place of each network.

Source: A. Jiang et al., "Mixtral of Experts" (2024).
"""

from __future__ import annotations

from weft_llm.configuration import Config
from weft_llm.layers import Block, Decoder, ExpertNetwork


class MixtralBlock(Block):
    """A block with experts."""

    def network(self, config: Config) -> ExpertNetwork:
        """The experts."""
        assert config.experts is not None
        return ExpertNetwork(config.hidden_size, config.experts, config.hidden_act)


class Mixtral(Decoder):
    """Each token takes the experts that its router rates highest."""

    block = MixtralBlock
