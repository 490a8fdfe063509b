"""Tokens a second of a model: a prompt of p tokens (ppP), and n generated tokens (tgN).

The names and the conditions are those of llama-bench: random tokens, an empty cache, greedy choice,
one call before that is not counted.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft_llm.generation import Decoder
from weft_llm.weights import nbytes, weights_of


@dataclass(frozen=True)
class Rate:
    """Tokens a second of each repetition of a test."""

    test: str
    rates: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the repetitions."""
        return statistics.fmean(self.rates)

    @property
    def deviation(self) -> float:
        """Their standard deviation."""
        return statistics.stdev(self.rates) if len(self.rates) > 1 else 0.0


def measure(
    model: Any, prompt: int = 512, generated: int = 128, repetitions: int = 3
) -> list[Rate]:
    """The rates of a prompt and of generation, each unless its number of tokens is 0."""
    chance = random.Random(0)
    decoder = Decoder(model.network, max(prompt, generated, 1) + 1)
    tokens = [chance.randrange(model.config.vocab_size) for _ in range(max(prompt, 1))]

    def read() -> None:
        decoder.tokens.clear()
        decoder.extend(tokens).numpy()

    def write() -> None:
        decoder.tokens.clear()
        token = tokens[0]
        for _ in range(generated):
            decoder.extend([token])
            token = decoder.likeliest

    found = []
    if prompt > 0:
        found.append(Rate(f"pp{prompt}", _rates(read, prompt, repetitions)))
    if generated > 0:
        found.append(Rate(f"tg{generated}", _rates(write, generated, repetitions)))
    return found


def _rates(call: Callable[[], None], tokens: int, repetitions: int) -> tuple[float, ...]:
    call()  # records the steps
    rates = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        call()
        rates.append(tokens / (time.perf_counter() - begin))
    return tuple(rates)


def table(model: Any, rates: Sequence[Rate]) -> str:
    """The rates as a table in Markdown, as llama-bench prints them."""
    weights = weights_of(model.network)
    size = sum(map(nbytes, weights)) / (1 << 20)
    count = sum(math.prod(each.shape) for each in weights) / 1e6
    device = model.device
    rows = [
        f"| {model.config.family} | {size:.2f} MiB | {count:.2f} M | {device} | {each.test} | "
        f"{each.mean:.2f} ± {each.deviation:.2f} |"
        for each in rates
    ]
    head = ["| model | size | params | backend | test | t/s |", "|---|---:|---:|---|---:|---:|"]
    return "\n".join([*head, *rows])
