"""Parts that families of decoders share: attention, gated networks, mixture of experts, blocks."""

from __future__ import annotations

import math
from collections.abc import Callable

from weft import Tensor, nn
from weft_llm.attention import AttentionPattern, Context
from weft_llm.configuration import Config, Experts
from weft_llm.rotary import Rotation
from weft_llm.weights import Weight, product, values_of

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": lambda x: x.silu(),
    "relu": lambda x: x.relu(),
    "gelu": lambda x: x.gelu(approximate="none"),
    "gelu_new": lambda x: x.gelu(approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: x.gelu(approximate="tanh"),
}


class Linear(nn.Module):
    """A linear layer whose values are loaded later: zeros that take no memory."""

    def __init__(self, inputs: int, outputs: int, bias: bool = False) -> None:
        self.weight: Weight = nn.Parameter(Tensor.zeros(outputs, inputs), requires_grad=False)
        self.bias = nn.Parameter(Tensor.zeros(outputs), requires_grad=False) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """(..., outputs) for x (..., inputs)."""
        return product(x, self.weight, self.bias)


linear = Linear


class Embedding(nn.Module):
    """Rows of a table whose values are loaded later."""

    def __init__(self, rows: int, features: int) -> None:
        self.weight: Weight = nn.Parameter(Tensor.zeros(rows, features), requires_grad=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """(..., features) for integers (...)."""
        return values_of(self.weight)[tokens]


embedding = Embedding


class Attention(nn.Module):
    """Self-attention with rotary positions; `norms` normalizes the heads of queries and keys."""

    def __init__(self, config: Config, layer: int, norms: bool = False, out_bias: bool = False):
        heads, shared, size = (
            config.num_attention_heads,
            config.num_key_value_heads,
            config.head_dim,
        )
        self.layer, self.heads, self.shared, self.size = layer, heads, shared, size
        bias = config.attention_bias
        self.q_proj = linear(config.hidden_size, heads * size, bias)
        self.k_proj = linear(config.hidden_size, shared * size, bias)
        self.v_proj = linear(config.hidden_size, shared * size, bias)
        self.o_proj = linear(heads * size, config.hidden_size, out_bias)
        if norms:
            self.q_norm = nn.RMSNorm(size, config.norm_eps)
            self.k_norm = nn.RMSNorm(size, config.norm_eps)
        self.norms = norms
        self.pattern = pattern_of(config, layer)

    def forward(self, x: Tensor, context: Context, rotation: Rotation) -> Tensor:
        """(batch, length, hidden) for x of that shape."""
        query, key, value = self.project(x)
        if self.norms:
            query, key = self.q_norm(query), self.k_norm(key)
        found = context.attend(self.layer, rotation(query), rotation(key), value, self.pattern)
        return self.o_proj(merged_heads(found))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each (batch, heads, length, head_dim)."""
        # stored, because rotation reads each of them twice
        return (
            split_heads(self.q_proj(x).contiguous(), self.heads),
            split_heads(self.k_proj(x).contiguous(), self.shared),
            split_heads(self.v_proj(x).contiguous(), self.shared),
        )


def pattern_of(config: Config, layer: int, causal: bool = True) -> AttentionPattern:
    """Scale, window and soft cap of a layer."""
    scale = config.attention_scale or 1 / math.sqrt(config.head_dim)
    window, softcap = config.window(layer), config.attn_logit_softcapping
    return AttentionPattern(scale, window, softcap, causal)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(batch, length, heads * size) to (batch, heads, length, size)."""
    batch, length, features = x.shape
    return x.reshape(batch, length, heads, features // heads).transpose(1, 2)


def merged_heads(x: Tensor) -> Tensor:
    """(batch, heads, length, size) to (batch, length, heads * size)."""
    batch, heads, length, size = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * size)


class GatedNetwork(nn.Module):
    """down(act(gate(x)) * up(x)) (Shazeer, "GLU Variants Improve Transformer", 2020)."""

    def __init__(self, hidden: int, intermediate: int, act: str, bias: bool = False) -> None:
        self.gate_proj = linear(hidden, intermediate, bias)
        self.up_proj = linear(hidden, intermediate, bias)
        self.down_proj = linear(intermediate, hidden, bias)
        self.act = ACTIVATIONS[act]

    def forward(self, x: Tensor) -> Tensor:
        """The shape of x."""
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))


class ExpertNetwork(nn.Module):
    """Mixture of experts: each token takes the networks that a router rates highest.

    Few tokens gather the weights of their experts; many tokens compute every expert and weight
    the others by zero, which reads each weight once.

    Source: N. Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated
    Mixture-of-Experts Layer" (2017).
    """

    def __init__(self, hidden: int, experts: Experts, act: str) -> None:
        self.experts, self.act = experts, ACTIVATIONS[act]
        count, inner = experts.count, experts.intermediate_size
        self.gate = linear(hidden, count)
        self.gate_exps: Weight = nn.Parameter(
            Tensor.zeros(count, inner, hidden), requires_grad=False
        )
        self.up_exps = _stacked(count, inner, hidden)
        self.down_exps: Weight = nn.Parameter(
            Tensor.zeros(count, hidden, inner), requires_grad=False
        )

    def forward(self, x: Tensor) -> Tensor:
        """The shape of x, (batch, length, hidden)."""
        rows = x.reshape(-1, x.shape[-1])
        shares = self.gate(rows).softmax(-1)
        top, chosen = shares.topk(self.experts.per_token, -1)
        if self.experts.normalized:
            top = top / top.sum(-1, keepdim=True)
        few = rows.shape[0] * self.experts.per_token <= self.experts.count
        mixed = self._gathered(rows, top, chosen) if few else self._dense(rows, top, chosen)
        return mixed.reshape(*x.shape)

    def _gathered(self, rows: Tensor, top: Tensor, chosen: Tensor) -> Tensor:
        wide = rows.reshape(rows.shape[0], 1, -1, 1)
        gate, up, down = map(values_of, (self.gate_exps, self.up_exps, self.down_exps))
        inner = self.act(gate[chosen] @ wide) * (up[chosen] @ wide)
        return ((down[chosen] @ inner).squeeze(-1) * top.unsqueeze(-1)).sum(1)

    def _dense(self, rows: Tensor, top: Tensor, chosen: Tensor) -> Tensor:
        numbers = Tensor.arange(self.experts.count, device=rows.device).reshape(1, 1, -1)
        weights = ((chosen.unsqueeze(-1) == numbers) * top.unsqueeze(-1)).sum(1)
        wide = rows.unsqueeze(0)
        gate, up, down = map(values_of, (self.gate_exps, self.up_exps, self.down_exps))
        inner = self.act(wide @ gate.transpose(1, 2)) * (wide @ up.transpose(1, 2))
        outputs = inner @ down.transpose(1, 2)
        return (outputs * weights.transpose(0, 1).unsqueeze(-1)).sum(0)


def _stacked(*shape: int) -> Weight:
    """The weights of all experts, which are loaded later."""
    return nn.Parameter(Tensor.zeros(*shape), requires_grad=False)


class Block(nn.Module):
    """Pre-normalization: attention and a network, each added to its input."""

    def __init__(self, config: Config, layer: int) -> None:
        self.input_layernorm = nn.RMSNorm(config.hidden_size, config.norm_eps)
        self.self_attn = self.attention(config, layer)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, config.norm_eps)
        self.mlp = self.network(config)

    def attention(self, config: Config, layer: int) -> nn.Module:
        """The attention of a layer."""
        return Attention(config, layer)

    def network(self, config: Config) -> nn.Module:
        """The network after the attention."""
        sizes = config.hidden_size, config.intermediate_size
        return GatedNetwork(*sizes, config.hidden_act, config.mlp_bias)

    def forward(self, x: Tensor, context: Context, rotation: Rotation) -> Tensor:
        """The shape of x, (batch, length, hidden)."""
        x = x + self.self_attn(self.input_layernorm(x), context, rotation)
        return x + self.mlp(self.post_attention_layernorm(x))


class Network(nn.Module):
    """What every family derives from: `forward` computes hidden states.

    generates: whether it has logits. An encoder has none.
    """

    generates = True

    def __init__(self, config: Config) -> None:
        self.config = config

    def logits(self, hidden: Tensor, exact: bool = False) -> Tensor:
        """Logits (..., vocabulary) of hidden states (..., hidden). exact: see `product`."""
        raise NotImplementedError(f"{type(self).__name__} has no logits")


class Decoder(Network):
    """A decoder with rotary positions: tokens to hidden states, hidden states to logits."""

    block: type[Block] = Block

    def __init__(self, config: Config) -> None:
        self.config = config
        self.embed_tokens = embedding(config.vocab_size, config.hidden_size)
        self.layers = [self.block(config, layer) for layer in range(config.num_hidden_layers)]
        self.norm = nn.RMSNorm(config.hidden_size, config.norm_eps)
        if not config.tie_word_embeddings:
            self.lm_head = linear(config.hidden_size, config.vocab_size)

    def forward(self, tokens: Tensor, context: Context) -> Tensor:
        """Hidden states (batch, length, hidden) of tokens (batch, length)."""
        x = self.embed(tokens)
        rotations = {}
        for number, layer in enumerate(self.layers):
            rope = self.config.rope_of(number)
            if rope not in rotations:
                dim = self.config.rope_dim or self.config.head_dim
                interleaved = self.config.rope_interleaved
                rotations[rope] = Rotation(context.positions, rope, dim, interleaved)
            # a schedule for each layer: equal ones are found in the cache of schedules
            x = layer(x, context, rotations[rope]).realize()
        return self.norm(x)

    def embed(self, tokens: Tensor) -> Tensor:
        """The vectors of tokens."""
        return self.embed_tokens(tokens)

    def logits(self, hidden: Tensor, exact: bool = False) -> Tensor:
        """Logits (..., vocabulary) of hidden states (..., hidden). exact: see `product`."""
        tied = self.config.tie_word_embeddings
        weight = self.embed_tokens.weight if tied else self.lm_head.weight
        scores = product(hidden, weight, exact=exact)
        cap = self.config.final_logit_softcapping
        return scores if cap is None else (scores / cap).tanh() * cap
