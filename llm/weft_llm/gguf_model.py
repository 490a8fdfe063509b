"""GGUF files: metadata to a Config, tensors to the state of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft import Tensor
from weft.base.errors import UnknownChoice
from weft_llm.configuration import Config, Experts, Rope, unusable
from weft_llm.names import renamed

_FAMILIES = {
    "llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe", "gemma": "gemma", "gemma2": "gemma2", "gemma3": "gemma3",
    "phi3": "phi3", "gpt2": "gpt2", "bert": "bert",
}  # fmt: skip
_ACTIVATIONS = {
    "gemma": "gelu_pytorch_tanh", "gemma2": "gelu_pytorch_tanh", "gemma3": "gelu_pytorch_tanh",
    "gpt2": "gelu_new", "bert": "gelu",
}  # fmt: skip
_POOLING = {1: "mean", 2: "cls", 3: "last"}
_ROPE_FACTORS = "rope_freqs.weight"


class _Notes:
    """The metadata of one architecture, with keys without its prefix."""

    def __init__(self, notes: Mapping[str, Any], architecture: str) -> None:
        self.notes, self.architecture = notes, architecture

    def get(self, key: str, default: Any = None) -> Any:
        return self.notes.get(f"{self.architecture}.{key}", default)

    def __getitem__(self, key: str) -> Any:
        return self.notes[f"{self.architecture}.{key}"]


def config_from_notes(notes: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Config:
    """The configuration that the metadata of a GGUF file describes.

    Raises UnknownChoice for other architectures, FormatError for metadata that no model has.
    """
    architecture = str(notes.get("general.architecture"))
    if architecture not in _FAMILIES:
        raise UnknownChoice(
            f"models of the architecture {architecture!r} are not known",
            because=f"known are {', '.join(_FAMILIES)}",
            try_="write its family in weft_llm.families",
        )
    try:
        return _config(_Notes(notes, architecture), tensors)
    except (KeyError, TypeError, AttributeError, ZeroDivisionError, OverflowError) as error:
        raise unusable(f"{type(error).__name__}: {error}") from error


def _config(notes: _Notes, tensors: Mapping[str, Tensor]) -> Config:
    family = _FAMILIES[notes.architecture]
    if family == "llama" and notes.get("expert_count"):
        family = "mixtral"
    hidden, heads = notes["embedding_length"], notes["attention.head_count"]
    size = notes.get("attention.key_length") or hidden // heads
    eps = notes.get("attention.layer_norm_rms_epsilon", notes.get("attention.layer_norm_epsilon"))
    dim = notes.get("rope.dimension_count") or size
    local = Rope(float(notes.get("rope.freq_base_swa", 10000.0)))
    return Config(
        family=family,
        vocab_size=int(tensors["token_embd.weight"].shape[0]),
        max_position_embeddings=notes["context_length"],
        hidden_size=hidden,
        intermediate_size=notes.get("feed_forward_length") or 1,
        num_hidden_layers=notes["block_count"],
        num_attention_heads=heads,
        num_key_value_heads=notes.get("attention.head_count_kv") or heads,
        head_dim=size,
        norm_eps=1e-5 if eps is None else float(eps),
        hidden_act=_ACTIVATIONS.get(family, "silu"),
        rope=_rope(notes, tensors),
        rope_local=local if family == "gemma3" else None,
        rope_dim=None if dim == size else dim,
        rope_interleaved=notes.architecture == "llama",
        windows=_windows(notes, family),
        tie_word_embeddings="output.weight" not in tensors,
        attention_bias="blk.0.attn_q.bias" in tensors,
        attention_scale=_scale(family, notes["block_count"], hidden, heads, size),
        attn_logit_softcapping=notes.get("attn_logit_softcapping"),
        final_logit_softcapping=notes.get("final_logit_softcapping"),
        experts=_experts(notes, family),
        type_vocab_size=int(tensors["token_types.weight"].shape[0]) if family == "bert" else 2,
        pooling=_POOLING.get(notes.get("pooling_type"), "mean"),  # type: ignore[arg-type]
    )


def _scale(family: str, layers: int, hidden: int, heads: int, size: int) -> float | None:
    """The largest Gemma 2 and 3 scale by the hidden size over the heads: files do not say so."""
    largest = {"gemma2": 46, "gemma3": 62}.get(family)
    return (hidden // heads) ** -0.5 if layers == largest else None


def _rope(notes: _Notes, tensors: Mapping[str, Tensor]) -> Rope:
    theta = float(notes.get("rope.freq_base", 10000.0))
    factors = tensors.get(_ROPE_FACTORS, tensors.get("rope_factors_short.weight"))
    if factors is not None:
        listed = np.asarray(factors.numpy(), dtype=np.float64).reshape(-1)
        grown = float(notes.get("rope.scaling.attn_factor") or 1.0)
        return Rope(theta, factors=tuple(listed.tolist()), attention_factor=grown)
    kind = notes.get("rope.scaling.type", "none")
    if kind == "linear":
        return Rope(theta, "linear", float(notes.get("rope.scaling.factor", 1.0)))
    if kind not in ("none", None):
        raise unusable(f"the rotary scaling {kind!r} is not known")
    return Rope(theta)


def _windows(notes: _Notes, family: str) -> tuple[int | None, ...]:
    window, layers = notes.get("attention.sliding_window"), notes["block_count"]
    if not window:
        return ()
    period = {"gemma2": 2, "gemma3": 6}.get(family)
    if period is None:
        return (window,) * layers
    return tuple(None if (n + 1) % period == 0 else window for n in range(layers))


def _experts(notes: _Notes, family: str) -> Experts | None:
    count = notes.get("expert_count")
    if not count:
        return None
    size = notes.get("expert_feed_forward_length") or notes["feed_forward_length"]
    shared = notes.get("expert_shared_feed_forward_length") or 0
    if family == "qwen2_moe" and not shared:
        shared = notes["feed_forward_length"]
    return Experts(count, notes["expert_used_count"], size, shared, family != "qwen2_moe")


def state_from_tensors(tensors: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """The tensors by the names of our modules."""
    kept = {name: x for name, x in tensors.items() if not name.startswith("rope_f")}
    state = renamed(kept, _RENAMES.get(config.family, _DECODER))
    for name, x in state.items():
        if name.endswith("shared_expert_gate.weight") and len(x.shape) == 1:
            state[name] = x.reshape(1, -1)
    return state


_SHARED = (
    (r"^token_embd\.", "embed_tokens."),
    (r"^output_norm\.", "norm."),
    (r"^output\.", "lm_head."),
    (r"^blk\.", "layers."),
    (r"\.attn_norm\.", ".input_layernorm."),
    (r"\.attn_(q|k)_norm\.", r".self_attn.\1_norm."),
    (r"\.attn_(q|k|v|qkv)\.", r".self_attn.\1_proj."),
    (r"\.attn_output\.", ".self_attn.o_proj."),
    (r"\.ffn_gate_inp\.", ".mlp.gate."),
    (r"\.ffn_gate_inp_shexp\.", ".mlp.shared_expert_gate."),
    (r"\.ffn_(gate|up|down)_exps\.weight", r".mlp.\1_exps"),
    (r"\.ffn_(gate|up|down)_shexp\.", r".mlp.shared_expert.\1_proj."),
)
_DECODER = (
    *_SHARED,
    (r"\.ffn_(gate|up|down)\.", r".mlp.\1_proj."),
    (r"\.ffn_norm\.", ".post_attention_layernorm."),
)
_GEMMA2 = (
    *_SHARED,
    (r"\.ffn_(gate|up|down)\.", r".mlp.\1_proj."),
    (r"\.post_attention_norm\.", ".post_attention_layernorm."),
    (r"\.ffn_norm\.", ".pre_feedforward_layernorm."),
    (r"\.post_ffw_norm\.", ".post_feedforward_layernorm."),
)
_PHI3 = (
    *_SHARED,
    (r"\.ffn_up\.", ".mlp.gate_up_proj."),
    (r"\.ffn_down\.", ".mlp.down_proj."),
    (r"\.ffn_norm\.", ".post_attention_layernorm."),
)
_GPT2 = (
    (r"^token_embd\.", "wte."),
    (r"^position_embd\.", "wpe."),
    (r"^output_norm\.", "ln_f."),
    (r"^blk\.", "h."),
    (r"\.attn_norm\.", ".ln_1."),
    (r"\.attn_qkv\.", ".attn.c_attn."),
    (r"\.attn_output\.", ".attn.c_proj."),
    (r"\.ffn_norm\.", ".ln_2."),
    (r"\.ffn_up\.", ".mlp.c_fc."),
    (r"\.ffn_down\.", ".mlp.c_proj."),
)
_BERT = (
    (r"^token_embd\.", "word_embeddings."),
    (r"^position_embd\.", "position_embeddings."),
    (r"^token_types\.", "token_type_embeddings."),
    (r"^token_embd_norm\.", "embedding_norm."),
    (r"^blk\.", "layers."),
    (r"\.attn_q\.", ".query."),
    (r"\.attn_k\.", ".key."),
    (r"\.attn_v\.", ".value."),
    (r"\.attn_output\.", ".output."),
    (r"\.attn_output_norm\.", ".attention_norm."),
    (r"\.ffn_up\.", ".up."),
    (r"\.ffn_down\.", ".down."),
    (r"\.layer_output_norm\.", ".output_norm."),
)
_RENAMES: dict[str, tuple[tuple[str, str], ...]] = {
    "gemma2": _GEMMA2, "gemma3": _GEMMA2, "phi3": _PHI3, "gpt2": _GPT2, "bert": _BERT,
}  # fmt: skip
