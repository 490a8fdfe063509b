"""The tests of weft-llm, which are collected where it is installed; small random models.

The fixtures write a Llama of two layers with a byte-level tokenizer as a GGUF file.
"""

import json
from importlib.util import find_spec

import numpy as np
import pytest

collect_ignore_glob = [] if find_spec("weft_llm") else ["test_*.py"]


def pytest_report_header():
    """Say why nothing is collected."""
    return [] if find_spec("weft_llm") else ["tests/llm: skipped, weft-llm is not installed"]


WORDS = ["the quick brown fox jumps over the lazy dog", "größe naïve 日本語", "it's 1234 they'll"]
SIZES = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 256,
}  # fmt: skip
SPECIAL = ["<|im_start|>", "<|im_end|>"]


def byte_pairs(size=300):
    """(tokens in order, merges) of a byte-level tokenizer, special tokens last."""
    import tokenizers

    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(WORDS * 5, vocab_size=size, show_progress=False)
    vocabulary = trained.get_vocab()
    merges = json.loads(trained._tokenizer.to_str())["model"]["merges"]
    return [*sorted(vocabulary, key=vocabulary.get), *SPECIAL], [" ".join(m) for m in merges]


def tensors_of(vocabulary, seed=0):
    """Random weights of a small Llama, by the names of GGUF files, outermost axis first."""
    chance = np.random.default_rng(seed)
    hidden, inner = SIZES["hidden_size"], SIZES["intermediate_size"]
    keys = hidden // 2
    shapes = {"token_embd.weight": (vocabulary, hidden), "output_norm.weight": (hidden,)}
    for n in range(SIZES["num_hidden_layers"]):
        shapes |= {
            f"blk.{n}.attn_norm.weight": (hidden,), f"blk.{n}.ffn_norm.weight": (hidden,),
            f"blk.{n}.attn_q.weight": (hidden, hidden), f"blk.{n}.attn_k.weight": (keys, hidden),
            f"blk.{n}.attn_v.weight": (keys, hidden),
            f"blk.{n}.attn_output.weight": (hidden, hidden),
            f"blk.{n}.ffn_gate.weight": (inner, hidden), f"blk.{n}.ffn_up.weight": (inner, hidden),
            f"blk.{n}.ffn_down.weight": (hidden, inner),
        }  # fmt: skip
    made = {}
    for name, shape in shapes.items():
        values = chance.standard_normal(shape) * 0.3
        made[name] = (values + (1 if len(shape) == 1 else 0)).astype(np.float32)
    return made


def write_file(path, changes=None, tensors=None, seed=0):
    """Write a small Llama as a GGUF file; `changes` replaces metadata, None removes it."""
    import gguf

    tokens, merges = byte_pairs()
    made = tensors_of(len(tokens), seed) if tensors is None else tensors
    notes = {
        "llama.context_length": SIZES["max_position_embeddings"],
        "llama.embedding_length": SIZES["hidden_size"],
        "llama.block_count": SIZES["num_hidden_layers"],
        "llama.feed_forward_length": SIZES["intermediate_size"],
        "llama.attention.head_count": SIZES["num_attention_heads"],
        "llama.attention.head_count_kv": SIZES["num_key_value_heads"],
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 10000.0,
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.token_type": [1] * (len(tokens) - 2) + [3, 3],
        "tokenizer.ggml.eos_token_id": len(tokens) - 1,
    }  # fmt: skip
    notes |= changes or {}
    writer = gguf.GGUFWriter(str(path), notes.pop("general.architecture", "llama"))
    for key, value in notes.items():
        _add(writer, key, value)
    for name, value in made.items():
        writer.add_tensor(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer, key, value):
    if value is None:
        return
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value) if value >= 0 else writer.add_int32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


@pytest.fixture(scope="session")
def write_gguf():
    """`write_gguf(path, changes, tensors, seed)` writes a small Llama; see `write_file`."""
    pytest.importorskip("gguf", reason="gguf is not installed")
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    return write_file


@pytest.fixture(scope="session")
def small_gguf(write_gguf, tmp_path_factory):
    """The path of a small Llama."""
    return write_gguf(tmp_path_factory.mktemp("small") / "small.gguf")


@pytest.fixture(scope="session")
def small_model(small_gguf):
    """A small Llama that is loaded."""
    from weft_llm import load

    return load(small_gguf)
