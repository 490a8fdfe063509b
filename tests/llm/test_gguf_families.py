"""GGUF files of every architecture: logits beside those of transformers.

The names of tensors in the files are those that the package gguf maps Hugging Face's to.
"""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft_llm.kv_cache import WholeSequence
from weft_llm.loading import load_network, open_source

gguf = pytest.importorskip("gguf", reason="gguf is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

SMALL = {
    "vocab_size": 97, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
TOKENS = [[3, 17, 5, 96, 0, 41, 8, 8, 23, 60, 2, 11]]
CASES = {
    "qwen2": ("Qwen2Config", SMALL),
    "qwen3": ("Qwen3Config", {**SMALL, "head_dim": 16}),
    "gemma": ("GemmaConfig", {**SMALL, "head_dim": 16}),
    "gemma2": (
        "Gemma2Config",
        {**SMALL, "head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 5},
    ),
    "gemma3": (
        "Gemma3TextConfig",
        {**SMALL, "head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 5,
         "num_hidden_layers": 6},
    ),
    "phi3": ("Phi3Config", {**SMALL, "pad_token_id": 0}),
    "gpt2": (
        "GPT2Config",
        {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    ),
    "qwen3moe": ("Qwen3MoeConfig", {**SMALL, **EXPERTS, "head_dim": 16}),
}  # fmt: skip


def saved_state(model, architecture):
    """The tensors as converters of GGUF files write them."""
    state = {name: x.detach().numpy() for name, x in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        state.pop("lm_head.weight", None)
    for name, x in list(state.items()):
        if architecture.startswith("gemma") and name.endswith("norm.weight"):
            state[name] = x + 1
        if name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
            state[name] = x.T
        if name.endswith("experts.gate_up_proj"):
            gate, up = np.split(state.pop(name), 2, axis=1)
            prefix = name.removesuffix("gate_up_proj")
            state[f"{prefix}gate_proj.weight"], state[f"{prefix}up_proj.weight"] = gate, up
            state[f"{prefix}down_proj.weight"] = state.pop(f"{prefix}down_proj")
    return state


def write(path, model, architecture):
    config = model.config
    arch = next(each for each, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    if architecture == "gpt2":
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
        writer.add_feed_forward_length(4 * config.hidden_size)
    else:
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_feed_forward_length(config.intermediate_size)
        rope = config.rope_parameters
        writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if getattr(config, "head_dim", None):
        writer.add_key_length(config.head_dim)
    if architecture in ("gemma2", "gemma3"):
        writer.add_sliding_window(config.sliding_window)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if architecture == "qwen3moe":
        writer.add_expert_count(EXPERTS["num_experts"])
        writer.add_expert_used_count(EXPERTS["num_experts_per_tok"])
        writer.add_expert_feed_forward_length(EXPERTS["moe_intermediate_size"])
    for name, value in saved_state(model, architecture).items():
        found = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert found is not None, name
        writer.add_tensor(found, np.ascontiguousarray(value))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("name", CASES)
def test_logits_are_those_of_transformers(name, tmp_path):
    kind, sizes = CASES[name]
    torch.manual_seed(0)
    config = getattr(transformers, kind)(**sizes)
    if name.startswith("qwen3moe"):
        config.norm_topk_prob = True
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * (0.3 if parameter.ndim == 1 else 0.1))
        expected = model(torch.tensor(TOKENS)).logits.numpy()
    write(tmp_path / "model.gguf", model, name)
    network = load_network(open_source(tmp_path / "model.gguf"))
    hidden = network(Tensor(TOKENS, dtype=dtypes.int32), WholeSequence(1, len(TOKENS[0])))
    np.testing.assert_allclose(network.logits(hidden).numpy(), expected, atol=2e-4, rtol=2e-3)
