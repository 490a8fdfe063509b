"""BERT-like encoders: every position attends to every other; for embeddings of texts.

Source: J. Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding" (2019).
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
from weft_llm.weights import values_of


class EncoderLayer(nn.Module):
    """Post-normalization: attention and a network, each added to its input, then normalized."""

    def __init__(self, config: Config, layer: int) -> None:
        size = config.hidden_size
        self.layer, self.heads = layer, config.num_attention_heads
        self.pattern = pattern_of(config, layer, causal=False)
        self.query, self.key = linear(size, size, True), linear(size, size, True)
        self.value, self.output = linear(size, size, True), linear(size, size, True)
        self.attention_norm = nn.LayerNorm(size, config.norm_eps)
        self.up = linear(size, config.intermediate_size, True)
        self.down = linear(config.intermediate_size, size, True)
        self.output_norm = nn.LayerNorm(size, config.norm_eps)
        self.act = ACTIVATIONS[config.hidden_act]

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """The shape of x, (batch, length, hidden)."""
        maps = (self.query, self.key, self.value)
        query, key, value = (split_heads(one(x), self.heads) for one in maps)
        found = context.attend(self.layer, query, key, value, self.pattern)
        x = self.attention_norm(x + self.output(merged_heads(found)))
        return self.output_norm(x + self.down(self.act(self.up(x))))


class Bert(Network):
    """Tokens to hidden states; it has no logits."""

    generates = False

    def __init__(self, config: Config) -> None:
        self.config = config
        size = config.hidden_size
        self.word_embeddings = embedding(config.vocab_size, size)
        self.position_embeddings = embedding(config.max_position_embeddings, size)
        self.token_type_embeddings = embedding(config.type_vocab_size, size)
        self.embedding_norm = nn.LayerNorm(size, config.norm_eps)
        self.layers = [EncoderLayer(config, layer) for layer in range(config.num_hidden_layers)]

    def forward(self, tokens: Tensor, context: Context) -> Tensor:
        """Hidden states (batch, length, hidden) of tokens (batch, length)."""
        x = self.word_embeddings(tokens) + self.position_embeddings(context.positions)
        x = self.embedding_norm(x + values_of(self.token_type_embeddings.weight)[0])
        for layer in self.layers:
            x = layer(x, context)
        return x
