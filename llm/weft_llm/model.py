"""The public class: a language model with its tokenizer and chat template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, UnknownChoice
from weft_llm.cache_rows import CACHE_FORMATS
from weft_llm.chat_template import CHATML, ChatTemplate
from weft_llm.generation import (
    Answer,
    Chooser,
    Decoder,
    StopStrings,
    checked_stops,
    generate_text,
)
from weft_llm.hugging_face import read_json
from weft_llm.kv_cache import WholeSequence
from weft_llm.layers import Network
from weft_llm.loading import Source, load_network, open_source
from weft_llm.sampling import Sampling
from weft_llm.tokenizer import Tokenizer, tokenizer_from_folder, tokenizer_from_notes
from weft_llm.weights import BlockWeight, weights_of

Message = Mapping[str, Any]
_DEFAULT_CONTEXT = 4096
ACTIVATIONS = ("int16", "int8", "float32")


class LanguageModel:
    """A model that continues texts, answers chats and embeds texts.

    >>> model = weft.llm.load("model.gguf")  # doctest: +SKIP
    >>> model.generate("The capital of France is", max_tokens=8)  # doctest: +SKIP
    ' Paris.'
    """

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer,
        template: ChatTemplate,
        context: int,
        cache_format: str = "float32",
    ) -> None:
        self.network, self.tokenizer, self.template = network, tokenizer, template
        self.config = network.config
        self.context, self.cache_format = context, cache_format
        self._decoder: Decoder | None = None

    @property
    def decoder(self) -> Decoder:
        """The decoder of `generate` and `stream`; its cache is made when it is first used."""
        if self._decoder is None:
            self.check_generates()
            self._decoder = Decoder(self.network, self.context, self.cache_format)
        return self._decoder

    @property
    def device(self) -> str:
        """The device of the weights."""
        first = weights_of(self.network)[0]
        return str((first.data if isinstance(first, BlockWeight) else first).device)

    def check_generates(self) -> None:
        """Raise ArgumentError for an encoder, which cannot continue a text."""
        if not self.network.generates:
            raise ArgumentError(
                "this model does not generate text",
                because=f"models of the family {self.config.family} are encoders",
                try_="model.embed(texts)",
            )

    def prompt_tokens(self, prompt: str | Sequence[Message]) -> list[int]:
        """The tokens of a text, or of the prompt that the chat template makes of messages."""
        text = prompt if isinstance(prompt, str) else self.template.render(prompt)
        tokens = self.prompt_start(text)
        if len(tokens) >= self.context:
            raise ArgumentError(
                "the prompt is too long",
                asked=f"{len(tokens)} tokens",
                because=f"the context has {self.context}",
                try_="load(path, context=...), or a shorter prompt",
            )
        return tokens

    def prompt_start(self, text: str) -> list[int]:
        """The tokens of a text; one token for an empty text, since a model continues something."""
        return self.tokenizer.encode(text) or [min(self.tokenizer.ends, default=0)]

    def stream(
        self,
        prompt: str | Sequence[Message],
        max_tokens: int = 256,
        stop: str | Sequence[str] | None = None,
        answer: Answer | None = None,
        **sampling: Any,
    ) -> Iterator[str]:
        """Yield the continuation of a text, or the answer to messages, piece by piece.

        prompt: a text, or messages with "role" and "content". stop: texts that end the answer.
        sampling: fields of `Sampling`; without any, the likeliest tokens are taken. Raises
        ArgumentError for values out of range and for prompts that are too long.
        """
        if type(max_tokens) is not int or max_tokens < 0:
            raise ArgumentError("max_tokens is no count", asked=f"max_tokens={max_tokens!r}")
        chooser = Chooser(Sampling(**sampling), self.config.vocab_size)
        tokens = self.prompt_tokens(prompt)
        limit = min(max_tokens, self.context - len(tokens))
        stops = StopStrings(checked_stops(stop))
        found = Answer() if answer is None else answer
        if limit > 0:
            yield from generate_text(
                self.decoder, self.tokenizer, tokens, limit, chooser, stops, found
            )

    def generate(self, prompt: str | Sequence[Message], **settings: Any) -> str:
        """The whole text of `stream`, which has the same arguments."""
        return "".join(self.stream(prompt, **settings))

    def embed(self, texts: str | Sequence[str]) -> np.ndarray:
        """Vectors of length 1 for texts, float32 (texts, hidden)."""
        listed = [texts] if isinstance(texts, str) else list(texts)
        return np.stack([self._embedded(text) for text in listed])

    def _embedded(self, text: str) -> np.ndarray:
        tokens = self.tokenizer.encode_pair(text)[: self.config.max_position_embeddings] or [0]
        size = -(-len(tokens) // 16) * 16  # few shapes, so that few kernels are compiled
        size = min(size, self.config.max_position_embeddings)
        padded = Tensor([tokens + [0] * (size - len(tokens))], dtype=dtypes.int32)
        real = Tensor(np.arange(size).reshape(1, size) < len(tokens))
        hidden = self.network(padded, WholeSequence(1, size, real)).numpy()[0, : len(tokens)]
        pooled = {"mean": hidden.mean(0), "cls": hidden[0], "last": hidden[-1]}
        vector = pooled[self.config.pooling]
        return vector / max(float(np.linalg.norm(vector)), 1e-12)


def load(
    path: str | Path,
    context: int | None = None,
    device: str | None = None,
    dtype: Any = None,
    activations: str = "int16",
    cache_format: str = "float32",
) -> LanguageModel:
    """Load a GGUF file, or a folder with config.json, safetensors and tokenizer.json.

    context: the most tokens of prompt and answer together, 4096 or the model's length without it.
    dtype: of weights in memory, that of the file without it. activations: "int16" rounds what
    quantised weights are multiplied by while tokens are generated, for each 32 numbers; "int8"
    rounds more and is a little faster, "float32" rounds nothing and is slow. Prompts are computed
    without rounding. cache_format: of keys and values, "float32", or "q8", int8 with a scale for
    each 32 numbers. Raises FileError where files cannot be read, FormatError where they are
    damaged, UnknownChoice for other families.
    """
    _check_choice("activations", activations, ACTIVATIONS)
    _check_choice("cache_format", cache_format, CACHE_FORMATS)
    source = open_source(path, device)
    tokenizer = load_tokenizer(source)
    network = load_network(source, dtype, activations)
    longest = source.config.max_position_embeddings
    if context is not None and not 0 < context <= longest:
        raise ArgumentError(
            "the context is out of range", asked=f"context={context!r}",
            because=f"the model was made for 1 to {longest} tokens",
        )  # fmt: skip
    wanted = min(longest, _DEFAULT_CONTEXT) if context is None else context
    template = load_template(source, tokenizer)
    return LanguageModel(network, tokenizer, template, wanted, cache_format)


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise UnknownChoice(
            f"there is no such {name}",
            asked=f"{name}={value!r}",
            try_=" or ".join(repr(each) for each in choices),
        )


def load_tokenizer(source: Source) -> Tokenizer:
    """The tokenizer in a model's files."""
    if source.notes is None:
        return tokenizer_from_folder(source.path)
    return tokenizer_from_notes(source.notes)


def load_template(source: Source, tokenizer: Tokenizer) -> ChatTemplate:
    """The chat template in a model's files, ChatML without one."""
    special: dict[str, str] = {}
    if source.notes is not None:
        text = source.notes.get("tokenizer.chat_template")
        for name in ("bos", "eos"):
            number = source.notes.get(f"tokenizer.ggml.{name}_token_id")
            special[f"{name}_token"] = tokenizer.text_of(
                number if isinstance(number, int) else None
            )
        return ChatTemplate(CHATML if text is None else text, special)
    settings = source.path / "tokenizer_config.json"
    found = read_json(settings) if settings.is_file() else {}
    for name in ("bos_token", "eos_token"):
        token = found.get(name)
        token = token.get("content") if isinstance(token, dict) else token
        special[name] = token if isinstance(token, str) else ""
    separate = source.path / "chat_template.jinja"
    text = separate.read_text(encoding="utf-8") if separate.is_file() else None
    text = found.get("chat_template") if text is None else text
    if isinstance(text, list):  # several templates with names
        text = next((each["template"] for each in text if each.get("name") == "default"), None)
    return ChatTemplate(CHATML if text is None else text, special)
