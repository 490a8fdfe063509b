"""A sequence: what one answer needs while it is computed, and the events that it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft_llm.generation import StopStrings
from weft_llm.sampling import Sampling
from weft_llm.server.constraints import Constraint
from weft_llm.tokenizer import TextStream, Tokenizer


@dataclass(frozen=True)
class TokenScore:
    """The log probability of a token, and those of the likeliest tokens."""

    token: int
    value: float
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Event:
    """Text that is complete, scores of the tokens since the last event, the reason of the end.

    error: what went wrong, if the answer ends for that.
    """

    text: str = ""
    scores: tuple[TokenScore, ...] = ()
    reason: str | None = None
    error: Exception | None = None


@dataclass
class Sequence:
    """One answer. The thread that computes owns all but `cancelled`."""

    prompt: list[int]
    limit: int
    sampling: Sampling
    stops: StopStrings
    tokenizer: Tokenizer
    report: Callable[[Event], None]
    top_scores: int | None = None
    constraint: Constraint | None = None
    ignore_end: bool = False
    cancelled: bool = False
    tokens: list[int] = field(default_factory=list)
    generated: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    stored: int = 0
    reused: int = 0

    def __post_init__(self) -> None:
        self.tokens = list(self.prompt)
        self.random = self.sampling.random()
        self._stream = TextStream(self.tokenizer)
        self._scores: list[TokenScore] = []

    def put(self, token: int, logits: np.ndarray | None) -> bool:
        """Take the next token; whether the answer ends. logits: its row, if scores are asked."""
        if self.constraint is not None:
            self.constraint.put(token)
        if token in self.tokenizer.ends and not self.ignore_end:
            self.finish("stop")
            return True
        if logits is not None and self.top_scores is not None:
            self._scores.append(scores_of(logits, token, self.top_scores))
        self.tokens.append(token)
        self.generated.append(token)
        shown = self.stops.put(self._stream.put(token))
        if self.stops.stopped:
            self._send(shown, "stop")
            return True
        if self.constraint is not None and self.constraint.finished:
            self._send(shown + self._rest(), "stop")
            return True
        if len(self.generated) >= self.limit:
            self._send(shown + self._rest(), "length")
            return True
        if shown:
            self._send(shown, None)
        return False

    def finish(self, reason: str) -> None:
        """End the answer with what was held back."""
        self._send(self._rest(), reason)

    def fail(self, error: Exception) -> None:
        """End the answer with an error."""
        self.report(Event(error=error))

    def _rest(self) -> str:
        return self.stops.put(self._stream.rest()) + self.stops.rest()

    def _send(self, text: str, reason: str | None) -> None:
        scores, self._scores = tuple(self._scores), []
        self.report(Event(text, scores, reason))


def scores_of(logits: Any, token: int, count: int) -> TokenScore:
    """Log probabilities of a token and of the `count` likeliest, by logits (vocabulary,)."""
    wide = np.asarray(logits, dtype=np.float64)
    most = wide.max()
    logs = wide - most - np.log(np.exp(wide - most).sum())
    best = np.argpartition(-logs, count)[:count] if count < len(logs) else np.arange(len(logs))
    best = best[np.argsort(-logs[best], kind="stable")]
    top = tuple((int(each), float(logs[each])) for each in best[:count])
    return TokenScore(token, float(logs[token]), top)
