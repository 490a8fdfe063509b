"""Model configuration: one dataclass for all families, from config.json or GGUF metadata.

The names of the fields are those of Hugging Face's config.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from weft.base.errors import FormatError

_LIMITS = {
    "vocab_size": 1 << 24, "max_position_embeddings": 1 << 27, "hidden_size": 1 << 20,
    "intermediate_size": 1 << 24, "num_hidden_layers": 4096, "num_attention_heads": 1 << 16,
    "num_key_value_heads": 1 << 16, "head_dim": 1 << 16,
}  # fmt: skip


def unusable(because: str) -> FormatError:
    """The error for a configuration that no model can have."""
    return FormatError(
        "the configuration of the model cannot be used",
        because=because,
        try_="compare config.json, or the metadata of the GGUF file, with the original",
    )


@dataclass(frozen=True)
class Rope:
    """Rotary position embedding: its base, and how it is scaled beyond the trained length.

    factors divide the frequencies one by one; attention_factor multiplies cosine and sine.
    """

    theta: float = 10000.0
    kind: Literal["default", "linear", "llama3"] = "default"
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_length: int = 8192
    factors: tuple[float, ...] | None = None
    attention_factor: float = 1.0


@dataclass(frozen=True)
class Experts:
    """Mixture of experts: how many there are, how many each token takes, and their sizes."""

    count: int
    per_token: int
    intermediate_size: int
    shared_size: int = 0
    normalized: bool = True


@dataclass(frozen=True)
class Config:
    """Sizes and constants of a model.

    windows: for each layer the number of positions that a query attends to, None for all before
    it. rope_local: the rotary embedding of layers with a window, where it differs.
    rope_interleaved: pairs are adjacent features, as in GGUF files of the Llama family.
    """

    family: str
    vocab_size: int
    max_position_embeddings: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    norm_eps: float = 1e-5
    hidden_act: str = "silu"
    rope: Rope = field(default_factory=Rope)
    rope_local: Rope | None = None
    rope_dim: int | None = None
    rope_interleaved: bool = False
    windows: tuple[int | None, ...] = ()
    tie_word_embeddings: bool = True
    attention_bias: bool = False
    mlp_bias: bool = False
    attention_scale: float | None = None
    attn_logit_softcapping: float | None = None
    final_logit_softcapping: float | None = None
    experts: Experts | None = None
    type_vocab_size: int = 2
    pooling: Literal["mean", "cls", "last"] = "mean"

    def __post_init__(self) -> None:
        for name, most in _LIMITS.items():
            value = getattr(self, name)
            if type(value) is not int or not 0 < value <= most:
                raise unusable(f"{name} is {value!r}, and 1 to {most} can be loaded")
        if self.num_attention_heads % self.num_key_value_heads:
            heads, shared = self.num_attention_heads, self.num_key_value_heads
            raise unusable(f"{shared} heads of keys do not divide {heads} heads of queries")
        if self.windows and len(self.windows) != self.num_hidden_layers:
            raise unusable(f"{len(self.windows)} windows for {self.num_hidden_layers} layers")
        if self.rope_dim is not None and not 0 < self.rope_dim <= self.head_dim:
            raise unusable(f"{self.rope_dim} of {self.head_dim} features of a head are rotated")

    def window(self, layer: int) -> int | None:
        """The sliding window of a layer, None where it attends to everything before."""
        return self.windows[layer] if self.windows else None

    def rope_of(self, layer: int) -> Rope:
        """The rotary embedding of a layer."""
        local = self.window(layer) is not None and self.rope_local is not None
        return self.rope_local if local and self.rope_local else self.rope
