"""Phi 3: Llama with joint projections.

Source: M. Abdin et al., "Phi-3 Technical Report" (2024).
"""

from __future__ import annotations

from weft import Tensor, nn
from weft_llm.attention import Context
from weft_llm.configuration import Config
from weft_llm.layers import (
    ACTIVATIONS,
    Block,
    Decoder,
    linear,
    merged_heads,
    pattern_of,
    split_heads,
)
from weft_llm.rotary import Rotation


class JointAttention(nn.Module):
    """Self-attention whose queries, keys and values come from one projection."""

    def __init__(self, config: Config, layer: int) -> None:
        self.layer, self.pattern = layer, pattern_of(config, layer)
        self.heads, self.shared = config.num_attention_heads, config.num_key_value_heads
        self.sizes = [heads * config.head_dim for heads in (self.heads, self.shared, self.shared)]
        self.qkv_proj = linear(config.hidden_size, sum(self.sizes))
        self.o_proj = linear(self.sizes[0], config.hidden_size)

    def forward(self, x: Tensor, context: Context, rotation: Rotation) -> Tensor:
        """(batch, length, hidden) for x of that shape."""
        parts = self.qkv_proj(x).split(self.sizes, dim=-1)
        heads = (self.heads, self.shared, self.shared)
        query, key, value = (split_heads(part, n) for part, n in zip(parts, heads, strict=True))
        found = context.attend(self.layer, rotation(query), rotation(key), value, self.pattern)
        return self.o_proj(merged_heads(found))


class JointNetwork(nn.Module):
    """A gated network whose gate and values come from one projection."""

    def __init__(self, config: Config) -> None:
        self.gate_up_proj = linear(config.hidden_size, 2 * config.intermediate_size)
        self.down_proj = linear(config.intermediate_size, config.hidden_size)
        self.act = ACTIVATIONS[config.hidden_act]

    def forward(self, x: Tensor) -> Tensor:
        """The shape of x."""
        gate, up = self.gate_up_proj(x).chunk(2, dim=-1)
        return self.down_proj(self.act(gate) * up)


class Phi3Block(Block):
    """A block with joint projections."""

    def attention(self, config: Config, layer: int) -> nn.Module:
        """The attention of a layer."""
        return JointAttention(config, layer)

    def network(self, config: Config) -> nn.Module:
        """The network after the attention."""
        return JointNetwork(config)


class Phi3(Decoder):
    """Llama with joint projections."""

    block = Phi3Block
