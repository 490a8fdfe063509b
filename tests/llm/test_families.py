"""Logits of every family beside those of transformers, for random small models."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft_llm.kv_cache import ContiguousCache, PagedCache, PagedContext, WholeSequence
from weft_llm.loading import load_network, open_source

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

SMALL = {
    "vocab_size": 97, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip
TOKENS = [[3, 17, 5, 96, 0, 41, 8, 8, 23, 60, 2, 11]]
LLAMA3_ROPE = {
    "rope_type": "llama3", "rope_theta": 10000.0, "factor": 4.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 16,
}  # fmt: skip
CASES = {
    "llama2": ("LlamaConfig", SMALL),
    "llama3": ("LlamaConfig", {**SMALL, "rope_parameters": LLAMA3_ROPE}),
    "llama-biases": ("LlamaConfig", {**SMALL, "attention_bias": True, "mlp_bias": True}),
    "llama-linear": (
        "LlamaConfig",
        {**SMALL, "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
    ),
    "smollm": ("LlamaConfig", {**SMALL, "tie_word_embeddings": True}),
    "mistral": ("MistralConfig", {**SMALL, "sliding_window": 5}),
    "qwen2": ("Qwen2Config", SMALL),
    "qwen3": ("Qwen3Config", {**SMALL, "head_dim": 16}),
    "gemma": ("GemmaConfig", {**SMALL, "head_dim": 16}),
    "gemma2": ("Gemma2Config", {**SMALL, "head_dim": 16, "sliding_window": 5}),
    "gemma3": (
        "Gemma3TextConfig",
        {**SMALL, "head_dim": 16, "sliding_window": 5, "num_hidden_layers": 6},
    ),
    "phi3": ("Phi3Config", {**SMALL, "pad_token_id": 0}),
    "phi3-partial": (
        "Phi3Config",
        {
            **SMALL,
            "pad_token_id": 0,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e4,
                "partial_rotary_factor": 0.5,
            },
        },
    ),  # fmt: skip
    "gpt2": (
        "GPT2Config",
        {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    ),  # fmt: skip
    "mixtral": ("MixtralConfig", {**SMALL, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "qwen2-moe": (
        "Qwen2MoeConfig",
        {
            **SMALL,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 24,
            "shared_expert_intermediate_size": 40,
        },
    ),  # fmt: skip
    "qwen3-moe": (
        "Qwen3MoeConfig",
        {
            **SMALL,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 24,
            "head_dim": 16,
        },
    ),  # fmt: skip
}


def saved_model(name, folder):
    """A random model of a case, saved to a folder; vectors are random, too."""
    kind, sizes = CASES[name]
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, kind)(**sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn_like(parameter)
            parameter.add_(noise * (0.3 if parameter.ndim == 1 else 0.1))
    model.eval().save_pretrained(folder)
    return model


def expected_logits(model, tokens):
    with torch.no_grad():
        return model(torch.tensor(tokens)).logits.numpy()


@pytest.mark.parametrize("name", CASES)
def test_logits_are_those_of_transformers(name, tmp_path):
    expected = expected_logits(saved_model(name, tmp_path), TOKENS)
    network = load_network(open_source(tmp_path))
    hidden = network(Tensor(TOKENS, dtype=dtypes.int32), WholeSequence(1, len(TOKENS[0])))
    np.testing.assert_allclose(network.logits(hidden).numpy(), expected, atol=2e-4, rtol=2e-3)


@pytest.mark.parametrize("name", ["llama2", "gemma3", "mistral", "mixtral", "gpt2"])
def test_cached_logits_are_those_of_whole_sequences(name, tmp_path):
    expected = expected_logits(saved_model(name, tmp_path), TOKENS)[0]
    network = load_network(open_source(tmp_path))
    cache = ContiguousCache(network.config, 16)
    begin = 0
    for end in (7, 8, 12):
        tokens = Tensor([TOKENS[0][begin:end]], dtype=dtypes.int32)
        hidden = network(tokens, cache.at(begin, end - begin))
        got = network.logits(hidden)[0].numpy()
        np.testing.assert_allclose(got, expected[begin:end], atol=2e-4, rtol=2e-3)
        begin = end


def test_paged_logits_are_those_of_whole_sequences(tmp_path):
    expected = expected_logits(saved_model("mistral", tmp_path), TOKENS)[0]
    network = load_network(open_source(tmp_path))
    cache = PagedCache(network.config, pages=9, page_size=4)
    tables = np.array([[5, 2, 7], [1, 8, 3]], dtype=np.int32)

    def check(begin, end, rows, runs):
        positions = Tensor(np.tile(np.arange(begin, end, dtype=np.int32), (len(rows), 1)))
        context = PagedContext(cache, positions, runs, Tensor(tables[rows]))
        tokens = Tensor([TOKENS[0][begin:end]] * len(rows), dtype=dtypes.int32)
        for row in network.logits(network(tokens, context)).numpy():
            np.testing.assert_allclose(row, expected[begin:end], atol=2e-4, rtol=2e-3)

    for row in (0, 1):
        check(0, 8, [row], [int(page) * 4 for page in tables[row, :2]])
    for place in range(8, 12):
        check(place, place + 1, [0, 1], [int(t[place // 4]) * 4 + place % 4 for t in tables])


def test_hidden_states_of_bert_are_those_of_transformers(tmp_path):
    torch.manual_seed(0)
    model = transformers.BertModel(transformers.BertConfig(**SMALL), add_pooling_layer=False)
    model.eval().save_pretrained(tmp_path)
    tokens = [TOKENS[0], TOKENS[0][:6] + [0] * 6]
    mask = [[1] * 12, [1] * 6 + [0] * 6]
    with torch.no_grad():
        expected = model(torch.tensor(tokens), torch.tensor(mask)).last_hidden_state.numpy()
    network = load_network(open_source(tmp_path))
    context = WholeSequence(2, 12, Tensor(np.array(mask, dtype=bool)))
    got = network(Tensor(tokens, dtype=dtypes.int32), context).numpy()
    np.testing.assert_allclose(got[0], expected[0], atol=2e-4, rtol=2e-3)
    np.testing.assert_allclose(got[1, :6], expected[1, :6], atol=2e-4, rtol=2e-3)
