"""Hugging Face folders: config.json to a Config, safetensors to the state of a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from weft import Tensor, io
from weft.base.errors import FormatError, MissingFile, UnknownChoice
from weft_llm.configuration import Config, Experts, Rope, unusable
from weft_llm.names import renamed

_LARGEST_JSON = 1 << 26
_SAME_AS = {"gemma3_text": "gemma3"}


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises MissingFile, or FormatError for what is no object."""
    if not path.is_file():
        raise MissingFile(
            f"{path.name} is missing",
            asked=f"load {path.parent}",
            try_="give a folder with config.json and safetensors, or a GGUF file",
        )
    try:
        if path.stat().st_size > _LARGEST_JSON:
            raise ValueError(f"it has more than {_LARGEST_JSON} bytes")
        found = json.loads(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError("it holds no object")
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path.name} cannot be read", because=str(error)) from error
    return found


def config_from_json(found: Mapping[str, Any], families: Mapping[str, Any]) -> Config:
    """The configuration that a config.json describes. Raises UnknownChoice for other families."""
    inner = found.get("text_config")
    found = inner if isinstance(inner, dict) and "hidden_size" in inner else found
    kind = found.get("model_type")
    family = _SAME_AS.get(str(kind), str(kind))
    if family not in families:
        raise UnknownChoice(
            f"models of the family {kind!r} are not known",
            because=f"known are {', '.join(families)}",
            try_="convert the model, or write its family in weft_llm.families",
        )
    try:
        return _gpt2(found) if family == "gpt2" else _config(found, family)
    except (KeyError, TypeError, AttributeError, ZeroDivisionError, OverflowError) as error:
        raise unusable(f"{type(error).__name__}: {error}") from error


def _gpt2(found: Mapping[str, Any]) -> Config:
    hidden, heads = found["n_embd"], found["n_head"]
    return Config(
        family="gpt2",
        vocab_size=found["vocab_size"],
        max_position_embeddings=found["n_positions"],
        hidden_size=hidden,
        intermediate_size=found.get("n_inner") or 4 * hidden,
        num_hidden_layers=found["n_layer"],
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=hidden // heads,
        norm_eps=found.get("layer_norm_epsilon", 1e-5),
        hidden_act=_activation(found.get("activation_function", "gelu_new")),
    )


def _config(found: Mapping[str, Any], family: str) -> Config:
    hidden, heads = found["hidden_size"], found["num_attention_heads"]
    size = found.get("head_dim") or hidden // heads
    context = found["max_position_embeddings"]
    parameters = found.get("rope_parameters") or found.get("rope_scaling") or {}
    both = "full_attention" in parameters
    rope = _rope(parameters["full_attention"] if both else parameters, found, context)
    return Config(
        family=family,
        vocab_size=found["vocab_size"],
        max_position_embeddings=context,
        hidden_size=hidden,
        intermediate_size=found["intermediate_size"],
        num_hidden_layers=found["num_hidden_layers"],
        num_attention_heads=heads,
        num_key_value_heads=found.get("num_key_value_heads") or heads,
        head_dim=size,
        norm_eps=found.get("rms_norm_eps", found.get("layer_norm_eps", 1e-5)),
        hidden_act=_activation(found.get("hidden_activation") or found.get("hidden_act", "silu")),
        rope=rope,
        rope_local=_local_rope(parameters, found, context) if family == "gemma3" else None,
        rope_dim=_rope_dim(found, parameters, size),
        windows=_windows(found, family),
        tie_word_embeddings=found.get("tie_word_embeddings", family.startswith("gemma")),
        attention_bias=found.get("attention_bias", family in ("qwen2", "qwen2_moe")),
        mlp_bias=found.get("mlp_bias", False),
        attention_scale=_scale(found),
        attn_logit_softcapping=found.get("attn_logit_softcapping"),
        final_logit_softcapping=found.get("final_logit_softcapping"),
        experts=_experts(found, family),
        type_vocab_size=found.get("type_vocab_size", 2),
    )


def _activation(name: str) -> str:
    from weft_llm.layers import ACTIVATIONS

    if name not in ACTIVATIONS:
        raise unusable(f"the activation {name!r} is not known")
    return name


def _scale(found: Mapping[str, Any]) -> float | None:
    scalar = found.get("query_pre_attn_scalar")
    return None if scalar is None else float(scalar) ** -0.5


def _rope_dim(found: Mapping[str, Any], parameters: Mapping[str, Any], size: int) -> int | None:
    share = parameters.get("partial_rotary_factor", found.get("partial_rotary_factor", 1.0))
    return None if share == 1.0 else int(size * share)


def _rope(parameters: Mapping[str, Any], found: Mapping[str, Any], context: int) -> Rope:
    theta = float(parameters.get("rope_theta", found.get("rope_theta", 10000.0)))
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    original = parameters.get(
        "original_max_position_embeddings", found.get("original_max_position_embeddings", context)
    )
    if kind in ("default", "linear"):
        return Rope(theta, kind, float(parameters.get("factor", 1.0)))
    if kind == "llama3":
        low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
        return Rope(theta, kind, float(parameters["factor"]), low, high, original)
    if kind in ("longrope", "su"):
        return _long_rope(parameters, theta, original, context)
    raise unusable(f"the rotary scaling {kind!r} is not known")


def _long_rope(parameters: Mapping[str, Any], theta: float, original: int, context: int) -> Rope:
    """Phi 3's scaling, with the factors of texts up to the original length."""
    import math

    factor = context / original
    grown = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(original))
    return Rope(
        theta,
        factors=tuple(float(each) for each in parameters["short_factor"]),
        attention_factor=float(parameters.get("attention_factor") or grown),
        original_length=original,
    )


def _local_rope(parameters: Mapping[str, Any], found: Mapping[str, Any], context: int) -> Rope:
    if "sliding_attention" in parameters:
        return _rope(parameters["sliding_attention"], found, context)
    return Rope(float(found.get("rope_local_base_freq", 10000.0)))


def _windows(found: Mapping[str, Any], family: str) -> tuple[int | None, ...]:
    window, layers = found.get("sliding_window"), found["num_hidden_layers"]
    if window is None or not found.get("use_sliding_window", True):
        return ()
    if found.get("layer_types"):
        return tuple(window if "sliding" in kind else None for kind in found["layer_types"])
    if family in ("gemma2", "gemma3"):
        period = found.get("sliding_window_pattern", 2 if family == "gemma2" else 6)
        return tuple(None if (n + 1) % period == 0 else window for n in range(layers))
    if family in ("qwen2", "qwen3", "qwen2_moe", "qwen3_moe"):
        first = found.get("max_window_layers", 28) if found.get("use_sliding_window") else layers
        return tuple(window if n >= first else None for n in range(layers))
    return (window,) * layers


def _experts(found: Mapping[str, Any], family: str) -> Experts | None:
    if family == "mixtral":
        count, size = found["num_local_experts"], found["intermediate_size"]
        return Experts(count, found["num_experts_per_tok"], size)
    if not family.endswith("_moe"):
        return None
    return Experts(
        found.get("num_experts") or found["num_local_experts"],
        found["num_experts_per_tok"],
        found["moe_intermediate_size"],
        found.get("shared_expert_intermediate_size", 0),
        found.get("norm_topk_prob", family == "qwen3_moe"),
    )


def read_tensors(folder: Path, device: str) -> dict[str, Tensor]:
    """The lazy tensors of a folder's safetensors on a device, by the names of the files.

    Raises MissingFile, and FormatError for damaged files and for files outside of the folder.
    """
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        single = folder / "model.safetensors"
        if not single.is_file():
            read_json(single)  # raises MissingFile
        return io.safe_load(single, device)
    files = read_json(index).get("weight_map")
    if not isinstance(files, dict):
        raise FormatError(f"{index.name} cannot be read", because="it has no weight_map")
    names = sorted({str(name) for name in files.values()})
    if any(Path(name).name != name for name in names):
        raise FormatError(f"{index.name} cannot be read", because="it names files elsewhere")
    tensors: dict[str, Tensor] = {}
    for name in names:
        tensors.update(io.safe_load(folder / name, device))
    return tensors


def state_from_tensors(tensors: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """The tensors by the names of our modules, in our layout."""
    state = renamed(tensors, _RENAMES.get(config.family, _PREFIXES))
    if config.experts is not None:
        _join_experts(state, config)
    change = _CHANGES.get(config.family)
    return state if change is None else {name: change(name, x) for name, x in state.items()}


def _transpose_maps(name: str, x: Tensor) -> Tensor:
    """GPT-2's linear layers are stored as (inputs, outputs)."""
    maps = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    return x.transpose(0, 1) if name.endswith(maps) else x


def _add_one_to_norms(name: str, x: Tensor) -> Tensor:
    """Gemma's norms multiply by 1 + weight."""
    return x.float() + 1.0 if name.endswith("norm.weight") else x


def _join_experts(state: dict[str, Tensor], config: Config) -> None:
    """Stack the weights of the experts, which files store one by one or as one joint tensor."""
    assert config.experts is not None
    for layer in range(config.num_hidden_layers):
        prefix = f"layers.{layer}.mlp."
        joint = state.pop(f"{prefix}experts.gate_up_proj", None)
        if joint is not None:
            gate, up = joint.chunk(2, dim=1)
            state[f"{prefix}gate_exps"], state[f"{prefix}up_exps"] = gate, up
            state[f"{prefix}down_exps"] = state.pop(f"{prefix}experts.down_proj")
            continue
        for part in ("gate", "up", "down"):
            names = [f"{prefix}experts.{n}.{part}_proj.weight" for n in range(config.experts.count)]
            if all(name in state for name in names):
                stacked = [state.pop(name) for name in names]
                state[f"{prefix}{part}_exps"] = stacked[0].stack(*stacked[1:])


_PREFIXES = ((r"^(language_model\.)?(model\.)?(language_model\.)?", ""),)
_MIXTRAL = (
    *_PREFIXES,
    (r"\.block_sparse_moe\.", ".mlp."),
    (r"(experts\.\d+)\.w1\.", r"\1.gate_proj."),
    (r"(experts\.\d+)\.w3\.", r"\1.up_proj."),
    (r"(experts\.\d+)\.w2\.", r"\1.down_proj."),
)
_BERT = (
    (r"^bert\.", ""),
    (r"^embeddings\.LayerNorm", "embedding_norm"),
    (r"^embeddings\.", ""),
    (r"^encoder\.layer\.", "layers."),
    (r"attention\.self\.", ""),
    (r"attention\.output\.dense", "output"),
    (r"attention\.output\.LayerNorm", "attention_norm"),
    (r"intermediate\.dense", "up"),
    (r"(layers\.\d+)\.output\.dense", r"\1.down"),
    (r"(layers\.\d+)\.output\.LayerNorm", r"\1.output_norm"),
)
_RENAMES: dict[str, tuple[tuple[str, str], ...]] = {
    "gpt2": ((r"^transformer\.", ""),),
    "bert": _BERT,
    "mixtral": _MIXTRAL,
}
_CHANGES: dict[str, Callable[[str, Tensor], Tensor]] = {
    "gpt2": _transpose_maps,
    "gemma": _add_one_to_norms,
    "gemma2": _add_one_to_norms,
    "gemma3": _add_one_to_norms,
}
