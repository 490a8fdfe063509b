"""Qwen 2 and Qwen 3 with experts: Qwen 2 adds an expert that all tokens share.

Source: A. Yang et al., "Qwen2 Technical Report" (2024) and "Qwen3 Technical Report" (2025).
"""

from __future__ import annotations

from weft import Tensor, nn
from weft_llm.configuration import Config
from weft_llm.families.qwen import Qwen3Block
from weft_llm.layers import Block, Decoder, ExpertNetwork, GatedNetwork, linear


class SharedExpertNetwork(ExpertNetwork):
    """Routed experts, and one whose share a sigmoid of its own gives."""

    def __init__(self, config: Config) -> None:
        assert config.experts is not None
        super().__init__(config.hidden_size, config.experts, config.hidden_act)
        shared = config.experts.shared_size
        self.shared_expert = GatedNetwork(config.hidden_size, shared, config.hidden_act)
        self.shared_expert_gate = linear(config.hidden_size, 1)

    def forward(self, x: Tensor) -> Tensor:
        """The shape of x, (batch, length, hidden)."""
        shared = self.shared_expert(x) * self.shared_expert_gate(x).sigmoid()
        return super().forward(x) + shared


class Qwen2MoeBlock(Block):
    """A block with routed experts and a shared one."""

    def network(self, config: Config) -> nn.Module:
        """The experts."""
        return SharedExpertNetwork(config)


class Qwen3MoeBlock(Qwen3Block):
    """A block with routed experts."""

    def network(self, config: Config) -> nn.Module:
        """The experts."""
        assert config.experts is not None
        return ExpertNetwork(config.hidden_size, config.experts, config.hidden_act)


class Qwen2Moe(Decoder):
    """Qwen 2 with experts."""

    block = Qwen2MoeBlock


class Qwen3Moe(Decoder):
    """Qwen 3 with experts."""

    block = Qwen3MoeBlock
