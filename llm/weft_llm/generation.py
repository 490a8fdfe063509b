"""Generation of one sequence: a decoder with a cache, and the text as it grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft import Tensor, UOp, Variable, dtypes, jit
from weft.device import Buffer
from weft.export import tensor_over
from weft_llm.kv_cache import ContiguousCache
from weft_llm.layers import Network
from weft_llm.recorded_step import RecordedStep
from weft_llm.sampling import Sampling, parameter_rows, penalized, recent_rows, sample
from weft_llm.tokenizer import TextStream, Tokenizer
from weft_llm.weights import description_of, tensors_of

CHUNKS = (256, 32)  # tokens of a prompt that are computed at once, the last ones padded


class Decoder:
    """One sequence and its cache.

    Every call has one of a few shapes and a position that is a Variable: a few steps are recorded
    and replayed for all positions. Weights that are replaced after the first call are not seen.
    """

    def __init__(self, network: Network, capacity: int, cache_format: str = "float32") -> None:
        self.capacity = capacity
        rounded = -(-capacity // CHUNKS[-1]) * CHUNKS[-1] + CHUNKS[0]  # room for padding
        self.cache = ContiguousCache(network.config, rounded, cache_format)
        self.tokens: list[int] = []  # those whose keys and values are in the cache
        self._start = Variable("start", 0, rounded - CHUNKS[0])
        self._vocabulary = network.config.vocab_size
        self._step = RecordedStep(
            _step_of(network, self.cache), [*tensors_of(network), *self.cache.tensors],
            f"contiguous {cache_format} {description_of(network)}",
        )  # fmt: skip
        self._likeliest: Buffer | None = None

    def extend(self, tokens: Sequence[int], is_prompt: bool = False) -> Tensor:
        """Compute these tokens after those in the cache: logits (1, vocabulary) of the next.

        is_prompt: without rounding of activations, whatever part of the prompt is in the cache.
        """
        logits = None
        done = 0
        while done < len(tokens):
            left = len(tokens) - done
            is_single = left == 1 and not is_prompt
            size = 1 if is_single else next((n for n in CHUNKS if n <= left), CHUNKS[-1])
            part = list(tokens[done : done + size])
            padded = np.array([part + [0] * (size - len(part))], dtype=np.int32)
            last = np.array([len(part) - 1], dtype=np.int32)
            values = {self._start: len(self.tokens)}
            logits, self._likeliest = self._step([padded, last], values)
            self.tokens += part
            done += len(part)
        assert logits is not None
        return tensor_over(logits, (1, self._vocabulary))

    @property
    def likeliest(self) -> int:
        """The likeliest token after those in the cache."""
        assert self._likeliest is not None
        return int(self._likeliest.numpy()[0])

    def prefill(self, tokens: Sequence[int]) -> Tensor:
        """Compute a prompt, reusing the part of the cache that begins as it does."""
        same = 0
        for old, new in zip(self.tokens, tokens[:-1]):
            if old != new:
                break
            same += 1
        del self.tokens[same:]
        return self.extend(tokens[same:], is_prompt=True)


def _step_of(
    network: Network, cache: ContiguousCache
) -> Callable[[Sequence[Tensor], Sequence[UOp]], Sequence[Tensor]]:
    def step(inputs: Sequence[Tensor], bound: Sequence[UOp]) -> Sequence[Tensor]:
        tokens, last = inputs
        length = int(tokens.shape[1])
        hidden = network(tokens, cache.at(bound[0], length))
        chosen = hidden[:, 0] if length == 1 else hidden[0][last]
        logits: Tensor = network.logits(chosen, exact=length > 1).cast(dtypes.float32)
        logits = logits.contiguous()
        return logits, logits.argmax(-1).cast(dtypes.int32)

    return step


class Chooser:
    """Choose the next token of one sequence by its parameters."""

    def __init__(self, sampling: Sampling, vocabulary: int) -> None:
        self.sampling, self.vocabulary = sampling, vocabulary
        self._random = sampling.random()
        self._parameters = parameter_rows([sampling])

    @property
    def takes_likeliest(self) -> bool:
        """Whether the token is the likeliest one, so that no logits are needed."""
        return self.sampling.greedy and not self.sampling.penalized

    def __call__(self, logits: Tensor, tokens: Sequence[int]) -> int:
        """The token after `tokens`, by logits (1, vocabulary)."""
        if self.sampling.penalized:
            recent = recent_rows([tokens], self.vocabulary)
            logits = _penalized(logits, self._parameters, recent)
        if self.sampling.greedy:
            return int(_argmax(logits).item())
        uniforms = Tensor([self._random.random()], dtype=dtypes.float32)
        return int(_sample(logits, self._parameters, uniforms).item())


_penalized, _sample = jit(penalized), jit(sample)


@jit
def _argmax(logits: Tensor) -> Tensor:
    return logits.argmax(-1)


class StopStrings:
    """Text that grows, until one of some strings occurs in it.

    Text that may be the beginning of such a string is held back.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = [each for each in strings if each]
        self._held = ""
        self.stopped = False

    def put(self, text: str) -> str:
        """The text that may be shown after this was added."""
        self._held += text
        places = [(self._held.find(each), each) for each in self._strings]
        found = min((place for place, _ in places if place >= 0), default=None)
        if found is not None:
            self.stopped = True
            shown, self._held = self._held[:found], ""
            return shown
        held = max((_overlap(self._held, each) for each in self._strings), default=0)
        cut = len(self._held) - held
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown

    def rest(self) -> str:
        """What was held back, at the end of the text."""
        shown, self._held = self._held, ""
        return shown


def _overlap(text: str, string: str) -> int:
    """The length of the longest beginning of `string` that `text` ends with."""
    most = min(len(text), len(string) - 1)
    return next((n for n in range(most, 0, -1) if text.endswith(string[:n])), 0)


@dataclass
class Answer:
    """What was generated: tokens, and why it ended: "stop" or "length"."""

    tokens: list[int] = field(default_factory=list)
    reason: str = "length"


def generate_text(
    decoder: Decoder,
    tokenizer: Tokenizer,
    prompt: Sequence[int],
    limit: int,
    chooser: Chooser,
    stops: StopStrings,
    answer: Answer,
) -> Iterator[str]:
    """Yield text as it is generated; `answer` gets the tokens and the reason of the end."""
    stream = TextStream(tokenizer)
    logits = decoder.prefill(prompt)
    known = list(prompt)
    for number in range(limit):
        token = decoder.likeliest if chooser.takes_likeliest else chooser(logits, known)
        if token in tokenizer.ends:
            answer.reason = "stop"
            break
        known.append(token)
        answer.tokens.append(token)
        shown = stops.put(stream.put(token))
        if shown:
            yield shown
        if stops.stopped:
            answer.reason = "stop"
            return
        if number + 1 < limit:
            logits = decoder.extend([token])
    shown = stops.put(stream.rest()) + stops.rest()
    if shown:
        yield shown


def checked_stops(stop: Any) -> list[str]:
    """Stop strings as a list. Raises ArgumentError for what are no texts."""
    from weft.base.errors import ArgumentError

    found = [] if stop is None else [stop] if isinstance(stop, str) else stop
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise ArgumentError("stop strings are texts", asked=f"stop={stop!r}"[:200])
    return list(found)
