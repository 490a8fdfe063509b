"""Damaged and hostile model files are refused with an error of weft, and at once."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.base.errors import FileError, WeftError
from weft_llm import load

CHANGES = {
    "another architecture": {"general.architecture": "clip"},
    "no layers": {"llama.block_count": 0},
    "many layers": {"llama.block_count": 4_000_000_000},
    "more layers than tensors": {"llama.block_count": 3},
    "no heads": {"llama.attention.head_count": 0},
    "other heads": {"llama.attention.head_count": 3},
    "heads that do not divide": {"llama.attention.head_count_kv": 3},
    "a text for a number": {"llama.embedding_length": "x"},
    "another size": {"llama.embedding_length": 64},
    "no size": {"llama.embedding_length": None},
    "no context": {"llama.context_length": None},
    "a huge context": {"llama.context_length": 4_000_000_000},
    "no epsilon list": {"llama.attention.head_count": [4, 4]},
    "other scaling": {"llama.rope.scaling.type": "yarn"},
    "large rotation": {"llama.rope.dimension_count": 1000},
    "no tokenizer": {"tokenizer.ggml.model": None},
    "another tokenizer": {"tokenizer.ggml.model": "t5"},
    "no tokens": {"tokenizer.ggml.tokens": None},
    "numbers for tokens": {"tokenizer.ggml.tokens": [1, 2]},
    "few kinds": {"tokenizer.ggml.token_type": [1, 1]},
    "wrong merges": {"tokenizer.ggml.merges": ["zzz yyy"]},
    "a number for a template": {"tokenizer.chat_template": 3},
    "another split": {"tokenizer.ggml.pre": "unheard"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_hostile_metadata_is_refused(name, write_gguf, tmp_path):
    path = write_gguf(tmp_path / "bad.gguf", CHANGES[name])
    with pytest.raises(WeftError):
        load(path)


def test_missing_and_misshapen_tensors_are_named(write_gguf, tmp_path, small_gguf):
    from weft import io

    _, tensors = io.gguf_load(small_gguf)
    arrays = {name: np.array(each.numpy()) for name, each in tensors.items()}
    del arrays["blk.1.attn_q.weight"]
    with pytest.raises(WeftError, match=r"layers\.1\.self_attn\.q_proj"):
        load(write_gguf(tmp_path / "missing.gguf", tensors=arrays))
    arrays["blk.1.attn_q.weight"] = np.zeros((3, 3), dtype=np.float32)
    with pytest.raises(WeftError, match="another shape"):
        load(write_gguf(tmp_path / "shape.gguf", tensors=arrays))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_bytes_raise_errors_of_weft(data, small_gguf, tmp_path_factory):
    good = small_gguf.read_bytes()
    bad = bytearray(good[: data.draw(st.integers(0, len(good)))])
    for _ in range(data.draw(st.integers(0, 4))):
        if bad:
            at = data.draw(st.integers(0, min(len(bad), 9000) - 1))
            bad[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "bad.gguf"
    path.write_bytes(bad)
    try:
        load(path)
    except WeftError:
        pass


CONFIGS = [
    b"", b"{", b"[]", b"{}", b'{"model_type": 3}', b'{"model_type": "llama"}', b"[" * 100_000,
    b'{"model_type": "llama", "hidden_size": "x"}', b"\xff",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CONFIGS)))
def test_hostile_configurations_are_refused(number, tmp_path):
    (tmp_path / "config.json").write_bytes(CONFIGS[number])
    with pytest.raises(WeftError):
        load(tmp_path)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.gguf")
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        load(tmp_path)


def test_an_index_names_no_files_elsewhere(tmp_path):
    sizes = {
        "model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "vocab_size": 9,
        "num_hidden_layers": 1, "num_attention_heads": 4, "max_position_embeddings": 8,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(sizes))
    index = tmp_path / "model.safetensors.index.json"
    for files in ({"a": "../../etc/passwd"}, {"a": "/etc/passwd"}, 3):
        index.write_text(json.dumps({"weight_map": files}))
        with pytest.raises(FileError):
            load(tmp_path)
