"""Tokenizers: from the metadata of a GGUF file, or from a tokenizer.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.base.errors import FormatError, UnknownChoice
from weft_llm.hugging_face import read_json

_CONTROL, _USER_DEFINED = 3, 4
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"|[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_PATTERNS = {  # how texts are split before byte-pair encoding; None: as GPT-2 does
    "default": None, "gpt-2": None, "smollm": None,
    "llama-bpe": _CONTRACTIONS + _WORDS + r"|\p{N}{1,3}" + _REST,
    "qwen2": _CONTRACTIONS + _WORDS + r"|\p{N}" + _REST,
}  # fmt: skip
_PATTERNS |= {"llama3": _PATTERNS["llama-bpe"], "llama-v3": _PATTERNS["llama-bpe"]}
_BEGIN_BY_DEFAULT = ("llama-bpe", "llama3", "llama-v3")
_END_NAMES = ("<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "</s>")


class Tokenizer:
    """Texts to token numbers and back.

    begin: the token before every text, or None. ends: the tokens that end a text.
    """

    def __init__(self, inner: Any, begin: int | None, ends: Iterable[int]) -> None:
        self.inner, self.begin, self.ends = inner, begin, frozenset(ends)

    def __len__(self) -> int:
        return int(self.inner.get_vocab_size())

    def encode(self, text: str, begin: bool = True) -> list[int]:
        """The tokens of a text; special tokens in it are recognized.

        begin: put the first token of texts before it, where the model has one.
        """
        tokens: list[int] = self.inner.encode(text, add_special_tokens=False).ids
        first = begin and self.begin is not None and tokens[:1] != [self.begin]
        return [self.begin, *tokens] if first and self.begin is not None else tokens

    def encode_pair(self, text: str) -> list[int]:
        """The tokens of a text with the special tokens that an encoder expects around it."""
        tokens: list[int] = self.inner.encode(text, add_special_tokens=True).ids
        return tokens

    def decode(self, tokens: Sequence[int], special: bool = False) -> str:
        """The text of tokens, without special tokens unless `special`."""
        text: str = self.inner.decode(list(tokens), skip_special_tokens=not special)
        return text

    def piece(self, token: int) -> str:
        """The text of one token, for log probabilities."""
        return self.decode([token], special=True)

    def text_of(self, token: int | None) -> str:
        """The name of a special token, as templates print it; an empty text for None."""
        return "" if token is None else self.inner.id_to_token(token) or ""


class TextStream:
    """Decode tokens one by one; bytes of an incomplete character wait for the next token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._tokens: list[int] = []
        self._printed = 0  # tokens before this one are printed
        self._context = 0  # tokens from here on are decoded, since a text depends on its left

    def put(self, token: int) -> str:
        """The text that this token completes, which may be empty."""
        self._tokens.append(token)
        before = self._tokenizer.decode(self._tokens[self._context : self._printed])
        after = self._tokenizer.decode(self._tokens[self._context :])
        if after.endswith("\N{REPLACEMENT CHARACTER}") or len(after) <= len(before):
            return ""
        self._context, self._printed = self._printed, len(self._tokens)
        return after[len(before) :]

    def rest(self) -> str:
        """What is left at the end, with incomplete characters replaced."""
        before = self._tokenizer.decode(self._tokens[self._context : self._printed])
        after = self._tokenizer.decode(self._tokens[self._context :])
        return after[len(before) :]


def tokenizer_from_folder(folder: Path) -> Tokenizer:
    """The tokenizer of a Hugging Face folder: tokenizer.json and the settings beside it."""
    import tokenizers

    read_json(folder / "tokenizer.json")  # raises MissingFile and FormatError
    try:
        inner = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library raises plain exceptions
        raise FormatError("tokenizer.json cannot be used", because=str(error)) from error
    inner.no_padding()
    inner.no_truncation()
    settings = _optional_json(folder / "tokenizer_config.json")
    ends = _optional_json(folder / "generation_config.json").get("eos_token_id", [])
    found = set(ends if isinstance(ends, list) else [ends])
    named = (_token_text(settings.get("eos_token")), *_END_NAMES[:4])
    found |= {inner.token_to_id(name) for name in named if name}
    begin = None
    if settings.get("add_bos_token", "Llama" in str(settings.get("tokenizer_class"))):
        begin = inner.token_to_id(_token_text(settings.get("bos_token")) or "")
    return Tokenizer(inner, begin, (end for end in found if isinstance(end, int)))


def _optional_json(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _token_text(token: Any) -> str | None:
    found = token.get("content") if isinstance(token, dict) else token
    return found if isinstance(found, str) else None


def tokenizer_from_notes(notes: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer in the metadata of a GGUF file.

    Raises UnknownChoice for kinds that are not known, FormatError for damaged metadata.
    """
    kind = notes.get("tokenizer.ggml.model")
    makers = {"gpt2": _byte_pairs, "llama": _sentence_pieces, "bert": _word_pieces}
    if kind not in makers:
        raise UnknownChoice(
            f"tokenizers of the kind {kind!r} are not known",
            because=f"known are {', '.join(makers)}",
        )
    try:
        tokens = _listed(notes, "tokens", str)
        inner = makers[str(kind)](notes, tokens)
        _add_special(inner, tokens, notes)
    except UnknownChoice:
        raise
    except Exception as error:  # the library raises plain exceptions
        raise FormatError(
            "the tokenizer of the file cannot be used", because=f"{type(error).__name__}: {error}"
        ) from error
    begin = notes.get("tokenizer.ggml.bos_token_id")
    wanted = kind == "llama" or notes.get("tokenizer.ggml.pre") in _BEGIN_BY_DEFAULT
    if not notes.get("tokenizer.ggml.add_bos_token", wanted):
        begin = None
    return Tokenizer(inner, begin, _ends(notes, inner))


def _listed(notes: Mapping[str, Any], name: str, kind: type) -> list[Any]:
    found = notes.get(f"tokenizer.ggml.{name}")
    if not isinstance(found, list) or not all(isinstance(each, kind) for each in found):
        raise ValueError(f"tokenizer.ggml.{name} is no list of {kind.__name__}")
    return found


def _ends(notes: Mapping[str, Any], inner: Any) -> list[int]:
    named = [inner.token_to_id(name) for name in _END_NAMES]
    given = [notes.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom")]
    return [end for end in (*named, *given) if isinstance(end, int)]


def _add_special(inner: Any, tokens: Sequence[str], notes: Mapping[str, Any]) -> None:
    """Tell the tokenizer which tokens are found in texts before they are split."""
    from tokenizers import AddedToken

    kinds = notes.get("tokenizer.ggml.token_type") or [1] * len(tokens)
    for token, kind in zip(tokens, kinds, strict=True):
        if kind == _CONTROL and token:
            inner.add_special_tokens([AddedToken(token, special=True, normalized=False)])
        elif kind == _USER_DEFINED and token:
            inner.add_tokens([AddedToken(token, normalized=False)])


def _byte_pairs(notes: Mapping[str, Any], tokens: Sequence[str]) -> Any:
    """Byte-pair encoding of bytes, as GPT-2's."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    name = notes.get("tokenizer.ggml.pre", "default")
    if name not in _PATTERNS:
        raise UnknownChoice(
            f"texts split as {name!r} are not known", because=f"known are {', '.join(_PATTERNS)}"
        )
    merges = [tuple(each.split(" ", 1)) for each in _listed(notes, "merges", str)]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, ignore_merges="llama" in name))
    pattern = _PATTERNS[name]
    steps: list[Any] = [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not pattern)]
    if name == "smollm":
        steps.insert(0, pre_tokenizers.Digits(individual_digits=True))
    if pattern is not None:
        steps.insert(0, pre_tokenizers.Split(Regex(pattern), "isolated"))
    if name == "qwen2":
        inner.normalizer = normalizers.NFC()
    inner.pre_tokenizer = pre_tokenizers.Sequence(steps)
    inner.decoder = decoders.ByteLevel()
    return inner


def _sentence_pieces(notes: Mapping[str, Any], tokens: list[str]) -> Any:
    """SentencePiece's byte-pair encoding: the merge with the highest score comes first."""
    from tokenizers import Tokenizer, decoders, models, normalizers

    vocabulary = {token: number for number, token in enumerate(tokens)}
    merges = _merges_by_score(tokens, _listed(notes, "scores", float), vocabulary)
    unknown = tokens[notes.get("tokenizer.ggml.unknown_token_id", 0)]
    inner = Tokenizer(
        models.BPE(
            vocab=vocabulary, merges=merges, unk_token=unknown, fuse_unk=True, byte_fallback=True
        )
    )
    prefix = notes.get("tokenizer.ggml.add_space_prefix", True)
    steps: list[Any] = [normalizers.Replace(" ", "▁")]
    undo: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if prefix:
        steps.insert(0, normalizers.Prepend("▁"))
        undo.append(decoders.Strip(" ", 1, 0))
    inner.normalizer = normalizers.Sequence(steps)
    inner.decoder = decoders.Sequence(undo)
    return inner


def _merges_by_score(
    tokens: list[str], scores: Sequence[float], vocabulary: Mapping[str, int]
) -> list[tuple[str, str]]:
    """Every pair of tokens that makes a token, ordered by the score of what it makes."""
    found = []
    for number, token in enumerate(tokens):
        if len(token) > 64:
            continue
        for middle in range(1, len(token)):
            left, right = token[:middle], token[middle:]
            if left in vocabulary and right in vocabulary:
                found.append((-scores[number], vocabulary[left], vocabulary[right]))
    return [(tokens[left], tokens[right]) for _, left, right in sorted(found)]


def _word_pieces(notes: Mapping[str, Any], tokens: Sequence[str]) -> Any:
    """WordPiece: GGUF marks the beginnings of words, WordPiece what goes on."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    kinds = notes.get("tokenizer.ggml.token_type") or [1] * len(tokens)

    def written(token: str, kind: int) -> str:
        if kind == _CONTROL or (token.startswith("[") and token.endswith("]")):
            return token
        return token[1:] if token.startswith("▁") else "##" + token

    named = [written(token, kind) for token, kind in zip(tokens, kinds, strict=True)]
    vocabulary = {token: number for number, token in enumerate(named)}
    unknown = named[notes.get("tokenizer.ggml.unknown_token_id", 100)]
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token=unknown))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    first = notes.get("tokenizer.ggml.cls_token_id", notes.get("tokenizer.ggml.bos_token_id", 101))
    last = notes.get("tokenizer.ggml.seperator_token_id", 102)
    inner.post_processor = processors.BertProcessing((named[last], last), (named[first], first))
    return inner
