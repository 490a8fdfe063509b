"""Tokenizers from metadata of GGUF files beside those of the tokenizers library."""

import pytest

from weft.base.errors import FormatError, UnknownChoice
from weft_llm.tokenizer import TextStream, tokenizer_from_folder, tokenizer_from_notes

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
TEXTS = [
    "Hello world", "  two  spaces\n\n and lines\n", "1234 + 56", "größe, naïve, 日本語 😀!",
    "it's they'll", "<|im_start|>user\nhi<|im_end|>", "", " ", "\t\ttabs",
]  # fmt: skip
CORPUS = ["the quick brown fox jumps over the lazy dog", "größe naïve 日本語", "it's 1234 they'll"]


def byte_pair_notes(pre):
    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(CORPUS * 5, vocab_size=300, show_progress=False)
    vocabulary = trained.get_vocab()
    tokens = [*sorted(vocabulary, key=vocabulary.get), "<|im_start|>", "<|im_end|>"]
    merges = trained._tokenizer.to_str()
    import json

    pairs = json.loads(merges)["model"]["merges"]
    return {
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [1] * len(vocabulary) + [3, 3],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in pairs],
        "tokenizer.ggml.eos_token_id": len(tokens) - 1,
    }  # fmt: skip


@pytest.mark.parametrize("pre", ["default", "smollm", "llama-bpe", "qwen2"])
@pytest.mark.parametrize("text", TEXTS)
def test_byte_pairs_give_the_text_back(pre, text):
    tokenizer = tokenizer_from_notes(byte_pair_notes(pre))
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens, special=True) == text


def test_special_tokens_are_found_in_texts():
    tokenizer = tokenizer_from_notes(byte_pair_notes("default"))
    last = len(tokenizer) - 1
    assert tokenizer.encode("<|im_start|>a<|im_end|>")[::2] == [last - 1, last]
    assert last in tokenizer.ends


def sentence_piece_notes():
    words = ["▁", "a", "b", "c", "▁a", "ab", "▁ab", "bc", "abc", "▁abc"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256)), *words]
    kinds = [2, 3, 3] + [6] * 256 + [1] * len(words)
    return {
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * 259 + [-float(n) for n in range(len(words))],
        "tokenizer.ggml.token_type": kinds, "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
    }  # fmt: skip


def test_sentence_pieces_merge_by_score():
    tokenizer = tokenizer_from_notes(sentence_piece_notes())
    tokens = tokenizer.encode("abc a")
    assert [tokenizer.inner.id_to_token(token) for token in tokens] == ["<s>", "▁abc", "▁a"]
    assert tokenizer.decode(tokens) == "abc a"


def test_sentence_pieces_fall_back_to_bytes():
    tokenizer = tokenizer_from_notes(sentence_piece_notes())
    assert tokenizer.decode(tokenizer.encode("é 日")) == "é 日"


def test_word_pieces_are_those_of_bert():
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁hello", "▁wor", "ld", "▁,"]
    notes = {
        "tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] * 4 + [1] * 4, "tokenizer.ggml.unknown_token_id": 1,
        "tokenizer.ggml.cls_token_id": 2, "tokenizer.ggml.seperator_token_id": 3,
    }  # fmt: skip
    assert tokenizer_from_notes(notes).encode_pair("Hello, world x") == [2, 4, 7, 5, 6, 1, 3]


@pytest.mark.parametrize("make", [lambda: byte_pair_notes("default"), sentence_piece_notes])
def test_a_stream_gives_the_text_of_all_tokens(make):
    tokenizer = tokenizer_from_notes(make())
    tokens = tokenizer.encode("abc é 日本 😀 a", begin=False)
    stream = TextStream(tokenizer)
    pieces = [stream.put(token) for token in tokens] + [stream.rest()]
    assert "".join(pieces) == tokenizer.decode(tokens)
    assert not any("\N{REPLACEMENT CHARACTER}" in piece for piece in pieces)


def test_incomplete_characters_are_replaced_at_the_end():
    tokenizer = tokenizer_from_notes(byte_pair_notes("default"))
    tokens = tokenizer.encode("\N{GRINNING FACE}")[:-1]
    stream = TextStream(tokenizer)
    assert "".join(map(stream.put, tokens)) == ""
    assert "\N{REPLACEMENT CHARACTER}" in stream.rest()


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": None}, {"tokens": [1, 2]}, {"merges": ["nothing"]}, {"merges": "a b"},
        {"token_type": [1]}, {"tokens": []},
    ],
)  # fmt: skip
def test_damaged_metadata_is_refused(change):
    notes = byte_pair_notes("default")
    notes.update({f"tokenizer.ggml.{key}": value for key, value in change.items()})
    with pytest.raises(FormatError):
        tokenizer_from_notes(notes)


def test_other_kinds_are_named():
    with pytest.raises(UnknownChoice, match="kind 't5'"):
        tokenizer_from_notes({"tokenizer.ggml.model": "t5"})
    with pytest.raises(UnknownChoice, match="klingon"):
        tokenizer_from_notes(byte_pair_notes("klingon"))


def test_folders_have_a_tokenizer(tmp_path):
    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(CORPUS, vocab_size=300, special_tokens=["</s>"])
    trained.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [0, 7]}')
    tokenizer = tokenizer_from_folder(tmp_path)
    assert tokenizer.ends == {0, 7}
    assert tokenizer.decode(tokenizer.encode("the fox")) == "the fox"
    (tmp_path / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(FormatError):
        tokenizer_from_folder(tmp_path)
