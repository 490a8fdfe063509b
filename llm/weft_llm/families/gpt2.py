"""GPT-2: learned positions, layer norms, a network with GELU.

Source: A. Radford et al., "Language Models are Unsupervised Multitask Learners" (2019).
"""

from __future__ import annotations

from weft import Tensor, nn
from weft_llm.attention import Context
from weft_llm.configuration import Config
from weft_llm.layers import (
    ACTIVATIONS,
    Network,
    embedding,
    linear,
    merged_heads,
    pattern_of,
    split_heads,
)
from weft_llm.weights import product


class Attention(nn.Module):
    """Causal self-attention with one joint projection."""

    def __init__(self, config: Config, layer: int) -> None:
        self.layer, self.heads = layer, config.num_attention_heads
        self.pattern = pattern_of(config, layer)
        self.c_attn = linear(config.hidden_size, 3 * config.hidden_size, bias=True)
        self.c_proj = linear(config.hidden_size, config.hidden_size, bias=True)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """The shape of x, (batch, length, hidden)."""
        query, key, value = (split_heads(p, self.heads) for p in self.c_attn(x).chunk(3, dim=-1))
        return self.c_proj(
            merged_heads(context.attend(self.layer, query, key, value, self.pattern))
        )


class FeedForward(nn.Module):
    """Two linear layers around an activation."""

    def __init__(self, config: Config) -> None:
        self.c_fc = linear(config.hidden_size, config.intermediate_size, bias=True)
        self.c_proj = linear(config.intermediate_size, config.hidden_size, bias=True)
        self.act = ACTIVATIONS[config.hidden_act]

    def forward(self, x: Tensor) -> Tensor:
        """The shape of x."""
        return self.c_proj(self.act(self.c_fc(x)))


class Block(nn.Module):
    """Attention and a network, each added to its input."""

    def __init__(self, config: Config, layer: int) -> None:
        self.ln_1 = nn.LayerNorm(config.hidden_size, config.norm_eps)
        self.attn = Attention(config, layer)
        self.ln_2 = nn.LayerNorm(config.hidden_size, config.norm_eps)
        self.mlp = FeedForward(config)

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """The shape of x, (batch, length, hidden)."""
        x = x + self.attn(self.ln_1(x), context)
        return x + self.mlp(self.ln_2(x))


class GPT2(Network):
    """Tokens to hidden states, hidden states to logits; the embedding is used for both."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.wte = embedding(config.vocab_size, config.hidden_size)
        self.wpe = embedding(config.max_position_embeddings, config.hidden_size)
        self.h = [Block(config, layer) for layer in range(config.num_hidden_layers)]
        self.ln_f = nn.LayerNorm(config.hidden_size, config.norm_eps)

    def forward(self, tokens: Tensor, context: Context) -> Tensor:
        """Hidden states (batch, length, hidden) of tokens (batch, length)."""
        last = self.config.max_position_embeddings - 1  # padding may lie beyond
        x = self.wte(tokens) + self.wpe(context.positions.minimum(last))
        for block in self.h:
            x = block(x, context).realize()  # see Decoder
        return self.ln_f(x)

    def logits(self, hidden: Tensor, exact: bool = False) -> Tensor:
        """Logits (..., vocabulary) of hidden states (..., hidden)."""
        return product(hidden, self.wte.weight, exact=exact)
